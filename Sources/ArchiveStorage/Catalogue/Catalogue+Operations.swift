// The catalogue's operations.

package import ArchiveFormat
internal import FileIO
internal import Foundation
internal import GRDB

/// An operation and the chunk that holds it.
package struct StoredOperation: Sendable, Hashable {
    package let id: OperationID
    package let record: OperationRecord

    package init(id: OperationID, record: OperationRecord) {
        self.id = id
        self.record = record
    }

    /// An operation to be stored.
    package init(_ record: OperationRecord) {
        self.init(id: OperationID(ChunkID(hashing: record.encoded())), record: record)
    }
}

extension Catalogue {
    /// The operations on all roots or on one root (by its number), with completions, in order.
    package func operations(root: Int64? = nil) throws(StorageError) -> [StoredOperation] {
        let sql = """
            SELECT operation.id, root.path, root.host, kind, seconds, nanoseconds, "before", snapshot, operation.path,
                target, root.machine, name, parts, failed, leavesRepositories, sequence
            FROM operation JOIN root ON root.id = operation.root
            WHERE ?1 IS NULL OR root.id = ?1
            ORDER BY sequence, seconds, nanoseconds, operation.id
            """
        return try read { db in try Row.fetchAll(db, sql: sql, arguments: [root]).map(StoredOperation.init) }
    }

    func insert(_ operation: StoredOperation, into db: Database) throws {
        let record = operation.record
        let place = try Catalogue.present(
            RootPlace(path: record.rootPath, machine: record.machine, time: record.time, sequence: record.sequence),
            in: db)
        let root = try Catalogue.enterRoot(place, host: record.host, into: db)
        try db.cachedStatement(
            sql: "INSERT OR IGNORE INTO operation VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        .execute(arguments: [
            Data(operation.id.chunk.bytes), root, Int64(clamping: place.sequence ?? record.sequence),
            record.kind.rawValue, record.time.seconds, record.time.nanoseconds,
            record.before.map { Data($0.chunk.bytes) },
            record.snapshot.map { Data($0.chunk.bytes) }, Data(record.path.bytes),
            record.target.map { Data($0.chunk.bytes) }, record.name.map { Data($0.utf8) },
            Data(record.parts.map(\.bytes).joined(separator: [0])), Int64(clamping: record.failed),
            record.leavesRepositories,
        ])
    }
}

extension StoredOperation {
    fileprivate init(_ row: Row) throws {
        guard let id = ChunkID(try row.bytes(0)), let kind = OperationKind(rawValue: try row.value(3)),
            let path = RelativePath(try row.bytes(8))
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        self.init(
            id: OperationID(id),
            record: OperationRecord(
                rootPath: try row.bytes(1), host: try row.value(2), kind: kind,
                time: try row.time(seconds: 4, nanoseconds: 5),
                before: try StoredOperation.id(row.optional(6)).map(SnapshotID.init),
                snapshot: try StoredOperation.id(row.optional(7)).map(SnapshotID.init), path: path,
                target: try StoredOperation.id(row.optional(9)).map(OperationID.init),
                machine: MachineID(try row.bytes(10)) ?? .unknown,
                name: try StoredOperation.name(row.optional(11)),
                parts: try row.bytes(12).split(separator: 0).map { bytes in
                    guard let path = RelativePath(Array(bytes)) else {
                        throw DatabaseError(resultCode: .SQLITE_CORRUPT)
                    }
                    return path
                }, failed: UInt64(clamping: try row.value(13) as Int64), leavesRepositories: try row.value(14),
                sequence: UInt64(clamping: try row.value(15) as Int64)))
    }

    private static func name(_ bytes: Data?) throws -> String? {
        guard let bytes else { return nil }
        guard let name = String(validating: bytes, as: UTF8.self) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT)
        }
        return name
    }

    private static func id(_ bytes: Data?) throws -> ChunkID? {
        guard let bytes else { return nil }
        guard let id = ChunkID(bytes) else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        return id
    }
}

extension StoredOperation: ListedRecord {
    var time: Timestamp { record.time }

    func insert(into db: Database, of catalogue: Catalogue) throws { try catalogue.insert(self, into: db) }
}

extension RecordKind {
    static let operations = RecordKind(
        schema: """
            CREATE TABLE operation (
                id BLOB PRIMARY KEY NOT NULL,
                root INTEGER NOT NULL REFERENCES root,
                sequence INTEGER NOT NULL,
                kind TEXT NOT NULL,
                seconds INTEGER NOT NULL,
                nanoseconds INTEGER NOT NULL,
                "before" BLOB,
                snapshot BLOB,
                path BLOB NOT NULL,
                target BLOB,
                name BLOB,
                parts BLOB NOT NULL,
                failed INTEGER NOT NULL,
                leavesRepositories INTEGER NOT NULL
            ) WITHOUT ROWID;
            CREATE INDEX operationByOrder ON operation (root, sequence, seconds, nanoseconds, id);
            """, ofRoots: .init(table: "operation", order: .sequence),
        name: { "operation \(OperationID($0))" }
    ) {
        (record: OperationRecord, found) in StoredOperation(id: OperationID(found.id), record: record)
    }
}
