// The catalogue's policies: how long snapshots of each root are kept, and how large the archive may become.

package import ArchiveFormat
internal import FileIO
internal import Foundation
internal import GRDB

extension Catalogue {
    /// The latest policy of a root, or the general policy; nil if there is none or it was removed.
    ///
    /// - Parameter root: the root's number; nil for the general policy.
    package func policy(root: Int64?) throws(StorageError) -> PolicyRecord? {
        let sql = """
            SELECT record FROM policy WHERE root IS ?
            ORDER BY sequence DESC, seconds DESC, nanoseconds DESC, id DESC LIMIT 1
            """
        let policy: PolicyRecord? = try read { db in
            guard let row = try Row.fetchOne(db, sql: sql, arguments: [root]) else { return nil }
            guard let policy = try? PolicyRecord(decoding: row.bytes(0)) else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT)
            }
            return policy
        }
        return policy.flatMap { $0.isRemoved ? nil : $0 }
    }

    /// The sequence of the next policy of all roots.
    package func nextSequenceOfGeneralPolicy() throws(StorageError) -> UInt64 {
        try nextSequence("policy WHERE root IS NULL", [])
    }
}

extension PolicyRecord: PlainRecord {
    func insert(as id: ChunkID, into db: Database) throws {
        let place = try rootPath.map { path in
            try Catalogue.present(RootPlace(path: path, machine: machine, time: time, sequence: sequence), in: db)
        }
        let root = try place.map { try Catalogue.enterRoot($0, host: host, into: db) }
        try db.execute(
            sql: "INSERT OR IGNORE INTO policy VALUES (?, ?, ?, ?, ?, ?)",
            arguments: [
                Data(id.bytes), root, Int64(clamping: place?.sequence ?? sequence), time.seconds, time.nanoseconds,
                Data(encoded()),
            ])
    }

    func isListed(as id: ChunkID, in db: Database) throws -> Bool {
        try Row.fetchOne(db, sql: "SELECT 1 FROM policy WHERE id = ?", arguments: [Data(id.bytes)]) != nil
    }
}

extension RecordKind {
    /// All policies that were ever set; those without a root are general policies.
    static let policies = RecordKind(
        plain: PolicyRecord.self,
        schema: """
            CREATE TABLE policy (
                id BLOB PRIMARY KEY NOT NULL,
                root INTEGER REFERENCES root,
                sequence INTEGER NOT NULL,
                seconds INTEGER NOT NULL,
                nanoseconds INTEGER NOT NULL,
                record BLOB NOT NULL
            ) WITHOUT ROWID;
            """, ofRoots: .init(table: "policy", order: .sequence), name: { "policy \($0)" })
}
