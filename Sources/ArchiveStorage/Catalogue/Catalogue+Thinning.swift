// What thinning has to know of each snapshot, read in one pass.

package import ArchiveFormat
package import FileIO
internal import Foundation
internal import GRDB

/// What the decision whether a snapshot is kept depends on.
package struct ThinningRow: Sendable {
    package let id: SnapshotID
    package let sequence: UInt64
    package let time: Timestamp
    package let parent: SnapshotID?
    package let hasLabel: Bool
    package let isAside: Bool
    /// Entries of its tree.
    package let entries: UInt64
    /// Paths that it removed or rewrote, compared to its parent.
    package let overwritten: UInt64
    /// What it added to the archive when it was made.
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
    /// The snapshots of a root in their order, as thinning needs them.
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

    /// How long the longest-lived file had lived that a snapshot removed, in seconds, by the snapshot's place.
    ///
    /// Where the index of paths does not know since when a file was there, it was there since the first snapshot.
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
