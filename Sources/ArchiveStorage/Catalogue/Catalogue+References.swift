// What later programs' records and fields refer to: a prune must not remove it.

package import ArchiveFormat
internal import FileIO
internal import Foundation
internal import GRDB

/// The references that this program finds in a record without knowing what they mean.
struct ListedReferences: ListedRecord {
    let record: ChunkID
    let targets: [ChunkID]

    var time: Timestamp { Timestamp(seconds: 0) }

    func insert(into db: Database, of catalogue: Catalogue) throws {
        let statement = try db.cachedStatement(sql: "INSERT OR IGNORE INTO reference VALUES (?, ?)")
        for target in targets { try statement.execute(arguments: [Data(record.bytes), Data(target.bytes)]) }
    }
}

extension Catalogue {
    /// The chunks to which unknown records and unknown fields of records refer, with these records.
    ///
    /// Records that are gone are left out.
    package func references() throws(StorageError) -> [(record: ChunkID, target: ChunkID)] {
        let sql = "SELECT record, id FROM reference WHERE EXISTS (SELECT 1 FROM chunk WHERE id = reference.record)"
        return try read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                guard let record = ChunkID(try row.bytes(0)), let target = ChunkID(try row.bytes(1)) else {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT)
                }
                return (record, target)
            }
        }
    }
}

extension FoundRecord {
    /// What this program can find of the chunks that the record with these bytes refers to by unknown fields.
    func unknownReferences(in bytes: [UInt8]) -> [ChunkID] {
        guard let known = RecordKind.all.first(where: { $0.kind == kind }) else {
            return kind == .opening ? [] : CBORReader.references(in: bytes)
        }
        return known.shape().unknownReferences(in: bytes)
    }
}
