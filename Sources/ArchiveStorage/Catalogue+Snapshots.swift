// The catalogue's snapshots: listing and finding them.

package import ArchiveFormat
internal import FileIO
internal import Foundation
internal import GRDB

extension Catalogue {
    /// Which snapshots are wanted; their owners are roots, by their numbers.
    package typealias SnapshotFilter = RecordFilter<Int64>

    /// The snapshots that `filter` lets through, by time.
    package func snapshots(_ filter: SnapshotFilter = SnapshotFilter()) throws(StorageError) -> [SnapshotRecord] {
        let (sql, arguments) = Catalogue.query(filter)
        return try read { db in
            var records: [SnapshotRecord] = []
            records.reserveCapacity(min(filter.limit ?? 0, 4096))
            var reader = SnapshotReader(db)
            try db.cachedStatement(sql: sql).forEachRow(arguments) { row in
                records.append(try reader.record(row))
                return true
            }
            return records
        }
    }

    /// How many snapshots `filter` lets through.
    package func count(_ filter: SnapshotFilter) throws(StorageError) -> Int {
        let (sql, arguments) = filter.count(in: "snapshot", "root", filter.owner)
        return try read { db in try Int.fetchOne(db, sql: sql, arguments: arguments) ?? 0 }
    }

    /// How SQLite goes about `snapshots(filter)` (EXPLAIN QUERY PLAN), for tests of what that costs.
    package func plan(_ filter: SnapshotFilter) throws(StorageError) -> [String] {
        let (sql, arguments) = Catalogue.query(filter)
        return try read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql, arguments: arguments).map { $0["detail"] }
        }
    }

    /// The newest snapshot of a root; nil where it has none.
    package func latestSnapshot(ofRoot path: [UInt8], host: String) throws(StorageError) -> SnapshotRecord? {
        guard let root = try root(path: path, host: host) else { return nil }
        return try snapshots(SnapshotFilter(of: root.number, newestFirst: true, limit: 1)).first
    }

    /// Whether the snapshot `id` is known.
    package func hasSnapshot(_ id: SnapshotID) throws(StorageError) -> Bool {
        try read { db in
            try Row.fetchOne(db, sql: "SELECT 1 FROM snapshot WHERE id = ?", arguments: [Data(id.chunk.bytes)]) != nil
        }
    }

    private static func query(_ filter: SnapshotFilter) -> (sql: String, arguments: StatementArguments) {
        filter.query(SnapshotReader.columns, from: "snapshot", "root", filter.owner)
    }

    /// Enters `record`, unless it is known or was forgotten.
    func insert(_ record: SnapshotRecord, into db: Database) throws {
        let root = try enterRoot(path: record.rootPath, host: record.host, into: db)
        let statement = try db.cachedStatement(
            sql: """
                INSERT OR IGNORE INTO snapshot
                SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (SELECT 1 FROM forgotten WHERE id = ?4)
                """)
        try statement.execute(arguments: [
            root, record.time.seconds, record.time.nanoseconds, Data(record.id.chunk.bytes),
            Int64(clamping: record.storedBytes), Data(SnapshotFacts(record).encoded),
            record.label.map { Data($0.utf8) },
        ])
    }
}

/// Makes records of rows; knows the roots and the cause of the row before.
private struct SnapshotReader {
    /// In the table's order, in which SQLite gets at them.
    static let columns = "root, seconds, nanoseconds, id, storedBytes, facts, label"

    private let db: Database
    private var roots: [Int64: RootRecord] = [:]
    private var root: RootRecord?
    private var causes = Repeated<Cause?>()

    init(_ db: Database) { self.db = db }

    mutating func record(_ row: CatalogueRow) throws -> SnapshotRecord {
        let root = try root(row.integer(0))
        guard let facts = SnapshotFacts(row.bytes(5), &causes) else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        return SnapshotRecord(
            id: SnapshotID(try row.id(3)),
            time: try row.time(seconds: 1, nanoseconds: 2),
            rootPath: root.path,
            host: root.host,
            cause: facts.cause,
            label: row.isNull(6) ? nil : try row.text(6),
            parent: facts.parent,
            tree: facts.tree,
            totals: facts.totals,
            changes: facts.changes,
            problems: facts.problems,
            storedBytes: row.number(4))
    }

    private mutating func root(_ number: Int64) throws -> RootRecord {
        if let root, root.number == number { return root }
        guard let found = try roots[number] ?? Catalogue.root(number, in: db) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT)
        }
        roots[number] = found
        root = found
        return found
    }
}
