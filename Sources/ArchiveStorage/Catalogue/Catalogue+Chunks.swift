// The catalogue's hot path: finds and enters millions of chunks through prepared statements.

package import ArchiveFormat
internal import Foundation
internal import GRDB

extension Catalogue {
    /// The most copies of one chunk that are examined: no writer makes more.
    private static let copiesLimit = 64

    /// The location of the newest copy of the chunk `id`; nil if no indexed segment has one.
    package func location(of id: ChunkID) throws(StorageError) -> BlockLocation? {
        try lookUp("SELECT location FROM chunk WHERE id = ? ORDER BY location DESC LIMIT 1", id) { row in
            BlockLocation(packed: row.integer(0))
        }
    }

    /// Whether a segment, condemned or not, has the chunk `id`, and no check has found it lost.
    package func canRead(_ id: ChunkID) throws(StorageError) -> Bool {
        let sql = "SELECT 1 FROM chunk WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM loss WHERE id = ?1) LIMIT 1"
        return try lookUp(sql, id) { _ in true } ?? false
    }

    /// Whether a segment that is not condemned has the chunk `id`, and no check has found it lost.
    package func holds(_ id: ChunkID) throws(StorageError) -> Bool {
        return try lookUp(Catalogue.holding, id) { _ in true } ?? false
    }

    private static let holding = """
        SELECT 1 FROM chunk WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM loss WHERE id = ?1) AND NOT \(isCondemned) LIMIT 1
        """

    /// The chunk whose id begins with `prefix`, and the location of its newest copy.
    ///
    /// - Returns: nil if no indexed segment has one, or a check has found it lost.
    package func chunk(beginning prefix: ChunkPrefix) throws(StorageError) -> (id: ChunkID, location: BlockLocation)? {
        let sql = """
            SELECT id, location, EXISTS (SELECT 1 FROM loss WHERE loss.id = chunk.id)
            FROM chunk WHERE id >= ? ORDER BY id, location DESC LIMIT 1
            """
        return try lookUp(sql, prefix.least) { row in
            let id = try row.id(0)
            return prefix.begins(id) && row.integer(2) == 0 ? (id, BlockLocation(packed: row.integer(1))) : nil
        }
    }

    /// Like `chunk(beginning:)`, but only copies that new blocks may depend on: in local segments that are not condemned.
    package func base(beginning prefix: ChunkPrefix) throws(StorageError) -> (id: ChunkID, location: BlockLocation)? {
        guard let (id, location) = try chunk(beginning: prefix) else { return nil }
        switch try state(of: location.segment) {
        case .away: return nil
        case .condemned: break
        default: return (id, location)
        }
        let sql =
            "SELECT location FROM chunk WHERE id = ? AND NOT \(Catalogue.isCondemned) ORDER BY location DESC LIMIT 1"
        let other = try lookUp(sql, id) { row in (id: id, location: BlockLocation(packed: row.integer(0))) }
        if let other, try state(of: other.location.segment) == .away { return nil }
        return other
    }

    /// The locations of all copies of the chunk whose id begins with `prefix`, the newest first.
    package func copies(
        beginning prefix: ChunkPrefix
    ) throws(StorageError) -> [(id: ChunkID, location: BlockLocation)] {
        counters.lookups.add()
        return try read { db in
            var copies: [(id: ChunkID, location: BlockLocation)] = []
            let sql = "SELECT id, location FROM chunk WHERE id >= ? ORDER BY id, location DESC LIMIT ?"
            try db.cachedStatement(sql: sql).forEachRow([Data(prefix.bytes), Catalogue.copiesLimit]) { row in
                let id = try row.id(0)
                guard prefix.begins(id) else { return false }
                copies.append((id, BlockLocation(packed: row.integer(1))))
                return true
            }
            return copies
        }
    }

    /// Calls `body` with the row that `sql` finds for `id`; returns nil if there is none.
    private func lookUp<Value>(
        _ sql: String, _ id: ChunkID, _ body: (CatalogueRow) throws -> Value?
    ) throws(StorageError) -> Value? {
        counters.lookups.add()
        return try read { db in try db.cachedStatement(sql: sql).firstRow([.id(id)], body) ?? nil }
    }

