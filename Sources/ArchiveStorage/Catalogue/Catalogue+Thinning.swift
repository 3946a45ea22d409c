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
    /// A file that was renamed without an edit is not removed. Its age counts from its first name on. If the index of
    /// paths does not know when it was added, its age counts from the first snapshot.
    ///
    /// - Parameter aside: the positions of snapshots captured aside: what they lack and the next one has is no new file.
    package func lifetimesOfRemovedFiles(
        root: Int64, aside: Set<HistoryPlace> = []
    ) throws(StorageError) -> [HistoryPlace: UInt64] {
        let removals = """
            SELECT path, sequence, seconds FROM change
            WHERE root = ? AND kind = 3 AND object = ? AND (other IS NULL OR isEdited)
            """
        let first = "SELECT seconds FROM snapshot WHERE root = ? ORDER BY sequence, seconds, nanoseconds, id LIMIT 1"
        return try readTogether { db in
            let start = try Int64.fetchOne(db, sql: first, arguments: [root]) ?? 0
            var lifetimes: [HistoryPlace: UInt64] = [:]
            try db.cachedStatement(sql: removals).forEachRow([root, FileKind.file.rawValue]) { row in
                let place = HistoryPlace(sequence: row.integer(1), seconds: row.integer(2))
                let birth = try Catalogue.birth(ofPath: row.integer(0), before: place, aside, in: db) ?? start
                let (age, isOver) = place.seconds.subtractingReportingOverflow(birth)
                // A clock that was set back makes ages negative.
                lifetimes[place] = max(lifetimes[place] ?? 0, isOver ? 0 : UInt64(clamping: age))
                return true
            }
            return lifetimes
        }
    }

    /// The time of the snapshot that added the file which was at a path before `end`; nil if the first snapshot had it.
    private static func birth(
        ofPath number: Int64, before end: HistoryPlace, _ aside: Set<HistoryPlace>, in db: Database
    ) throws -> Int64? {
        let addition = try db.cachedStatement(
            sql: """
                SELECT sequence, seconds, other FROM change
                WHERE path = ? AND kind = 1 AND (sequence, seconds) < (?, ?)
                ORDER BY sequence DESC, seconds DESC LIMIT 1
                """)
        let removal = try db.cachedStatement(
            sql: """
                SELECT sequence, seconds FROM change WHERE path = ? AND kind = 3 AND (sequence, seconds) < (?, ?)
                ORDER BY sequence DESC, seconds DESC LIMIT 1
                """)
        // Each step goes back in time, so the loop ends.
        var (number, end) = (number, end)
        while true {
            var found: (place: HistoryPlace, other: Int64?)?
            try addition.forEachRow([number, end.sequence, end.seconds]) { row in
                let place = HistoryPlace(sequence: row.integer(0), seconds: row.integer(1))
                found = (place, row.isNull(2) ? nil : row.integer(2))
                return false
            }
            guard let (place, other) = found else { return nil }
            if let other {
                (number, end) = (other, place)
                continue
            }
            var gone: HistoryPlace?
            if !aside.isEmpty {
                try removal.forEachRow([number, place.sequence, place.seconds]) { row in
                    gone = HistoryPlace(sequence: row.integer(0), seconds: row.integer(1))
                    return false
                }
            }
            guard let gone, aside.contains(gone) else { return place.seconds }
            end = gone
        }
    }
}
