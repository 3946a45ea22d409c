// The catalogue's saved states.

package import ArchiveFormat
internal import FileIO
internal import Foundation
internal import GRDB
internal import GRDBSQLite

extension Catalogue {
    /// Selects states; their owners are titles.
    package typealias StateFilter = RecordFilter<String>

    /// The states that match `filter`: those of one title in their order, those of all titles by time.
    package func states(_ filter: StateFilter = StateFilter()) throws(StorageError) -> [ListedState] {
        try read { db in try Catalogue.states(filter, db) }
    }

    /// The states that match each of `filters`, all read from one state of the catalogue.
    ///
    /// A save that happens in between does not show in any of them.
    package func states(_ filters: [StateFilter]) throws(StorageError) -> [[ListedState]] {
        try readTogether { db in try filters.map { try Catalogue.states($0, db) } }
    }

    private static func states(_ filter: StateFilter, _ db: Database) throws -> [ListedState] {
        let (sql, arguments) = query(filter)
        var states: [ListedState] = []
        var reader = StateReader()
        try db.cachedStatement(sql: sql).forEachRow(arguments) { row in
            states.append(try reader.state(row))
            return true
        }
        return states
    }

    /// The number of states that match `filter`.
    package func count(_ filter: StateFilter) throws(StorageError) -> Int {
        let (sql, arguments) = filter.count(in: "state", "title", Catalogue.owner(filter))
        return try read { db in try Int.fetchOne(db, sql: sql, arguments: arguments) ?? 0 }
    }

    /// SQLite's plan for listing the states that match `filter`, one line a step.
    package func plan(_ filter: StateFilter) throws(StorageError) -> [String] {
        let (sql, arguments) = Catalogue.query(filter)
        return try read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)", arguments: arguments).map { $0["detail"] }
        }
    }

    /// How many steps SQLite takes to list the states that match `filter`, for tests of its cost.
    package func steps(_ filter: StateFilter) throws(StorageError) -> Int {
        let (sql, arguments) = Catalogue.query(filter)
        return try read { db in
            let statement = try db.makeStatement(sql: sql)
            try statement.forEachRow(arguments) { _ in true }
            return Int(sqlite3_stmt_status(statement.sqliteStatement, SQLITE_STMTSTATUS_VM_STEP, 0))
        }
    }

    private static func query(_ filter: StateFilter) -> (sql: String, arguments: StatementArguments) {
        filter.query(StateReader.columns, from: "state", "title", owner(filter))
    }

    private static func owner(_ filter: StateFilter) -> Data? {
        filter.owner.map { Data(StateTitle.canonical($0).utf8) }
    }

    /// The ids of all states, those of each title in their order.
    package func stateIDs() throws(StorageError) -> [StateID] {
        try ids("SELECT id FROM state ORDER BY title, sequence, seconds, nanoseconds, id").map { StateID($0) }
    }

    /// The titles that have states, in alphabetical order.
    package func stateTitles() throws(StorageError) -> [StateTitle] {
        let latest = """
            FROM state AS latest WHERE latest.title = state.title
            ORDER BY sequence DESC, seconds DESC, nanoseconds DESC, id DESC LIMIT 1
            """
        let sql = """
            SELECT title, COUNT(*), (SELECT seconds \(latest)), (SELECT nanoseconds \(latest)), TOTAL(storedBytes)
            FROM state GROUP BY title ORDER BY title
            """
        return try read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                StateTitle(
                    title: try text(row, 0), count: try row.value(1),
                    latest: try row.time(seconds: 2, nanoseconds: 3),
                    storedBytes: UInt64(exactly: try row.value(4) as Double) ?? .max)
            }
        }
    }

    /// Whether the state `id` is listed.
    package func hasState(_ id: StateID) throws(StorageError) -> Bool {
        try read { db in
            try Row.fetchOne(db, sql: "SELECT 1 FROM state WHERE id = ?", arguments: [Data(id.chunk.bytes)]) != nil
        }
    }

    /// Enters `state`, unless it is already listed or was forgotten.
    func insert(_ state: ListedState, into db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT OR IGNORE INTO state
                SELECT ?1, ?2, ?3, ?4, ?5, \(Catalogue.label(of: "?1", else: "?6")), ?7, ?8, ?9, ?10, ?11
                WHERE NOT EXISTS (SELECT 1 FROM forgotten WHERE id = ?1 AND NOT isKept)
                """)
        try statement.execute(arguments: [
            Data(state.id.chunk.bytes), Data(state.title.utf8), state.host, state.time.seconds,
            state.time.nanoseconds, state.label.map { Data($0.utf8) }, Data(state.type.utf8), state.version,
            Int64(clamping: state.bytes), Int64(clamping: state.storedBytes), Int64(clamping: state.sequence),
        ])
        if db.changesCount == 0 { try recordStoredBytes(state.storedBytes, ofForgotten: state.id.chunk, in: db) }
    }
}

/// The UTF-8 text in a column, stored as a blob.
private func text(_ row: Row, _ column: Int) throws -> String {
    guard let text = String(validating: try row.bytes(column), as: UTF8.self) else {
        throw DatabaseError(resultCode: .SQLITE_CORRUPT)
    }
    return text
}

/// Decodes state rows; caches the texts of the last row.
private struct StateReader {
    static let columns = "id, title, host, seconds, nanoseconds, label, type, version, bytes, storedBytes, sequence"

    private var title = Repeated<String>()
    private var host = Repeated<String>()
    private var type = Repeated<String>()

    mutating func state(_ row: CatalogueRow) throws -> ListedState {
        ListedState(
            id: StateID(try row.id(0)), title: try title.value(of: row.bytes(1)) { try row.text(1) },
            host: try host.value(of: row.bytes(2)) { try row.text(2) },
            time: try row.time(seconds: 3, nanoseconds: 4), sequence: row.number(10),
            label: row.isNull(5) ? nil : try row.text(5),
            type: try type.value(of: row.bytes(6)) { try row.text(6) }, version: Int(row.integer(7)),
            bytes: row.number(8), storedBytes: row.number(9))
    }
}

extension ListedState: ListedRecord {
    func insert(into db: Database, of catalogue: Catalogue) throws { try catalogue.insert(self, into: db) }
}

extension RecordKind {
    static let states = RecordKind(
        schema: """
            CREATE TABLE state (
                id BLOB PRIMARY KEY NOT NULL,
                title BLOB NOT NULL,
                host TEXT NOT NULL,
                seconds INTEGER NOT NULL,
                nanoseconds INTEGER NOT NULL,
                label BLOB,
                type BLOB NOT NULL,
                version INTEGER NOT NULL,
                bytes INTEGER NOT NULL,
                storedBytes INTEGER NOT NULL,
                sequence INTEGER NOT NULL
            ) WITHOUT ROWID;
            CREATE INDEX stateByTitle ON state (title, sequence, seconds, nanoseconds, id);
            CREATE INDEX stateByLabel ON state (label) WHERE label IS NOT NULL;
            """, name: { "state \(StateID($0).short)" }
    ) { (record: StateRecord, found) in
        ListedState(record, id: StateID(found.id), ownBytes: found.ownBytes)
    }
}
