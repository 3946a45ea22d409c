// The kinds of records: the one list that scanning, committing, making the catalogue and checking go over.

package import ArchiveFormat
internal import FileIO
internal import Foundation
internal import GRDB

/// A chunk that holds a record, as a scan finds it.
package struct FoundRecord: Sendable, Hashable {
    package let kind: ChunkKind
    package let id: ChunkID
    /// Where its block begins in the segment, and how long that is.
    package let offset: Int
    package let blockLength: Int
}

/// A record as the catalogue lists it.
protocol ListedRecord: Sendable {
    /// When it was made.
    var time: Timestamp { get }

    /// Enters it, unless it is known or was forgotten.
    func insert(into db: Database, of catalogue: Catalogue) throws

    /// Whether the catalogue says what it says; nil for kinds that a check compares field by field.
    func isListed(in db: Database) throws -> Bool?
}

extension ListedRecord {
    func isListed(in db: Database) throws -> Bool? { nil }
}

/// A record with one codec, and the chunk that holds it.
package struct StoredRecord<Record: ArchiveRecord>: Sendable, Hashable {
    package let id: ChunkID
    package let record: Record

    package init(id: ChunkID, record: Record) {
        self.id = id
        self.record = record
    }
}

/// A record that is listed by itself: no other record has a say in it.
protocol PlainRecord: ArchiveRecord {
    var time: Timestamp { get }

    func insert(as id: ChunkID, into db: Database) throws

    func isListed(as id: ChunkID, in db: Database) throws -> Bool
}

extension StoredRecord: ListedRecord where Record: PlainRecord {
    var time: Timestamp { record.time }

    func insert(into db: Database, of catalogue: Catalogue) throws { try record.insert(as: id, into: db) }

    func isListed(in db: Database) throws -> Bool? { try record.isListed(as: id, in: db) }
}

/// A kind of record: how one is read from its chunk, and the tables that list it.
struct RecordKind: Sendable {
    let kind: ChunkKind
    /// The statements that make its tables.
    let schema: String
    /// The table whose rows are of roots; nil where there is none.
    let ofRoots: RootTable?
    /// What a record is called in messages.
    let name: @Sendable (ChunkID) -> String
    let read: @Sendable (ArchiveStore, FoundRecord) throws(StorageError) -> any ListedRecord

    /// All kinds that this program knows, those first that tell what becomes of others: a new kind is a line here, the file
    /// of its value and the file of its table.
    static let all: [RecordKind] = [
        .droppedSegments, .notices, .snapshots, .gaps, .operations, .states, .forgotten, .unforgotten, .labels, .pins,
        .notes, .policies,
    ]
    /// Those of all segments are entered before any other record is.
    static let tellingOfOthers: Set<ChunkKind> = [.droppedSegments, .rootNotice]

    /// A table with a column `root`, which changes where a root was moved.
    struct RootTable: Sendable {
        let table: String
        /// The columns of the time that says whose a row is.
        let time: String
    }

    init(
        _ kind: ChunkKind, schema: String, ofRoots: RootTable? = nil, name: @escaping @Sendable (ChunkID) -> String,
        read: @escaping @Sendable (ArchiveStore, FoundRecord) throws(StorageError) -> any ListedRecord
    ) {
        self.kind = kind
        self.schema = schema
        self.ofRoots = ofRoots
        self.name = name
        self.read = read
    }

    /// A kind with one codec.
    init<Record: ArchiveRecord>(
        schema: String, ofRoots: RootTable? = nil, name: @escaping @Sendable (ChunkID) -> String,
        _ listed: @escaping @Sendable (Record, FoundRecord) -> any ListedRecord
    ) {
        self.init(Record.kind, schema: schema, ofRoots: ofRoots, name: name) { (store, found) throws(StorageError) in
            listed(try store.record(found.id), found)
        }
    }

    /// A kind whose records are listed by themselves.
    init<Record: PlainRecord>(
        plain: Record.Type, schema: String, ofRoots: RootTable? = nil, name: @escaping @Sendable (ChunkID) -> String
    ) {
        self.init(schema: schema, ofRoots: ofRoots, name: name) { (record: Record, found) in
            StoredRecord(id: found.id, record: record)
        }
    }

    /// Whether a table has, for each of `targets`, something that was said at `time` or later; what no segment has any more
    /// needs none.
    static func isSaid(
        of targets: [ChunkID], at time: Timestamp, in table: String, _ column: String, _ db: Database
    ) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: """
                SELECT EXISTS (SELECT 1 FROM \(table) WHERE \(column) = ?1 AND (seconds, nanoseconds) >= (?2, ?3))
                    OR NOT EXISTS (SELECT 1 FROM chunk WHERE id = ?1)
                """)
        return try targets.allSatisfy { target in
            try Bool.fetchOne(statement, arguments: [Data(target.bytes), time.seconds, time.nanoseconds]) ?? false
        }
    }
}
