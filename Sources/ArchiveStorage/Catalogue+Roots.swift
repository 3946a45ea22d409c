// The catalogue's roots: which directories there are records of, and how much of each.

package import FileIO
internal import Foundation
internal import GRDB

/// A root that there are records of.
package struct RootRecord: Sendable, Hashable {
    /// The root's number in this catalogue.
    package let number: Int64
    /// The root's absolute path, as bytes.
    package let path: [UInt8]
    package let host: String
}

extension Catalogue {
    /// The roots that have snapshots, by path.
    package func roots() throws(StorageError) -> [RootRecord] {
        let sql = """
            SELECT id, path, host FROM root
            WHERE EXISTS (SELECT 1 FROM snapshot WHERE snapshot.root = root.id)
            ORDER BY path, host
            """
        return try read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                RootRecord(number: row[0], path: Array(row[1] as Data), host: row[2])
            }
        }
    }

    /// The root with a number; nil where there is none.
    static func root(_ number: Int64, in db: Database) throws -> RootRecord? {
        try Row.fetchOne(
            db.cachedStatement(sql: "SELECT path, host FROM root WHERE id = ?"), arguments: [number]
        ).map { RootRecord(number: number, path: Array($0[0] as Data), host: $0[1]) }
    }

    /// The root at `path` on `host`; nil where there are no records of it.
    package func root(path: [UInt8], host: String) throws(StorageError) -> RootRecord? {
        try read { db in
            try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT id FROM root WHERE path = ? AND host = ?"),
                arguments: [Data(path), host])
        }.map { RootRecord(number: $0, path: path, host: host) }
    }

    /// How many snapshots a root has, and the bytes that the archive grew by for those made at `since` or after.
    package func totals(
        root: Int64, since: Timestamp
    ) throws(StorageError) -> (snapshots: Int, storedBytes: UInt64) {
        // One pass for both: of a hundred thousand rows it is the reading that counts. TOTAL sums in floating point:
        // exact up to 8 PiB, and it never overflows (sqlite.org/lang_aggfunc.html).
        let sql = """
            SELECT COUNT(*), TOTAL(CASE WHEN (seconds, nanoseconds) >= (?, ?) THEN storedBytes END)
            FROM snapshot WHERE root = ?
            """
        return try read { db in
            let row = try Row.fetchOne(db, sql: sql, arguments: [since.seconds, since.nanoseconds, root])
            guard let row else { return (0, 0) }
            return (row[0], UInt64(exactly: row[1] as Double) ?? .max)
        }
    }

    /// The number of a root, entered where it is new.
    func enterRoot(path: [UInt8], host: String, into db: Database) throws -> Int64 {
        let arguments: StatementArguments = [Data(path), host]
        let known = try db.cachedStatement(sql: "SELECT id FROM root WHERE path = ? AND host = ?")
        if let number = try Int64.fetchOne(known, arguments: arguments) { return number }
        try db.execute(sql: "INSERT INTO root (path, host) VALUES (?, ?)", arguments: arguments)
        return db.lastInsertedRowID
    }
}
