// What a commit adds to the catalogue's lists, of all kinds of records.

/// The records that become known together: what some chunks of a segment mean.
package struct CommitRecords: Sendable {
    package var snapshots: [SnapshotRecord] = []
    package var gaps: [StoredGap] = []

    package init(snapshots: [SnapshotRecord] = [], gaps: [StoredGap] = []) {
        self.snapshots = snapshots
        self.gaps = gaps
    }
}
