// The catalogue's segments: how far each is indexed.

package import ArchiveFormat
internal import Foundation
internal import GRDB

extension Catalogue {
    /// All segments, oldest first: their paths begin with the time they were begun.
    package func segments() throws(StorageError) -> [ListedSegment] {
        try read { db in
            try Row.fetchAll(db, sql: "SELECT \(ListedSegment.columns) FROM segment ORDER BY path")
                .map(ListedSegment.init)
        }
    }

    /// Bytes of all segments, as far as they are indexed.
    func segmentBytes() throws(StorageError) -> UInt64 {
        try read { db in UInt64(clamping: try Int64.fetchOne(db, sql: "SELECT SUM(indexedLength) FROM segment") ?? 0) }
    }

    /// The segment of a number; nil where the catalogue has none.
    package func segment(_ number: Int64) throws(StorageError) -> ListedSegment? {
        try read { db in
            try Row.fetchOne(
                db.cachedStatement(sql: "SELECT \(ListedSegment.columns) FROM segment WHERE id = ?"),
                arguments: [number]
            ).map(ListedSegment.init)
        }
    }

    /// The number of the segment at `path`, entered where it is new.
    ///
    /// - Parameter name: the id in its header; nil where that cannot be read.
    package func enterSegment(
        _ path: String, name: SegmentID? = nil, indexedLength: Int
    ) throws(StorageError) -> ListedSegment {
        try write { db in
            try db.execute(
                sql: "INSERT OR IGNORE INTO segment (path, name, indexedLength, state) VALUES (?, ?, ?, ?)",
                arguments: [path, name.map { Data($0.bytes) }, indexedLength, SegmentState.open.rawValue])
            let row = try Row.fetchOne(
                db, sql: "SELECT \(ListedSegment.columns) FROM segment WHERE path = ?", arguments: [path])
            guard let row else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
            return try ListedSegment(row)
        }
    }

    /// Forgets a segment that has lost blocks, and its chunks: those that are captured again have to be stored again.
    ///
    /// Its records stay listed: that they cannot be read any more is to be seen.
    func forget(_ number: Int64) throws(StorageError) {
        try write { db in try Catalogue.forget(number, in: db) }
    }

    static func forget(_ number: Int64, in db: Database) throws {
        let range = BlockLocation.packed(ofSegment: number)
        let blocks = "FROM block WHERE location >= ? AND location < ?"
        let arguments: StatementArguments = [range.lowerBound, range.upperBound]
        // Chunks are found by their ids alone: to look for those of a segment is to read them all.
        if try Row.fetchOne(db, sql: "SELECT 1 \(blocks) LIMIT 1", arguments: arguments) != nil {
            try db.execute(sql: "DELETE \(blocks)", arguments: arguments)
            try db.execute(sql: "DELETE FROM chunk WHERE location >= ? AND location < ?", arguments: arguments)
        }
        try db.execute(sql: "DELETE FROM segment WHERE id = ?", arguments: [number])
    }

    /// Records that nothing will be appended to a segment any more.
    package func markSealed(_ number: Int64, length: Int) throws(StorageError) {
        try write { db in
            try db.execute(
                sql: "UPDATE segment SET state = MAX(state, ?), indexedLength = ? WHERE id = ?",
                arguments: [SegmentState.sealed.rawValue, length, number])
        }
    }

    /// Damage that was found in segments, a sentence each, oldest segments first.
    package func damage() throws(StorageError) -> [String] {
        try read { db in try String.fetchAll(db, sql: "SELECT message FROM damage ORDER BY segment") }
    }

    /// Records that a segment is damaged, in place of what was noted of it; nil where it is whole.
    func record(_ damage: String?, ofSegment path: String) throws(StorageError) {
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
