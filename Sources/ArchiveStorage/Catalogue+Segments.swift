// The catalogue's segments: how far each is indexed.

internal import ArchiveFormat
internal import GRDB

/// What the catalogue knows of one segment.
package struct SegmentRecord: Sendable, Hashable {
    /// The segment's number in this catalogue.
    package let number: Int64
    /// Its path below the archive's `segments`.
    package let path: String
    /// Bytes from its start whose blocks are indexed.
    package let indexedLength: Int
    /// Whether it has its footer and will never change.
    package let isSealed: Bool

    package init(number: Int64, path: String, indexedLength: Int, isSealed: Bool) {
        self.number = number
        self.path = path
        self.indexedLength = indexedLength
        self.isSealed = isSealed
    }

    fileprivate init(_ row: Row) throws {
        number = try row.value(0)
        path = try row.value(1)
        indexedLength = try row.value(2)
        isSealed = try row.value(3)
        // Locations have 31 bits for the number.
        guard (0..<1 << 31).contains(number), indexedLength >= 0 else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "what it says of a segment cannot be")
        }
    }
}

extension Catalogue {
    /// All segments, oldest first: their paths begin with the time they were begun.
    package func segments() throws(StorageError) -> [SegmentRecord] {
        try read { db in
            try Row.fetchAll(db, sql: "SELECT id, path, indexedLength, isSealed FROM segment ORDER BY path")
                .map(SegmentRecord.init)
        }
    }

    /// Bytes of all segments, as far as they are indexed.
    func segmentBytes() throws(StorageError) -> UInt64 {
        try read { db in UInt64(clamping: try Int64.fetchOne(db, sql: "SELECT SUM(indexedLength) FROM segment") ?? 0) }
    }

    /// The segment of a number; nil where the catalogue has none.
    package func segment(_ number: Int64) throws(StorageError) -> SegmentRecord? {
        try read { db in
            try Row.fetchOne(
                db.cachedStatement(sql: "SELECT id, path, indexedLength, isSealed FROM segment WHERE id = ?"),
                arguments: [number]
            ).map(SegmentRecord.init)
        }
    }

    /// The number of the segment at `path`, entered where it is new.
    package func enterSegment(_ path: String, indexedLength: Int) throws(StorageError) -> SegmentRecord {
        try write { db in
            try db.execute(
                sql: "INSERT OR IGNORE INTO segment (path, indexedLength, isSealed) VALUES (?, ?, 0)",
                arguments: [path, indexedLength])
            let row = try Row.fetchOne(
                db, sql: "SELECT id, path, indexedLength, isSealed FROM segment WHERE path = ?", arguments: [path])
            guard let row else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
            return try SegmentRecord(row)
        }
    }

    /// Forgets a segment that has lost blocks, and its chunks: those that are captured again have to be stored again.
    ///
    /// Its records stay listed: that they cannot be read any more is to be seen.
    func forget(_ number: Int64) throws(StorageError) {
        let first = BlockLocation(segment: number, offset: 0).packed
        let next = BlockLocation(segment: number + 1, offset: 0).packed
        try write { db in
            try db.execute(
                sql: "DELETE FROM chunk WHERE location >= ? AND location < ?", arguments: [first, next])
            try db.execute(sql: "DELETE FROM segment WHERE id = ?", arguments: [number])
        }
    }

    /// Notes that nothing will be appended to a segment any more.
    package func markSealed(_ number: Int64, length: Int) throws(StorageError) {
        try write { db in
            try db.execute(
                sql: "UPDATE segment SET isSealed = 1, indexedLength = ? WHERE id = ?", arguments: [length, number])
        }
    }

    /// Damage that was found in segments, a sentence each, oldest segments first.
    package func damage() throws(StorageError) -> [String] {
        try read { db in try String.fetchAll(db, sql: "SELECT message FROM damage ORDER BY segment") }
    }

    /// Notes that a segment is damaged, in place of what was noted of it; nil where it is whole.
    func note(_ damage: String?, ofSegment path: String) throws(StorageError) {
        try write { db in
            if let damage {
                try db.execute(sql: "INSERT OR REPLACE INTO damage VALUES (?, ?)", arguments: [path, damage])
            } else {
                try db.execute(sql: "DELETE FROM damage WHERE segment = ?", arguments: [path])
            }
        }
    }

    /// Forgets `damage`, sentences that `damage()` gave: a check found that nothing is lost by it any more.
    package func forget(damage: [String]) throws(StorageError) {
        if damage.isEmpty { return }
        try write { db in
            for message in damage {
                try db.execute(sql: "DELETE FROM damage WHERE message = ?", arguments: [message])
            }
        }
    }
}
