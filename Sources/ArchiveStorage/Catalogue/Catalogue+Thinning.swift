// The facts about snapshots that thinning needs, read in one pass.

package import ArchiveFormat
package import FileIO
internal import Foundation
internal import GRDB

/// The facts that decide whether thinning keeps a snapshot.
package struct ThinningRow: Sendable {
    package let id: SnapshotID
    package let sequence: UInt64
    package let time: Timestamp
    package let parent: SnapshotID?
    package let hasLabel: Bool
    package let isAside: Bool
    /// The number of entries in its tree.
    package let entries: UInt64
    /// The number of paths that it removed or modified, compared with its parent.
    package let overwritten: UInt64
    /// Bytes that the archive grew by when it was made.
    package let storedBytes: UInt64

    package init(
        id: SnapshotID, sequence: UInt64, time: Timestamp, parent: SnapshotID? = nil, hasLabel: Bool = false,
        isAside: Bool = false, entries: UInt64 = 0, overwritten: UInt64 = 0, storedBytes: UInt64 = 0
    ) {
        self.id = id
        self.sequence = sequence
        self.time = time
        self.parent = parent
        self.hasLabel = hasLabel
        self.isAside = isAside
        self.entries = entries
        self.overwritten = overwritten
        self.storedBytes = storedBytes
    }
}

extension Catalogue {
    /// The snapshots of a root in their order, for thinning.
    package func thinningRows(root: Int64) throws(StorageError) -> [ThinningRow] {
        let sql = """
            SELECT id, sequence, seconds, nanoseconds, label IS NOT NULL, facts, storedBytes FROM snapshot
            WHERE root = ? ORDER BY sequence, seconds, nanoseconds, id
            """
        return try read { db in
            var rows: [ThinningRow] = []
            var causes = Repeated<Cause?>()
            try db.cachedStatement(sql: sql).forEachRow([root]) { row in
                guard let facts = SnapshotFacts(row.bytes(5), &causes) else {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT)
                }
                let totals = facts.totals
                let (limit, changes) = (FormatLimits.entries, facts.changes)
                rows.append(
                    ThinningRow(
                        id: SnapshotID(try row.id(0)), sequence: row.number(1),
                        time: try row.time(seconds: 2, nanoseconds: 3), parent: facts.parent,
                        hasLabel: row.integer(4) != 0, isAside: facts.isAside,
                        entries: FormatLimits.sum(
                            FormatLimits.sum(totals.files, totals.directories, limit), totals.others, limit),
                        overwritten: FormatLimits.sum(changes.modified, changes.removed, limit),
                        storedBytes: row.number(6)))
                return true
            }
            return rows
        }
    }

    /// The age in seconds of the oldest file that each snapshot removed, by the snapshot's position.
    ///
    /// If the index of paths does not know when a file was added, it counts from the first snapshot.
    package func lifetimesOfRemovedFiles(root: Int64) throws(StorageError) -> [HistoryPlace: Int64] {
        let sql = """
            SELECT change.sequence, change.seconds, MAX(change.seconds - COALESCE((
                    SELECT earlier.seconds FROM change AS earlier
                    WHERE earlier.path = change.path AND earlier.kind = 1
                        AND (earlier.sequence, earlier.seconds) < (change.sequence, change.seconds)
                    ORDER BY earlier.sequence DESC, earlier.seconds DESC LIMIT 1
                ), (SELECT MIN(seconds) FROM snapshot WHERE root = ?1)))
            FROM change WHERE root = ?1 AND kind = 3 AND object = ?2 AND other IS NULL
            GROUP BY change.sequence, change.seconds
            """
        return try read { db in
            var lifetimes: [HistoryPlace: Int64] = [:]
            try db.cachedStatement(sql: sql).forEachRow([root, FileKind.file.rawValue]) { row in
                lifetimes[HistoryPlace(sequence: row.integer(0), seconds: row.integer(1))] = row.integer(2)
                return true
            }
            return lifetimes
        }
    }
}
