// Segments that have left the local disk, or are about to: their chunks count as stored, and nothing new depends on them.

package import ArchiveFormat
internal import GRDB

extension Catalogue {
    /// Records that sealed segments have left, or are about to: from now on no new delta stands on them, and nodes that only
    /// they have are stored again.
    package func markAway(_ numbers: some Collection<Int64>) throws(StorageError) {
        try mark(numbers, from: .sealed, to: .away)
    }

    /// Records that segments are on the local disk.
    package func markLocal(_ numbers: some Collection<Int64>) throws(StorageError) {
        try mark(numbers, from: .away, to: .sealed)
    }

    private func mark(
        _ numbers: some Collection<Int64>, from old: SegmentState, to new: SegmentState
    ) throws(StorageError) {
        if numbers.isEmpty { return }
        let numbers = Array(numbers)
        try write { db in
            for number in numbers {
                try db.execute(
                    sql: "UPDATE segment SET state = ? WHERE id = ? AND state = ?",
                    arguments: [new.rawValue, number, old.rawValue])
            }
        }
    }

    /// The bytes of the segments on the local disk.
    func localSegmentBytes() throws(StorageError) -> UInt64 {
        try read { db in
            let sql = "SELECT SUM(indexedLength) FROM segment WHERE state <> ?"
            let bytes = try Int64.fetchOne(db, sql: sql, arguments: [SegmentState.away.rawValue])
            return UInt64(clamping: bytes ?? 0)
        }
    }

    /// The numbers of the segments that have left.
    package func awaySegments() throws(StorageError) -> Set<Int64> {
        try read { db in
            let sql = "SELECT id FROM segment WHERE state = ?"
            return Set(try Int64.fetchAll(db, sql: sql, arguments: [SegmentState.away.rawValue]))
        }
    }

    /// Whether the copy of the chunk `id` that reads use is in a segment that has left.
    package func isAway(_ id: ChunkID) throws(StorageError) -> Bool {
        guard let location = try location(of: id) else { return false }
        return try state(of: location.segment) == .away
    }
}
