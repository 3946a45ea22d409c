// The catalogue's snapshots.

package import ArchiveFormat
internal import FileIO
internal import Foundation
internal import GRDB

/// A snapshot to be listed.
struct NewSnapshot: ListedRecord {
    let listed: ListedSnapshot
    /// The changes from its parent; nil if they are computed on request.
    var changes: [PathChange]?

    var time: Timestamp { listed.time }

    func insert(into db: Database, of catalogue: Catalogue) throws {
        try catalogue.insert(listed, changes: changes, into: db)
    }
}

extension Catalogue {
    /// Selects snapshots; their owners are roots, by number.
    package typealias SnapshotFilter = RecordFilter<Int64>

    /// The snapshots that match `filter`: those of one root in their order, others by time.
    package func snapshots(_ filter: SnapshotFilter = SnapshotFilter()) throws(StorageError) -> [ListedSnapshot] {
        let (sql, arguments) = try query(filter)
        return try read { db in
            var records: [ListedSnapshot] = []
            records.reserveCapacity(min(filter.limit ?? 0, 4096))
            var reader = SnapshotReader(db)
            try db.cachedStatement(sql: sql).forEachRow(arguments) { row in
                records.append(try reader.snapshot(row))
                return true
            }
            counters.snapshotsRead.add(records.count)
            return records
        }
    }

    /// The number of snapshots that match `filter`.
    package func count(_ filter: SnapshotFilter) throws(StorageError) -> Int {
        let (sql, arguments) = filter.count(in: "snapshot", "root", filter.owner)
        return try read { db in try Int.fetchOne(db, sql: sql, arguments: arguments) ?? 0 }
    }

    /// SQLite's plan for `snapshots(filter)` (EXPLAIN QUERY PLAN), for tests of its cost.
    package func plan(_ filter: SnapshotFilter) throws(StorageError) -> [String] {
        let (sql, arguments) = try query(filter)
        return try read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql, arguments: arguments).map { $0["detail"] }
        }
    }

    /// The latest snapshot of a root; nil if it has none.
    package func latestSnapshot(ofRoot path: [UInt8], machine: MachineID) throws(StorageError) -> ListedSnapshot? {
        guard let root = try root(path: path, machine: machine) else { return nil }
        return try snapshots(SnapshotFilter(of: root.number, newestFirst: true, limit: 1)).first
    }

    /// The latest snapshot of a root that was not captured aside; nil if it has none.
    package func latestRegularSnapshot(
        ofRoot path: [UInt8], machine: MachineID
    ) throws(StorageError) -> ListedSnapshot? {
        guard let root = try root(path: path, machine: machine) else { return nil }
        let (sql, arguments) = try query(SnapshotFilter(of: root.number, newestFirst: true))
        return try read { db in
            var found: ListedSnapshot?
            var reader = SnapshotReader(db)
            try db.cachedStatement(sql: sql).forEachRow(arguments) { row in
                let listed = try reader.snapshot(row)
                if !listed.isAside { found = listed }
                return listed.isAside
            }
            return found
        }
    }

    /// The ids of all snapshots, those of each root in their order.
    package func snapshotIDs() throws(StorageError) -> [SnapshotID] {
        try ids("SELECT id FROM snapshot ORDER BY root, sequence, seconds, nanoseconds, id").map { SnapshotID($0) }
    }

    /// The ids that `sql` returns.
    func ids(_ sql: String) throws(StorageError) -> [ChunkID] {
        try read { db in
            var ids: [ChunkID] = []
            try db.cachedStatement(sql: sql).forEachRow([]) { row in
                ids.append(try row.id(0))
                return true
            }
            return ids
        }
    }

    /// Whether the snapshot `id` is listed.
    package func hasSnapshot(_ id: SnapshotID) throws(StorageError) -> Bool {
        try read { db in
            try Row.fetchOne(db, sql: "SELECT 1 FROM snapshot WHERE id = ?", arguments: [Data(id.chunk.bytes)]) != nil
        }
    }

    /// Below this number, sorting a root's snapshots by time is faster than searching the snapshots of all roots.
    private static let few = 256

    private func query(_ filter: SnapshotFilter) throws(StorageError) -> (sql: String, arguments: StatementArguments) {
        var filter = filter
        if filter.isByTime, let root = filter.owner {
            // The index by time has all roots' snapshots, of which a rarely captured root has very few.
            let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM snapshot WHERE root = ? LIMIT ?)"
            let count = try read { db in try Int.fetchOne(db, sql: sql, arguments: [root, Catalogue.few]) ?? 0 }
            filter.isAmongFew = count < Catalogue.few
        }
        return filter.query(SnapshotReader.columns, from: "snapshot", "root", filter.owner)
    }

    /// Enters `listed`, unless it is already listed or was forgotten.
    ///
    /// - Parameter changes: the changes from its parent; nil if they are computed on request.
    func insert(_ record: ListedSnapshot, changes: [PathChange]? = nil, into db: Database) throws {
        var listed = record
        let place = try Catalogue.present(RootPlace(record), in: db)
        listed.sequence = place.sequence ?? record.sequence
        let root = try Catalogue.enterRoot(place, host: listed.host, into: db)
        try recordHost(listed.host, ofRoot: root, at: Int64(clamping: listed.sequence), in: db)
        let predecessor = try Catalogue.predecessor(of: listed, root: root, in: db)
        let isInHistory = changes != nil && predecessor == listed.parent
        let statement = try db.cachedStatement(
            sql: """
                INSERT OR IGNORE INTO snapshot
                SELECT ?1, ?8, ?2, ?3, ?4, ?5, ?6, \(Catalogue.label(of: "?4", else: "?7")), ?9
                WHERE NOT EXISTS (SELECT 1 FROM forgotten WHERE id = ?4 AND NOT isKept)
                """)
        let state = isInHistory ? HistoryState.known : .unknown
        try statement.run([
            .integer(root), .integer(listed.time.seconds), .integer(Int64(listed.time.nanoseconds)),
            .id(listed.id.chunk), .integer(Int64(clamping: listed.storedBytes)), .blob(SnapshotFacts(listed).encoded),
            CatalogueValue(listed.label.map { Array($0.utf8) }), .integer(Int64(clamping: listed.sequence)),
            .integer(state.rawValue),
        ])
        guard db.changesCount > 0 else {
            return try recordStoredBytes(listed.storedBytes, ofForgotten: listed.id.chunk, in: db)
        }
        try Catalogue.recordSteps(around: SnapshotRow(listed, root: root), in: db)
        try addToRuns(listed, after: predecessor, root: root, in: db)
        try forgetChanges(afterInsertionOf: listed, root: root, in: db)
        if isInHistory, let changes { try insert(changes, at: HistoryPlace(listed), root: root, into: db) }
    }
}

