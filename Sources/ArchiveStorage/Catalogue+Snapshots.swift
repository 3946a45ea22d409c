// The catalogue's snapshots: listing and finding them.

package import ArchiveFormat
package import FileIO
internal import Foundation
internal import GRDB

extension Catalogue {
    /// Which snapshots are wanted.
    package struct SnapshotFilter: Sendable {
        /// Of this root only, by its number.
        package var root: Int64?
        package var label: String?
        /// Ids that begin with these hex digits.
        package var idPrefix: String?
        /// Made at this instant or before.
        package var until: Timestamp?
        /// Made at this instant or after.
        package var since: Timestamp?
        package var newestFirst = false
        package var limit: Int?
        /// How many to pass over first.
        package var offset = 0

        package init(
            root: Int64? = nil, label: String? = nil, idPrefix: String? = nil, until: Timestamp? = nil,
            since: Timestamp? = nil, newestFirst: Bool = false, limit: Int? = nil, offset: Int = 0
        ) {
            self.root = root
            self.label = label
            self.idPrefix = idPrefix
            self.until = until
            self.since = since
            self.newestFirst = newestFirst
            self.limit = limit
            self.offset = offset
        }
    }

    /// The snapshots that `filter` lets through, by time.
    package func snapshots(_ filter: SnapshotFilter = SnapshotFilter()) throws(StorageError) -> [SnapshotRecord] {
        try read { db in
            let query = Catalogue.query(filter)
            return try Row.fetchAll(db, sql: query.sql, arguments: query.arguments).map(SnapshotRecord.init)
        }
    }

    /// How SQLite goes about `snapshots(filter)` (EXPLAIN QUERY PLAN), for tests of what that costs.
    package func plan(_ filter: SnapshotFilter) throws(StorageError) -> [String] {
        try read { db in
            let query = Catalogue.query(filter)
            return try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + query.sql, arguments: query.arguments).map {
                $0["detail"]
            }
        }
    }

    /// The newest snapshot of a root; nil where it has none.
    package func latestSnapshot(ofRoot path: [UInt8], host: String) throws(StorageError) -> SnapshotRecord? {
        guard let root = try root(path: path, host: host) else { return nil }
        return try snapshots(SnapshotFilter(root: root.number, newestFirst: true, limit: 1)).first
    }

    /// Whether the snapshot `id` is known.
    package func hasSnapshot(_ id: SnapshotID) throws(StorageError) -> Bool {
        try read { db in
            try Row.fetchOne(db, sql: "SELECT 1 FROM snapshot WHERE id = ?", arguments: [Data(id.chunk.bytes)]) != nil
        }
    }

    private static func query(_ filter: SnapshotFilter) -> (sql: String, arguments: StatementArguments) {
        var conditions: [String] = []
        var arguments = StatementArguments()
        if let root = filter.root {
            conditions.append("snapshot.root = ?")
            arguments += [root]
        }
        if let label = filter.label {
            conditions.append("label = ?")
            arguments += [label]
        }
        if let prefix = filter.idPrefix, let range = idRange(prefix) {
            conditions.append("snapshot.id BETWEEN ? AND ?")
            arguments += [range.low, range.high]
        }
        if let until = filter.until {
            conditions.append("(seconds, nanoseconds) <= (?, ?)")
            arguments += [until.seconds, until.nanoseconds]
        }
        if let since = filter.since {
            conditions.append("(seconds, nanoseconds) >= (?, ?)")
            arguments += [since.seconds, since.nanoseconds]
        }
        let order = filter.newestFirst ? "DESC" : "ASC"
        let restriction = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        let sql = """
            SELECT snapshot.id, seconds, nanoseconds, root.path, root.host, cause, label, parent, tree, files,
                directories, others, bytes, added, modified, removed, problems, storedBytes
            FROM snapshot JOIN root ON root.id = snapshot.root
            \(restriction)
            ORDER BY seconds \(order), nanoseconds \(order), snapshot.id \(order)
            LIMIT \(filter.limit ?? -1) OFFSET \(filter.offset)
            """
        return (sql, arguments)
    }

    /// The least and the greatest id that begin with the hex digits `prefix`.
    static func idRange(_ prefix: String) -> (low: Data, high: Data)? {
        let digits = 2 * ChunkID.byteCount
        guard prefix.utf8.count <= digits,
            let low = Hex.bytes(prefix + String(repeating: "0", count: digits - prefix.utf8.count)),
            let high = Hex.bytes(prefix + String(repeating: "f", count: digits - prefix.utf8.count))
        else { return nil }
        return (Data(low), Data(high))
    }

    func insert(_ record: SnapshotRecord, into db: Database) throws {
        let root = try enterRoot(path: record.rootPath, host: record.host, into: db)
        let arguments: StatementArguments = [
            Data(record.id.chunk.bytes), root, record.time.seconds, record.time.nanoseconds,
            record.cause.rawValue, record.label, record.parent.map { Data($0.chunk.bytes) }, Data(record.tree.bytes),
            Int64(clamping: record.totals.files), Int64(clamping: record.totals.directories),
            Int64(clamping: record.totals.others), Int64(clamping: record.totals.bytes),
            Int64(clamping: record.changes.added), Int64(clamping: record.changes.modified),
            Int64(clamping: record.changes.removed), record.problems, Int64(clamping: record.storedBytes),
        ]
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO snapshot
                SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17
                WHERE NOT EXISTS (SELECT 1 FROM forgotten WHERE id = ?1)
                """,
            arguments: arguments)
    }
}

extension SnapshotRecord {
    fileprivate init(_ row: Row) throws {
        guard let id = ChunkID(row[0] as Data), let tree = ChunkID(row[8] as Data),
            let cause = Cause(rawValue: row[5])
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        self.init(
            id: SnapshotID(id),
            time: Timestamp(seconds: row[1], nanoseconds: row[2]),
            rootPath: Array(row[3] as Data),
            host: row[4],
            cause: cause,
            label: row[6],
            parent: (row[7] as Data?).flatMap { ChunkID($0) }.map { SnapshotID($0) },
            tree: tree,
            totals: Totals(
                files: UInt64(clamping: row[9] as Int64), directories: UInt64(clamping: row[10] as Int64),
                others: UInt64(clamping: row[11] as Int64), bytes: UInt64(clamping: row[12] as Int64)),
            changes: ChangeCounts(
                added: UInt64(clamping: row[13] as Int64), modified: UInt64(clamping: row[14] as Int64),
                removed: UInt64(clamping: row[15] as Int64)),
            problems: row[16],
            storedBytes: UInt64(clamping: row[17] as Int64))
    }
}
