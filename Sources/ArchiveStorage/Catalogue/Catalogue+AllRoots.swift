// Queries over all roots at a time: an archive may have thousands, and one query each would be slow.

package import ArchiveFormat
package import FileIO
internal import Foundation
internal import GRDB

extension Catalogue {
    /// The number of snapshots of each root, and the bytes that the archive grew by for those made at `since` or after.
    ///
    /// - Parameter root: only this root, by its number.
    /// - Returns: the totals by root number; roots without snapshots are left out.
    package func totals(
        of root: Int64? = nil, since: Timestamp
    ) throws(StorageError) -> [Int64: (snapshots: Int, storedBytes: UInt64)] {
        // One pass for both, as reading a hundred thousand rows dominates. TOTAL sums in floating point: it is exact up
        // to 8 PiB and never overflows (sqlite.org/lang_aggfunc.html).
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

    /// The latest snapshot of each root, by root number.
    ///
    /// - Parameter root: only this root, by its number.
    package func latestSnapshots(of root: Int64? = nil) throws(StorageError) -> [Int64: ListedSnapshot] {
        let columns = SnapshotReader.columns.split(separator: ", ").map { "snapshot.\($0)" }.joined(separator: ", ")
        // CROSS JOIN makes SQLite visit the roots one by one.
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
                latest[row.integer(0)] = try reader.snapshot(row)
                return true
            }
            return latest
        }
    }

    /// The times when roots without later snapshots were retired, by root number.
    package func retirements() throws(StorageError) -> [Int64: Timestamp] {
        let sql = """
            SELECT root.id, notice.seconds, notice.nanoseconds
            FROM notice JOIN root ON root.path = notice.path AND root.machine = notice.machine
            WHERE notice.kind = 'retired' AND NOT EXISTS (
                SELECT 1 FROM snapshot WHERE snapshot.root = root.id
                AND CASE WHEN notice.through IS NULL
                    THEN (snapshot.seconds, snapshot.nanoseconds) > (notice.seconds, notice.nanoseconds)
                    ELSE snapshot.sequence > notice.through END
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

    /// The locations of the newest copies of chunks; chunks without one are left out.
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
