// The catalogue's segments, and how much of each is indexed.

package import ArchiveFormat
internal import Foundation
internal import GRDB

extension Catalogue {
    /// All segments, oldest first: their paths begin with their creation times.
    package func segments() throws(StorageError) -> [ListedSegment] {
        try read { db in
            // Every command asks several times.
            let sql = "SELECT \(ListedSegment.columns) FROM segment ORDER BY path"
            return try Row.fetchAll(db.cachedStatement(sql: sql)).map(ListedSegment.init)
        }
    }

    /// The indexed bytes of all segments.
    func segmentBytes() throws(StorageError) -> UInt64 {
        try read { db in UInt64(clamping: try Int64.fetchOne(db, sql: "SELECT SUM(indexedLength) FROM segment") ?? 0) }
    }

    /// The indexed bytes of the largest segment.
    func largestSegmentBytes() throws(StorageError) -> UInt64 {
        try read { db in
            UInt64(clamping: try Int64.fetchOne(db, sql: "SELECT MAX(indexedLength) FROM segment") ?? 0)
        }
    }

    /// The segment with this number; nil if there is none.
    package func segment(_ number: Int64) throws(StorageError) -> ListedSegment? {
        try read { db in
            try Row.fetchOne(
                db.cachedStatement(sql: "SELECT \(ListedSegment.columns) FROM segment WHERE id = ?"),
                arguments: [number]
            ).map(ListedSegment.init)
        }
    }

    /// The state of the segment with this number; nil if there is none.
    func state(of number: Int64) throws(StorageError) -> SegmentState? {
        try read { db in
            let statement = try db.cachedStatement(sql: "SELECT state FROM segment WHERE id = ?")
            return try Int64.fetchOne(statement, arguments: [number]).flatMap(SegmentState.init)
        }
    }

    /// Enters the segment at `path` if it is new, and returns it.
    ///
    /// - Parameter name: the id in its header; nil if the header cannot be read.
    package func enterSegment(
        _ path: String, name: SegmentID? = nil, indexedLength: Int
    ) throws(StorageError) -> ListedSegment {
        try write { db in
            try db.execute(
                sql: "INSERT OR IGNORE INTO segment (path, name, indexedLength, state) VALUES (?, ?, ?, ?)",
                arguments: [path, name.map { Data($0.bytes) }, indexedLength, SegmentState.open.rawValue])
            if let name { try db.execute(sql: Catalogue.namingSegment, arguments: [Data(name.bytes), path]) }
            let row = try Row.fetchOne(
                db, sql: "SELECT \(ListedSegment.columns) FROM segment WHERE path = ?", arguments: [path])
            guard let row else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
            return try ListedSegment(row)
        }
    }

    // MARK: Segments that must be there

    private static let namingSegment = "INSERT OR REPLACE INTO namedSegment VALUES (?, ?, 0)"

    /// Enters segments that must be there, as others name them, unless they were dropped.
    ///
    /// - Parameter names: their paths, where those are known.
    func enter(named names: [SegmentID: String?]) throws(StorageError) {
        if names.isEmpty { return }
        let known = Set(try namedSegments().keys)
        let new = names.filter { !known.contains($0.key) }
        if new.isEmpty { return }
        try write { db in
            for (name, path) in new {
                let arguments: StatementArguments = [Data(name.bytes), path]
                let isDropped = "SELECT 1 FROM dropped WHERE name = ?"
                if try Row.fetchOne(db, sql: isDropped, arguments: [Data(name.bytes)]) != nil { continue }
                try db.execute(sql: Catalogue.namingSegment, arguments: arguments)
            }
        }
    }

    /// All segments that must be there, with their paths, where those are known.
    ///
    /// - Parameter withLost: whether to include segments that this catalogue had listed before they were lost: what they
    ///   held is known.
    package func namedSegments(withLost: Bool = true) throws(StorageError) -> [SegmentID: String?] {
        try read { db in
            var names: [SegmentID: String?] = [:]
            let sql = "SELECT name, path FROM namedSegment" + (withLost ? "" : " WHERE NOT isLost")
            for row in try Row.fetchAll(db, sql: sql) {
                names[try SegmentID(checking: row.bytes(0))] = .some(row[1])
            }
            return names
        }
    }

    /// The segments that a new one names: all that are listed, and missing ones; the newest if there are too many.
    func segmentsToName(atMost limit: Int) throws(StorageError) -> Set<SegmentID> {
        try read { db in
            let sql = "SELECT name FROM namedSegment ORDER BY path DESC LIMIT ?"
            return Set(try Row.fetchAll(db, sql: sql, arguments: [limit]).map { try SegmentID(checking: $0.bytes(0)) })
        }
    }

