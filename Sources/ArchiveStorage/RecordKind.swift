// The kinds of records: one list for scanning, committing, rebuilding the catalogue and checking.

package import ArchiveFormat
internal import FileIO
internal import Foundation
internal import GRDB

/// A chunk with a record, found by a scan.
package struct FoundRecord: Sendable, Hashable {
    package let kind: ChunkKind
    package let id: ChunkID
    /// The offset of its block in the segment.
    package let offset: Int
    /// Its share of the block's bytes: a prune packs many records into one block.
    package let ownBytes: Int
}

extension FoundRecord {
    /// The records in the block with this header at `offset`; linear in the number of its chunks.
    static func all(in header: BlockHeader, at offset: Int) -> [FoundRecord] {
        // Other chunks than records are the content of the record that they are stored with.
        let length = header.chunks.reduce(0) { $0 + ($1.kind.isRecord ? $1.length : 0) }
        let blockLength = header.blockLength
        return header.chunks.compactMap { chunk in
            guard chunk.kind.isRecord else { return nil }
            let share = Double(chunk.length) / Double(max(1, length))
            return FoundRecord(
                kind: chunk.kind, id: chunk.id, offset: offset,
                ownBytes: chunk.length == length ? blockLength : Int(Double(blockLength) * share))
        }
    }
}

/// A record as the catalogue lists it.
protocol ListedRecord: Sendable {
    /// When it was made.
    var time: Timestamp { get }
    /// Its place among the records that it follows or replaces.
    var statementNumber: UInt64 { get }

    /// Enters it, unless it is already listed or was forgotten.
    func insert(into db: Database, of catalogue: Catalogue) throws

    /// Whether the catalogue agrees with it; nil for kinds that a check compares field by field.
    func isListed(in db: Database) throws -> Bool?
}

extension ListedRecord {
    var statementNumber: UInt64 { 1 }

    /// Whether it counts if both are about the same.
    func isAfter(_ other: any ListedRecord) -> Bool {
        (statementNumber, time) > (other.statementNumber, other.time)
    }

    func isListed(in db: Database) throws -> Bool? { nil }
}

/// A record and the id of the chunk that holds it.
package struct StoredRecord<Record: ArchiveRecord>: Sendable, Hashable {
    package let id: ChunkID
    package let record: Record

    package init(id: ChunkID, record: Record) {
        self.id = id
        self.record = record
    }
}

/// A record that is listed independently of other records.
protocol PlainRecord: ArchiveRecord {
    var time: Timestamp { get }

    func insert(as id: ChunkID, into db: Database) throws

    func isListed(as id: ChunkID, in db: Database) throws -> Bool
}

extension StoredRecord: ListedRecord where Record: PlainRecord {
    var time: Timestamp { record.time }
    var statementNumber: UInt64 { record.sequence }

    func insert(into db: Database, of catalogue: Catalogue) throws { try record.insert(as: id, into: db) }

    func isListed(in db: Database) throws -> Bool? { try record.isListed(as: id, in: db) }
}

/// A kind of record: how to read one from its chunk, and the tables that list it.
struct RecordKind: Sendable {
    let kind: ChunkKind
    /// The statements that create its tables.
    let schema: String
    /// The table whose rows belong to roots; nil if there is none.
    let ofRoots: RootTable?
    /// The name of a record in messages.
    let name: @Sendable (ChunkID) -> String
    /// The record in these bytes of a chunk.
    let decode: @Sendable (ArchiveStore, FoundRecord, [UInt8]) throws(StorageError) -> any ListedRecord
    /// The fields that this program knows; made when it is asked for, as opening an archive needs none.
    let shape: @Sendable () -> FieldShape

    /// All kinds that this program knows; kinds that affect others come first.
    ///
    /// A new kind needs a line here, a file for its value and a file for its table.
    static let all: [RecordKind] = [
        .droppedSegments, .notices, .snapshots, .gaps, .operations, .states, .forgotten, .unforgotten, .labels, .pins,
        .notes, .policies, .deletions, .lostSegments,
    ]
    /// Kinds that affect others: they are entered for all segments before any other record.
    static let enteredFirst: Set<ChunkKind> = [.droppedSegments, .rootNotice, .forgotten]

    /// A table with a column `root`, which changes when a root is moved.
    struct RootTable: Sendable {
        let table: String
        /// What decides which root a row belongs to.
        let order: RootOrder
    }

    /// How a notice decides whether a record of the root is among those that it is about.
    enum RootOrder: Sendable {
        /// By the sequence, whatever the clock said.
        case sequence
        /// By a time that the record is about, in these columns.
        case time(String)
    }

    init(
        _ kind: ChunkKind, shape: @autoclosure @escaping @Sendable () -> FieldShape, schema: String,
        ofRoots: RootTable? = nil, name: @escaping @Sendable (ChunkID) -> String,
        decode: @escaping @Sendable (ArchiveStore, FoundRecord, [UInt8]) throws(StorageError) -> any ListedRecord
    ) {
        self.kind = kind
        self.shape = shape
        self.schema = schema
        self.ofRoots = ofRoots
        self.name = name
        self.decode = decode
    }

    /// Reads a record.
    func read(_ store: ArchiveStore, _ found: FoundRecord) throws(StorageError) -> any ListedRecord {
        try decode(store, found, try store.read(found.id))
    }

    /// A kind whose records are decoded with `Record`.
    init<Record: ArchiveRecord>(
        schema: String, ofRoots: RootTable? = nil, name: @escaping @Sendable (ChunkID) -> String,
        _ listed: @escaping @Sendable (Record, FoundRecord) -> any ListedRecord
    ) {
        self.init(Record.kind, shape: Record.shape, schema: schema, ofRoots: ofRoots, name: name) {
            (store, found, bytes) throws(StorageError) in
            listed(try store.record(found.id, from: bytes), found)
        }
    }

    /// A kind whose records are listed independently of other records.
    init<Record: PlainRecord>(
        plain: Record.Type, schema: String, ofRoots: RootTable? = nil, name: @escaping @Sendable (ChunkID) -> String
    ) {
        self.init(schema: schema, ofRoots: ofRoots, name: name) { (record: Record, found) in
            StoredRecord(id: found.id, record: record)
        }
    }

    /// Whether `table` has, for each of `targets`, this statement or a later one; lost targets need none.
    static func isRecorded(
        of targets: [ChunkID], _ sequence: UInt64, at time: Timestamp, in table: String, _ column: String,
        _ db: Database
    ) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: """
                SELECT EXISTS (
                    SELECT 1 FROM \(table)
                    WHERE \(column) = ?1 AND (sequence, seconds, nanoseconds) >= (?4, ?2, ?3))
                    OR NOT EXISTS (SELECT 1 FROM chunk WHERE id = ?1)
                """)
        return try targets.allSatisfy { target in
            let arguments: StatementArguments = [
                Data(target.bytes), time.seconds, time.nanoseconds, Int64(clamping: sequence),
            ]
            return try Bool.fetchOne(statement, arguments: arguments) ?? false
        }
    }
}
