// What the catalogue knows of all roots at a time: an archive may have thousands, and each question costs its time.

package import ArchiveFormat
package import FileIO
internal import Foundation
internal import GRDB

extension Catalogue {
    /// How many snapshots each root has, and the bytes that the archive grew by for those made at `since` or after.
    ///
    /// - Parameter root: of this root only, by its number.
    /// - Returns: by the roots' numbers; roots without snapshots are left out.
    package func totals(
        of root: Int64? = nil, since: Timestamp
    ) throws(StorageError) -> [Int64: (snapshots: Int, storedBytes: UInt64)] {
        // One pass for both: of a hundred thousand rows it is the reading that counts. TOTAL sums in floating point:
        // exact up to 8 PiB, and it never overflows (sqlite.org/lang_aggfunc.html).
        let sql = """
            SELECT root, COUNT(*), TOTAL(CASE WHEN (seconds, nanoseconds) >= (?, ?) THEN storedBytes END)
            FROM snapshot \(root == nil ? "" : "WHERE root = ?") GROUP BY root
            """
        var arguments: StatementArguments = [since.seconds, since.nanoseconds]
        if let root { arguments += [root] }
        return try read { db in
            var totals: [Int64: (snapshots: Int, storedBytes: UInt64)] = [:]
            for row in try Row.fetchAll(db, sql: sql, arguments: arguments) {
                let bytes: Double = try row.value(2)
                totals[try row.value(0)] = (try row.value(1), UInt64(exactly: bytes) ?? .max)
            }
            return totals
        }
    }

    /// The latest snapshot of each root, by the roots' numbers.
    ///
    /// - Parameter root: of this root only, by its number.
    package func latestSnapshots(of root: Int64? = nil) throws(StorageError) -> [Int64: ListedSnapshot] {
        let columns = SnapshotReader.columns.split(separator: ", ").map { "snapshot.\($0)" }.joined(separator: ", ")
        // Each root in turn, whatever SQLite thinks of it.
        let sql = """
            SELECT \(columns) FROM root CROSS JOIN snapshot ON snapshot.id = (
                SELECT newest.id FROM snapshot AS newest WHERE newest.root = root.id
                ORDER BY newest.sequence DESC, newest.seconds DESC, newest.nanoseconds DESC, newest.id DESC LIMIT 1
            ) \(root == nil ? "" : "WHERE root.id = ?")
            """
        return try read { db in
            var latest: [Int64: ListedSnapshot] = [:]
            var reader = SnapshotReader(db, roots: root == nil ? try Catalogue.everyRoot(in: db) : [:])
            try db.cachedStatement(sql: sql).forEachRow(root.map { [$0] } ?? []) { row in
                latest[row.integer(0)] = try reader.record(row)
                return true
            }
            return latest
        }
    }

    /// When roots were retired that have had no snapshot since, by the roots' numbers.
    package func retirements() throws(StorageError) -> [Int64: Timestamp] {
        let sql = """
            SELECT root.id, notice.seconds, notice.nanoseconds
            FROM notice JOIN root ON root.path = notice.path AND root.machine = notice.machine
            WHERE notice.kind = 'retired' AND NOT EXISTS (
                SELECT 1 FROM snapshot WHERE snapshot.root = root.id
                AND (snapshot.seconds, snapshot.nanoseconds) > (notice.seconds, notice.nanoseconds)
            )
            """
        return try read { db in
            var retirements: [Int64: Timestamp] = [:]
            for row in try Row.fetchAll(db, sql: sql) {
                let (root, time): (Int64, Timestamp) = (try row.value(0), try row.time(seconds: 1, nanoseconds: 2))
                retirements[root] = max(retirements[root] ?? time, time)
            }
            return retirements
        }
    }

    /// Where the newest copies of chunks are; those that no indexed segment holds are left out.
    package func locations(of ids: [ChunkID]) throws(StorageError) -> [ChunkID: BlockLocation] {
        counters.lookups.add(ids.count)
        return try read { db in
            let sql = "SELECT location FROM chunk WHERE id = ? ORDER BY location DESC LIMIT 1"
            let statement = try db.cachedStatement(sql: sql)
            var locations: [ChunkID: BlockLocation] = [:]
            for id in ids {
                try statement.forEachRow([Data(id.bytes)]) { row in
                    locations[id] = BlockLocation(packed: row.integer(0))
                    return false
                }
            }
            return locations
        }
    }

    private static func everyRoot(in db: Database) throws -> [Int64: ListedRoot] {
        let roots = try Row.fetchAll(db, sql: "SELECT \(ListedRoot.columns) FROM root").map(ListedRoot.init)
        return Dictionary(uniqueKeysWithValues: roots.map { ($0.number, $0) })
    }
}