    /// Whether no chunk is indexed.
    package func isEmpty() throws(StorageError) -> Bool {
        try read { db in try Row.fetchOne(db.cachedStatement(sql: "SELECT 1 FROM chunk LIMIT 1")) == nil }
    }

    /// The number of indexed copies of chunks.
    package func chunkCount() throws(StorageError) -> Int {
        try read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM chunk") ?? 0 }
    }

    /// Enters the contents of a segment up to `length`, in one transaction.
    ///
    /// - Parameters:
    ///   - segment: the segment's number.
    ///   - length: the bytes of the segment that are indexed afterwards; they must be on disk already.
    ///   - chunks: the chunks of the newly indexed part.
    ///   - blocks: the blocks of that part.
    ///   - records: the records in that part.
    package func enter(
        segment: Int64, length: Int, chunks: consuming [(id: ChunkID, location: BlockLocation)],
        blocks: [(location: BlockLocation, block: StoredBlock)] = [], records: CommitRecords = CommitRecords()
    ) throws(StorageError) {
        let chunks = Catalogue.inTableOrder(chunks)
        try write(rows: chunks.count + records.records.count) { db in
            try insert(chunks, into: db)
            try insert(blocks, into: db)
            try recordStored(chunks, in: db)
            try db.cachedStatement(sql: "UPDATE segment SET indexedLength = MAX(indexedLength, ?) WHERE id = ?")
                .execute(arguments: [length, segment])
            for record in records.records { try record.insert(into: db, of: self) }
        }
    }

    /// Enters chunks and blocks of any segments, in one transaction.
    ///
    /// The indexed lengths of the segments do not change.
    func enter(
        _ chunks: consuming [(id: ChunkID, location: BlockLocation)],
        _ blocks: [(location: BlockLocation, block: StoredBlock)]
    ) throws(StorageError) {
        let chunks = Catalogue.inTableOrder(chunks)
        try write(rows: chunks.count) { db in
            try insert(chunks, into: db)
            try insert(blocks, into: db)
        }
    }

    /// Enters records whose chunks are already entered.
    func enter(_ records: [any ListedRecord]) throws(StorageError) {
        if records.isEmpty { return }
        try write(rows: records.count) { db in for record in records { try record.insert(into: db, of: self) } }
    }

    /// The chunks, sorted in place, so that neighbouring rows share a page: there may be a million of them.
    static func inTableOrder(
        _ chunks: consuming [(id: ChunkID, location: BlockLocation)]
    ) -> [(id: ChunkID, location: BlockLocation)] {
        chunks.sort { $0.id != $1.id ? $0.id < $1.id : $0.location.packed > $1.location.packed }
        return chunks
    }

    /// - Parameter chunks: in the order of the table.
    private func insert(_ chunks: [(id: ChunkID, location: BlockLocation)], into db: Database) throws {
        let statement = try db.cachedStatement(sql: "INSERT OR IGNORE INTO chunk (id, location) VALUES (?, ?)")
        for chunk in chunks { try statement.run([.id(chunk.id), .integer(chunk.location.packed)]) }
    }

    /// Calls `body` with every copy of every chunk and its location, in the order of ids, until it returns false.
    package func forEachChunk(_ body: (ChunkID, BlockLocation) -> Bool) throws(StorageError) {
        try read { db in
            try db.makeStatement(sql: "SELECT id, location FROM chunk ORDER BY id, location DESC").forEachRow([]) {
                row in
                body(try row.id(0), BlockLocation(packed: row.integer(1)))
            }
        }
    }
}

extension ChunkPrefix {
    /// The smallest id with this prefix.
    fileprivate var least: ChunkID {
        let padding = [UInt8](repeating: 0, count: ChunkID.byteCount - ChunkPrefix.byteCount)
        return (bytes + padding).withUnsafeBytes { ChunkID(exactly: $0) }
    }
}
