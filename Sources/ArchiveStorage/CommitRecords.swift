// What a commit adds to the catalogue's lists, of all kinds of records.

package import ArchiveFormat

/// The records that become known together: what some chunks of a segment mean.
package struct CommitRecords: Sendable {
    package var snapshots: [SnapshotRecord] = []
    /// How those snapshots differ from their parents, where that is known.
    package var changes: [SnapshotID: [PathChange]] = [:]
    package var gaps: [StoredGap] = []
    package var operations: [StoredOperation] = []
    package var states: [SavedState] = []
    package var forgotten: [ForgottenRecords] = []
    package var notices: [StoredNotice] = []
    package var dropped: [DroppedSegments] = []

    package init(
        snapshots: [SnapshotRecord] = [], changes: [SnapshotID: [PathChange]] = [:], gaps: [StoredGap] = [],
        operations: [StoredOperation] = [], states: [SavedState] = [], forgotten: [ForgottenRecords] = [],
        notices: [StoredNotice] = [], dropped: [DroppedSegments] = []
    ) {
        self.snapshots = snapshots
        self.changes = changes
        self.gaps = gaps
        self.operations = operations
        self.states = states
        self.forgotten = forgotten
        self.notices = notices
        self.dropped = dropped
    }
}
