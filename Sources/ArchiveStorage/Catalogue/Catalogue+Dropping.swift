// Condemned segments, which may still be read, and dropped segments, which are recorded.

package import ArchiveFormat
internal import Foundation
internal import GRDB

extension Catalogue {
    /// An SQL condition on the table `chunk`: the copy is in a condemned segment.
    static let isCondemned = """
        EXISTS (
            SELECT 1 FROM segment INDEXED BY segmentCondemned WHERE state = 2 AND id = chunk.location >> 32
        )
        """

    /// Condemns a sealed segment: from now on its chunks are stored again, and are not used as bases.
    ///
    /// - Returns: whether it is condemned now; an open segment cannot be condemned.
    @discardableResult
    package func condemn(_ number: Int64) throws(StorageError) -> Bool {
        try change(number, from: .sealed, to: .condemned)
    }

    /// Undoes the condemnation of a segment.
    @discardableResult
    package func uncondemn(_ number: Int64) throws(StorageError) -> Bool {
        try change(number, from: .condemned, to: .sealed)
    }

    private func change(
        _ number: Int64, from old: SegmentState, to new: SegmentState
    ) throws(StorageError) -> Bool {
        try write { db in
            try db.execute(
                sql: "UPDATE segment SET state = ? WHERE id = ? AND state IN (?, ?)",
                arguments: [new.rawValue, number, old.rawValue, new.rawValue])
            return db.changesCount > 0
        }
    }

    /// Removes copies of chunks and their blocks, in one transaction.
    func remove(_ copies: [(id: ChunkID, location: BlockLocation)]) throws(StorageError) {
        if copies.isEmpty { return }
        try write(rows: copies.count) { db in
            let chunk = try db.cachedStatement(sql: "DELETE FROM chunk WHERE id = ? AND location = ?")
            let block = try db.cachedStatement(sql: "DELETE FROM block WHERE location = ?")
            for copy in Catalogue.inTableOrder(copies) {
                try chunk.run([.id(copy.id), .integer(copy.location.packed)])
            }
            for location in Set(copies.map(\.location.packed)).sorted() { try block.run([.integer(location)]) }
        }
    }

    /// Whether the segment with this id was dropped.
    package func isDropped(_ segment: SegmentID) throws(StorageError) -> Bool {
        try read { db in
            try Row.fetchOne(db, sql: "SELECT 1 FROM dropped WHERE name = ?", arguments: [Data(segment.bytes)]) != nil
        }
    }

    /// The ids of all dropped segments.
    package func droppedSegments() throws(StorageError) -> Set<SegmentID> {
        try read { db in
            Set(try Row.fetchAll(db, sql: "SELECT name FROM dropped").map { try SegmentID(checking: $0.bytes(0)) })
        }
    }

    /// Enters dropped segments and removes what is listed about them.
    func insert(_ dropped: DroppedSegments, into db: Database) throws {
        for segment in dropped.segments {
            let name = Data(segment.bytes)
            try db.execute(sql: "INSERT OR IGNORE INTO dropped VALUES (?)", arguments: [name])
            try db.execute(sql: "DELETE FROM namedSegment WHERE name = ?", arguments: [name])
            let rows = try Row.fetchAll(db, sql: "SELECT id, path FROM segment WHERE name = ?", arguments: [name])
            for row in rows {
                let path: String = try row.value(1)
                try Catalogue.forget(row.value(0), in: db)
                try db.execute(sql: "DELETE FROM damage WHERE segment = ?", arguments: [path])
                try db.execute(sql: "DELETE FROM lostSnapshot WHERE segment = ?", arguments: [path])
            }
        }
    }
}

extension SegmentID {
    /// The id in a column of the catalogue.
    init(checking bytes: [UInt8]) throws {
        guard bytes.count == SegmentID.byteCount else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        self = bytes.withUnsafeBytes { SegmentID(exactly: $0) }
    }
}

extension DroppedSegments: ListedRecord {
    func insert(into db: Database, of catalogue: Catalogue) throws { try catalogue.insert(self, into: db) }
}

extension RecordKind {
    /// The dropped segments, by the ids in their headers.
    static let droppedSegments = RecordKind(
        schema: """
            CREATE TABLE dropped (name BLOB PRIMARY KEY NOT NULL) WITHOUT ROWID;
            """, name: { "record of dropped segments \($0)" }
    ) {
        (record: DroppedSegments, _) in record
    }
}
