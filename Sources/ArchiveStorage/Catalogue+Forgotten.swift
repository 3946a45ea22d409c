// The catalogue's forgotten records: what is listed no more, also where it is found again.

package import ArchiveFormat
internal import Foundation
internal import GRDB

extension Catalogue {
    /// Forgets snapshots and states, also those that are yet to be found.
    func insert(_ forgotten: ForgottenRecords, into db: Database) throws {
        for id in forgotten.records {
            let arguments: StatementArguments = [Data(id.bytes)]
            try db.execute(sql: "INSERT OR IGNORE INTO forgotten VALUES (?)", arguments: arguments)
            try db.execute(sql: "DELETE FROM state WHERE id = ?", arguments: arguments)
            try forgetChanges(beforeRemovalOf: SnapshotID(id), in: db)
            try db.execute(sql: "DELETE FROM snapshot WHERE id = ?", arguments: arguments)
        }
    }

    /// Whether the record in the chunk `id` is forgotten.
    package func isForgotten(_ id: ChunkID) throws(StorageError) -> Bool {
        try read { db in
            try Row.fetchOne(db, sql: "SELECT 1 FROM forgotten WHERE id = ?", arguments: [Data(id.bytes)]) != nil
        }
    }
}

extension ForgottenRecords: ListedRecord {
    func insert(into db: Database, of catalogue: Catalogue) throws { try catalogue.insert(self, into: db) }
}

extension RecordKind {
    static let forgotten = RecordKind(
        schema: """
            CREATE TABLE forgotten (id BLOB PRIMARY KEY NOT NULL) WITHOUT ROWID;
            """, name: { "what is forgotten, \($0)" }
    ) { (record: ForgottenRecords, _) in
        record
    }
}
