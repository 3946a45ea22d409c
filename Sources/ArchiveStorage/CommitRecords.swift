// What a commit adds to the catalogue's lists, of all kinds of records.

package import ArchiveFormat
internal import FileIO
internal import GRDB

/// The records that become known together: what some chunks of a segment mean.
package struct CommitRecords: Sendable {
    let records: [any ListedRecord]

    init(_ records: [any ListedRecord]) { self.records = records }

    /// Snapshots and how they differ from their parents, where that is known.
    package init(snapshots: [ListedSnapshot] = [], changes: [SnapshotID: [PathChange]] = [:]) {
        records = snapshots.map { NewSnapshot(record: $0, changes: changes[$0.id]) }
    }
}

/// A snapshot that is to be listed.
struct NewSnapshot: ListedRecord {
    let record: ListedSnapshot
    /// How it differs from its parent; nil where that is to be found out when somebody asks.
    var changes: [PathChange]?

    var time: Timestamp { record.time }

    func insert(into db: Database, of catalogue: Catalogue) throws {
        try catalogue.insert(record, changes: changes, into: db)
    }
}
