// The catalogue's hot path: finding and entering chunks by the million, straight through prepared statements.

package import ArchiveFormat
internal import Foundation
internal import GRDB
internal import GRDBSQLite

extension Catalogue {
    /// More copies of one chunk than this are not looked at: no writers make them.
    private static let copiesLimit = 64

    /// Where the newest copy of the chunk `id` is; nil where no indexed segment holds one.
    package func location(of id: ChunkID) throws(StorageError) -> BlockLocation? {
        try lookUp("SELECT location FROM chunk WHERE id = ? ORDER BY location DESC LIMIT 1", id) { row in
            BlockLocation(packed: row.integer(0))
        }
    }

    /// Whether a segment gives the chunk `id`, one that is about to be dropped, too, and no check has found that it is lost.
    package func gives(_ id: ChunkID) throws(StorageError) -> Bool {
        let sql = "SELECT 1 FROM chunk WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM loss WHERE id = ?1) LIMIT 1"
        return try lookUp(sql, id) { _ in true } ?? false
    }

    /// Whether a segment that stays holds the chunk `id`, and no check has found that it is lost.
    package func holds(_ id: ChunkID) throws(StorageError) -> Bool {
        return try lookUp(Catalogue.holding, id) { _ in true } ?? false
    }

    private static let holding = """
        SELECT 1 FROM chunk WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM loss WHERE id = ?1) AND NOT \(isCondemned) LIMIT 1
        """

    /// The chunk whose id begins with `prefix`, and where its newest copy is; nil where no indexed segment holds one, or a
    /// check has found that it is lost.
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

    /// As `chunk(beginning:)`, for what is to be written: only copies in segments that stay may be stood on.
    package func base(beginning prefix: ChunkPrefix) throws(StorageError) -> (id: ChunkID, location: BlockLocation)? {
        guard let (id, location) = try chunk(beginning: prefix) else { return nil }
        let sql =
            "SELECT location FROM chunk WHERE id = ? AND NOT \(Catalogue.isCondemned) ORDER BY location DESC LIMIT 1"
        guard try isCondemned(location.segment) else { return (id, location) }
        return try lookUp(sql, id) { row in (id, BlockLocation(packed: row.integer(0))) }
    }

    /// Where the copies of the chunk are whose id begins with `prefix`, the newest first.
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

    /// What `body` makes of the row that `sql` finds for `id`; nil where there is none.
    private func lookUp<Value>(
        _ sql: String, _ id: ChunkID, _ body: (CatalogueRow) throws -> Value?
    ) throws(StorageError) -> Value? {
        counters.lookups.add()
        return try read { db in
            let handle = try db.cachedStatement(sql: sql).sqliteStatement
            defer { sqlite3_reset(handle) }
            bind(id, to: handle, at: 1)
            switch sqlite3_step(handle) {
            case SQLITE_ROW: return try body(CatalogueRow(handle: handle))
            case SQLITE_DONE: return nil
            case let code: throw DatabaseError(resultCode: ResultCode(rawValue: code))
            }
        }
    }

    /// Whether any chunk is known at all.
    package func isEmpty() throws(StorageError) -> Bool {
        try read { db in try Row.fetchOne(db.cachedStatement(sql: "SELECT 1 FROM chunk LIMIT 1")) == nil }
    }

    /// How many copies of chunks are known.
    package func chunkCount() throws(StorageError) -> Int {
        try read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM chunk") ?? 0 }
    }

    /// Enters what a segment holds up to `length`, in one transaction.
    ///
    /// - Parameters:
    ///   - segment: the segment's number.
    ///   - length: bytes of the segment that are indexed afterwards; on disk already.
    ///   - chunks: chunks of the newly indexed part and the offsets of their blocks.
    ///   - blocks: the blocks of that part.
    ///   - records: what chunks of that part mean.
    package func enter(
        segment: Int64, length: Int, chunks: [(id: ChunkID, offset: Int)],
        blocks: [(location: BlockLocation, block: StoredBlock)] = [], records: CommitRecords = CommitRecords()
    ) throws(StorageError) {
        let places = chunks.map { ($0.id, BlockLocation(segment: segment, offset: $0.offset)) }
        try write { db in
            try insert(places, into: db)
            try insert(blocks, into: db)
            try recordStored(places, in: db)
            try db.cachedStatement(sql: "UPDATE segment SET indexedLength = MAX(indexedLength, ?) WHERE id = ?")
                .execute(arguments: [length, segment])
            for record in records.records { try record.insert(into: db, of: self) }
        }
    }

    /// Enters chunks and blocks of any segments, in one transaction.
    ///
    /// How far these segments are indexed stays as it is.
    func enter(
        _ chunks: [(id: ChunkID, location: BlockLocation)], _ blocks: [(location: BlockLocation, block: StoredBlock)]
    ) throws(StorageError) {
        try write { db in
            try insert(chunks, into: db)
            try insert(blocks, into: db)
        }
    }

    /// Enters records whose chunks are entered already.
    func enter(_ records: [any ListedRecord]) throws(StorageError) {
        if records.isEmpty { return }
        try write { db in for record in records { try record.insert(into: db, of: self) } }
    }

    private func insert(_ chunks: [(id: ChunkID, location: BlockLocation)], into db: Database) throws {
        // In the order of the table, neighbouring rows fall into the same page.
        let sorted = chunks.sorted { $0.id != $1.id ? $0.id < $1.id : $0.location.packed > $1.location.packed }
        let statement = try db.cachedStatement(sql: "INSERT OR IGNORE INTO chunk (id, location) VALUES (?, ?)")
        let handle = statement.sqliteStatement
        for chunk in sorted {
            bind(chunk.id, to: handle, at: 1)
            sqlite3_bind_int64(handle, 2, chunk.location.packed)
            let code = sqlite3_step(handle)
            sqlite3_reset(handle)
            guard code == SQLITE_DONE else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        }
    }

    /// Calls `body` with every copy of a chunk and its place, in the order of ids, until it returns false.
    package func forEachChunk(_ body: (ChunkID, BlockLocation) -> Bool) throws(StorageError) {
        try read { db in
            try db.makeStatement(sql: "SELECT id, location FROM chunk ORDER BY id, location DESC").forEachRow([]) {
                row in
                body(try row.id(0), BlockLocation(packed: row.integer(1)))
            }
        }
    }

    private func bind(_ id: ChunkID, to handle: OpaquePointer, at index: CInt) {
        id.withUnsafeBytes { bind($0, to: handle, at: index) }
    }

    func bind(_ bytes: UnsafeRawBufferPointer, to handle: OpaquePointer, at index: CInt) {
        // SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_blob(handle, index, bytes.baseAddress, CInt(bytes.count), copies)
    }
}

extension ChunkPrefix {
    /// The least id that begins so.
    fileprivate var least: ChunkID {
        let padding = [UInt8](repeating: 0, count: ChunkID.byteCount - ChunkPrefix.byteCount)
        return (bytes + padding).withUnsafeBytes { ChunkID(exactly: $0) }
    }
}
