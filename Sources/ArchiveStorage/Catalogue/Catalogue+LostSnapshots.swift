// The catalogue's lost snapshots: if one cannot be read, "latest" means an older one, and the user must know.

package import ArchiveFormat
package import FileIO
internal import Foundation
internal import GRDB

/// An unreadable snapshot, or a damaged block that may have held one.
package struct LostSnapshot: Sendable, Hashable {
    /// The segment's path below the archive's `segments`.
    package let segment: String
    package let offset: Int
    /// Nil if even the id is unknown.
    package let id: SnapshotID?
    /// It was made between `since` and `until`.
    package let since: Timestamp
    package let until: Timestamp

    init(segment: String, offset: Int, id: SnapshotID?, since: Timestamp, until: Timestamp) {
        self.segment = segment
        self.offset = offset
        self.id = id
        self.since = since
        self.until = until
    }

    fileprivate init(_ row: Row) {
        segment = row[0]
        offset = row[1]
        id = (row[2] as Data?).flatMap { ChunkID(Array($0)) }.map { SnapshotID($0) }
        since = Timestamp(seconds: row[3], nanoseconds: row[4])
        until = Timestamp(seconds: row[5], nanoseconds: row[6])
    }
}

extension LostSnapshot {
    /// The loss and its place, as a sentence.
    func message(in segments: any SegmentSource) -> String {
        let place = "block at byte \(offset) of \(segments.path(of: segment))"
        let time = "made between \(since.rfc3339) and \(until.rfc3339)"
        let what =
            id.map { "snapshot \($0.short), \(time), cannot be read (\(place))" }
            ?? "a snapshot \(time) may be lost (\(place))"
        return what + ": 'latest' may be an older one"
    }
}

extension Catalogue {
    /// Records the lost snapshots of a segment.
    ///
    /// - Parameter isWhole: whether all of the segment was read, and not only its end.
    func record(_ lost: [LostSnapshot], ofSegment path: String, isWhole: Bool) throws(StorageError) {
        try write { db in
            if isWhole { try db.execute(sql: "DELETE FROM lostSnapshot WHERE segment = ?", arguments: [path]) }
            for lost in lost {
                try db.execute(
                    sql: "INSERT OR REPLACE INTO lostSnapshot VALUES (?, ?, ?, ?, ?, ?, ?)",
                    arguments: [
                        lost.segment, lost.offset, lost.id.map { Data($0.chunk.bytes) }, lost.since.seconds,
                        lost.since.nanoseconds, lost.until.seconds, lost.until.nanoseconds,
                    ])
            }
        }
    }

    /// Lost snapshots that may be later than the latest snapshot of a root.
    func lostLatestSnapshots() throws(StorageError) -> [LostSnapshot] {
        let sql = """
            SELECT segment, offset, id, sinceSeconds, sinceNanoseconds, untilSeconds, untilNanoseconds
            FROM lostSnapshot AS lost
            WHERE NOT EXISTS (SELECT 1 FROM snapshot WHERE id = lost.id)
                AND NOT EXISTS (SELECT 1 FROM forgotten WHERE id = lost.id AND NOT isKept)
                AND (NOT EXISTS (SELECT 1 FROM snapshot) OR EXISTS (
                    SELECT 1 FROM root WHERE (
                        SELECT seconds, nanoseconds FROM snapshot WHERE root = root.id
                        ORDER BY sequence DESC, seconds DESC, nanoseconds DESC LIMIT 1
                    ) < (untilSeconds, untilNanoseconds)))
            ORDER BY segment, offset
            """
        return try read { db in try Row.fetchAll(db, sql: sql).map(LostSnapshot.init) }
    }
}