    /// Records that a listed segment is lost.
    func markLost(_ name: SegmentID) throws(StorageError) {
        try write { db in
            try db.execute(sql: "UPDATE namedSegment SET isLost = 1 WHERE name = ?", arguments: [Data(name.bytes)])
        }
    }

    /// Removes a segment that has lost blocks, and its chunks, so that captures store those chunks again.
    ///
    /// Its records stay listed, so that users see that they cannot be read.
    func forget(_ number: Int64) throws(StorageError) {
        try write { db in try Catalogue.forget(number, in: db) }
    }

    static func forget(_ number: Int64, in db: Database) throws {
        let range = BlockLocation.packed(ofSegment: number)
        let blocks = "FROM block WHERE location >= ? AND location < ?"
        let arguments: StatementArguments = [range.lowerBound, range.upperBound]
        // Chunks can only be found by id: finding those of a segment means reading all of them.
        if try Row.fetchOne(db, sql: "SELECT 1 \(blocks) LIMIT 1", arguments: arguments) != nil {
            try db.execute(sql: "DELETE \(blocks)", arguments: arguments)
            try db.execute(sql: "DELETE FROM chunk WHERE location >= ? AND location < ?", arguments: arguments)
        }
        try db.execute(sql: "DELETE FROM segment WHERE id = ?", arguments: [number])
    }

    /// Removes a segment whose file is not read any more, and the damage recorded for it.
    func forget(_ segment: ListedSegment) throws(StorageError) {
        try write { db in
            try Catalogue.forget(segment.number, in: db)
            try db.execute(sql: "DELETE FROM damage WHERE segment = ?", arguments: [segment.path])
            try db.execute(sql: "DELETE FROM lostSnapshot WHERE segment = ?", arguments: [segment.path])
        }
    }

    /// Replaces the list of the files that are not read because another file has the same segment id.
    func enter(copies: [SegmentCopies.Unread]) throws(StorageError) {
        let listed = try read { db in
            try String.fetchAll(db, sql: "SELECT path FROM segmentCopy ORDER BY path")
        }
        if listed == copies.map(\.path) { return }
        try write { db in
            try db.execute(sql: "DELETE FROM segmentCopy")
            for copy in copies {
                try db.execute(
                    sql: "INSERT INTO segmentCopy VALUES (?, ?)", arguments: [copy.path, Data(copy.id.bytes)])
            }
        }
    }

    /// The ids of the segments that are in several files: nothing is appended to them, and they are not dropped.
    package func copiedSegments() throws(StorageError) -> Set<SegmentID> {
        try read { db in
            Set(try Row.fetchAll(db, sql: "SELECT name FROM segmentCopy").map { try SegmentID(checking: $0.bytes(0)) })
        }
    }

    /// Whether damage is recorded for the segment at `path`.
    func isDamaged(segmentAt path: String) throws(StorageError) -> Bool {
        try read { db in
            try Row.fetchOne(db, sql: "SELECT 1 FROM damage WHERE segment = ?", arguments: [path]) != nil
        }
    }

    /// Records that a segment is sealed.
    package func markSealed(_ number: Int64, length: Int) throws(StorageError) {
        try write { db in
            try db.execute(
                sql: "UPDATE segment SET state = MAX(state, ?), indexedLength = ? WHERE id = ?",
                arguments: [SegmentState.sealed.rawValue, length, number])
        }
    }

    /// The damage found in segments, one sentence each, oldest segments first.
    package func damage() throws(StorageError) -> [String] {
        try read { db in try String.fetchAll(db, sql: "SELECT message FROM damage ORDER BY segment") }
    }

    /// Replaces the damage recorded for a segment; nil if it is undamaged.
    func record(_ damage: String?, ofSegment path: String) throws(StorageError) {
        try write { db in
            if let damage {
                try db.execute(sql: "INSERT OR REPLACE INTO damage VALUES (?, ?)", arguments: [path, damage])
            } else {
                try db.execute(sql: "DELETE FROM damage WHERE segment = ?", arguments: [path])
            }
        }
    }

    /// Removes `damage`, sentences returned by `damage()`, after a check found that it no longer causes any loss.
    package func forget(damage: [String]) throws(StorageError) {
        if damage.isEmpty { return }
        try write { db in
            for message in damage {
                try db.execute(sql: "DELETE FROM damage WHERE message = ?", arguments: [message])
            }
        }
    }
}
