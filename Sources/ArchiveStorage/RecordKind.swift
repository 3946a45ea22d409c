// The kinds of records: the one list that scanning, committing, making the catalogue and checking go over.

package import ArchiveFormat
internal import FileIO
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
}

/// A kind of record: how one is read from its chunk, and the tables that list it.
struct RecordKind: Sendable {
    let kind: ChunkKind
    /// The statements that make its tables.
    let schema: String
    /// What a record is called in messages.
    let name: @Sendable (ChunkID) -> String
    let read: @Sendable (ArchiveStore, FoundRecord) throws(StorageError) -> any ListedRecord

    /// All kinds that this program knows, those first that tell what becomes of others: a new kind is a line here, the file
    /// of its value and the file of its table.
    static let all: [RecordKind] = [.droppedSegments, .notices, .snapshots, .gaps, .operations, .states, .forgotten]
    /// Those of all segments are entered before any other record is.
    static let tellingOfOthers: Set<ChunkKind> = [.droppedSegments, .rootNotice]

    init(
        _ kind: ChunkKind, schema: String, name: @escaping @Sendable (ChunkID) -> String,
        read: @escaping @Sendable (ArchiveStore, FoundRecord) throws(StorageError) -> any ListedRecord
    ) {
        self.kind = kind
        self.schema = schema
        self.name = name
        self.read = read
    }

    /// A kind with one codec.
    init<Record: ArchiveRecord>(
        schema: String, name: @escaping @Sendable (ChunkID) -> String,
        _ listed: @escaping @Sendable (Record, FoundRecord) -> any ListedRecord
    ) {
        self.init(Record.kind, schema: schema, name: name) { (store, found) throws(StorageError) in
            listed(try store.record(found.id), found)
        }
    }
}

extension ArchiveStore {
    /// The record that the chunk `id` holds.
    package func record<Record: ArchiveRecord>(
        _ id: ChunkID, as type: Record.Type = Record.self
    ) throws(StorageError) -> Record {
        let bytes = try read(id)
        do throws(FormatError) {
            return try Record(decoding: bytes)
        } catch {
            let failure: StorageError = try undecodable(id, error)
            throw failure
        }
    }

    /// Enters `record` into the archive: when this returns it is durable, where it throws it is not there.
    func enter(_ record: some ArchiveRecord, listed: any ListedRecord) throws(StorageError) {
        let writer = try beginCommit()
        do throws(StorageError) {
            let chunk = RawChunk(kind: type(of: record).kind, bytes: record.encoded())
            try writer.finish([try encode([chunk])], CommitRecords([listed]))
        } catch {
            writer.abandon()
            throw error
        }
    }
}
