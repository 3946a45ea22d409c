// The catalogue's deletions: how long the files had lived that a snapshot is the last to have.

package import ArchiveFormat
internal import FileIO
internal import Foundation
internal import GRDB

extension Catalogue {
    /// The recorded age in seconds of the oldest file that each snapshot of a root is the last to have.
    package func recordedLifetimes(root: Int64) throws(StorageError) -> [SnapshotID: UInt64] {
        let sql = """
            SELECT id, lifetime FROM snapshot JOIN deletion ON deletion.snapshot = snapshot.id WHERE root = ?
            """
        return try read { db in
            var found: [SnapshotID: UInt64] = [:]
            try db.cachedStatement(sql: sql).forEachRow([root]) { row in
                found[SnapshotID(try row.id(0))] = row.number(1)
                return true
            }
            return found
        }
    }

    /// The recorded age of the oldest file that a snapshot is the last to have; nil if none is recorded.
    package func recordedLifetime(_ id: SnapshotID) throws(StorageError) -> UInt64? {
        try read { db in
            try Int64.fetchOne(
                db, sql: "SELECT lifetime FROM deletion WHERE snapshot = ?", arguments: [Data(id.chunk.bytes)]
            ).map { UInt64(clamping: $0) }
        }
    }
}

extension DeletionRecord: PlainRecord {
    func insert(as id: ChunkID, into db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO deletion VALUES (?, ?) ON CONFLICT (snapshot) DO UPDATE
                SET lifetime = MAX(lifetime, excluded.lifetime)
                """)
        for (snapshot, lifetime) in zip(snapshots, lifetimes) {
            try statement.execute(arguments: [Data(snapshot.bytes), Int64(clamping: lifetime)])
        }
    }

    func isListed(as id: ChunkID, in db: Database) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: "SELECT 1 FROM deletion WHERE snapshot = ? AND lifetime >= ?")
        return try zip(snapshots, lifetimes).allSatisfy { snapshot, lifetime in
            let row = try Row.fetchOne(statement, arguments: [Data(snapshot.bytes), Int64(clamping: lifetime)])
            return row != nil
        }
    }
}

extension RecordKind {
    /// The greatest recorded lifetime for each snapshot.
    static let deletions = RecordKind(
        plain: DeletionRecord.self,
        schema: """
            CREATE TABLE deletion (
                snapshot BLOB PRIMARY KEY NOT NULL,
                lifetime INTEGER NOT NULL
            ) WITHOUT ROWID;
            """, name: { "record of deletions \($0)" })
}