/// Decodes snapshot rows; caches the roots and the last cause.
struct SnapshotReader {
    /// In the table's order, in which SQLite reads columns fastest.
    static let columns = "root, sequence, seconds, nanoseconds, id, storedBytes, facts, label"

    private let db: Database
    private var roots: [Int64: ListedRoot]
    private var root: ListedRoot?
    private var causes = Repeated<Cause?>()

    /// - Parameter roots: roots that are already known, by number.
    init(_ db: Database, roots: [Int64: ListedRoot] = [:]) {
        self.db = db
        self.roots = roots
    }

    mutating func snapshot(_ row: CatalogueRow) throws -> ListedSnapshot {
        let root = try root(row.integer(0))
        // No snapshot has a negative sequence: such a row could not be found again from its record.
        guard let sequence = UInt64(exactly: row.integer(1)) else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        guard let facts = SnapshotFacts(row.bytes(6), &causes) else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        return ListedSnapshot(
            id: SnapshotID(try row.id(4)),
            time: try row.time(seconds: 2, nanoseconds: 3),
            rootPath: root.path,
            host: root.host,
            cause: facts.cause,
            label: row.isNull(7) ? nil : try row.text(7),
            parent: facts.parent,
            tree: facts.tree,
            totals: facts.totals,
            changes: facts.changes,
            problems: facts.problems,
            storedBytes: row.number(5),
            sequence: sequence,
            machine: root.machine,
            isAside: facts.isAside)
    }

    private mutating func root(_ number: Int64) throws -> ListedRoot {
        if let root, root.number == number { return root }
        guard let found = try roots[number] ?? Catalogue.root(number, in: db) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT)
        }
        roots[number] = found
        root = found
        return found
    }
}

extension RecordKind {
    /// Snapshots; the rows of a root are adjacent and ordered by sequence.
    ///
    /// Fields that no query filters by share one column (`SnapshotFacts`): every extra column slows long lists.
    static let snapshots = RecordKind(
        .snapshot, shape: Snapshot.shape,
        schema: """
            CREATE TABLE snapshot (
                root INTEGER NOT NULL REFERENCES root,
                sequence INTEGER NOT NULL,
                seconds INTEGER NOT NULL,
                nanoseconds INTEGER NOT NULL,
                id BLOB NOT NULL,
                storedBytes INTEGER NOT NULL,
                facts BLOB NOT NULL,
                label BLOB,
                history INTEGER NOT NULL,
                PRIMARY KEY (root, sequence, seconds, nanoseconds, id)
            ) WITHOUT ROWID;
            CREATE INDEX snapshotNotInHistory ON snapshot (root, sequence, seconds, nanoseconds, id) WHERE history <> 1;
            CREATE UNIQUE INDEX snapshotByID ON snapshot (id);
            CREATE INDEX snapshotOfAnyRootByTime ON snapshot (seconds, nanoseconds, sequence, id);
            CREATE INDEX snapshotByLabel ON snapshot (label, seconds, nanoseconds, sequence, id) WHERE label IS NOT NULL;
            CREATE TABLE lostSnapshot (
                segment TEXT NOT NULL,
                offset INTEGER NOT NULL,
                id BLOB,
                sinceSeconds INTEGER NOT NULL,
                sinceNanoseconds INTEGER NOT NULL,
                untilSeconds INTEGER NOT NULL,
                untilNanoseconds INTEGER NOT NULL,
                PRIMARY KEY (segment, offset)
            ) WITHOUT ROWID;
            """ + Catalogue.stepsBackTable, ofRoots: .init(table: "snapshot", order: .sequence),
        name: { "snapshot \(SnapshotID($0).short)" }
    ) {
        (store, found, bytes) throws(StorageError) in
        let id = SnapshotID(found.id)
        let snapshot = try store.snapshot(id, from: bytes)
        return NewSnapshot(listed: ListedSnapshot(snapshot, id: id, ownBytes: found.ownBytes))
    }
}
