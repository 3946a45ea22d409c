// The catalogue's saved states: listing and finding them.

package import ArchiveFormat
package import FileIO
internal import Foundation
internal import GRDB

extension Catalogue {
    /// Which states are wanted.
    package struct StateFilter: Sendable {
        package var title: String?
        package var label: String?
        /// Ids that begin with these hex digits.
        package var idPrefix: String?
        /// Saved at this instant or before.
        package var until: Timestamp?
        /// Saved at this instant or after.
        package var since: Timestamp?
        package var newestFirst = false
        package var limit: Int?
        /// How many to pass over first.
        package var offset = 0

        package init(
            title: String? = nil, label: String? = nil, idPrefix: String? = nil, until: Timestamp? = nil,
            since: Timestamp? = nil, newestFirst: Bool = false, limit: Int? = nil, offset: Int = 0
        ) {
            self.title = title
            self.label = label
            self.idPrefix = idPrefix
            self.until = until
            self.since = since
            self.newestFirst = newestFirst
            self.limit = limit
            self.offset = offset
        }
    }

    /// The states that `filter` lets through, by time.
    package func states(_ filter: StateFilter = StateFilter()) throws(StorageError) -> [SavedState] {
        let (sql, arguments) = Catalogue.query(filter)
        return try read { db in
            try Row.fetchAll(db.cachedStatement(sql: sql), arguments: arguments).map(SavedState.init)
        }
    }

    /// How SQLite goes about listing what `filter` lets through, a line a step.
    package func plan(_ filter: StateFilter) throws(StorageError) -> [String] {
        let (sql, arguments) = Catalogue.query(filter)
        return try read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)", arguments: arguments).map { $0["detail"] }
        }
    }

    private static func query(_ filter: StateFilter) -> (sql: String, arguments: StatementArguments) {
        let (restriction, arguments) = restriction(filter)
        let order = filter.newestFirst ? "DESC" : "ASC"
        let sql = """
            SELECT id, title, host, seconds, nanoseconds, label, type, version, bytes, storedBytes FROM state
            \(restriction)
            ORDER BY seconds \(order), nanoseconds \(order), id \(order)
            LIMIT ? OFFSET ?
            """
        return (sql, arguments + [filter.limit ?? -1, filter.offset])
    }

    /// The titles that there are states of, in alphabetical order.
    package func stateTitles() throws(StorageError) -> [StateTitle] {
        let sql = """
            SELECT title, COUNT(*), MAX(seconds), (
                SELECT nanoseconds FROM state AS latest WHERE latest.title = state.title
                ORDER BY seconds DESC, nanoseconds DESC LIMIT 1
            ), TOTAL(storedBytes)
            FROM state GROUP BY title ORDER BY title
            """
        return try read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                StateTitle(
                    title: try text(row, 0), count: row[1],
                    latest: Timestamp(seconds: row[2], nanoseconds: row[3]),
                    storedBytes: UInt64(exactly: row[4] as Double) ?? .max)
            }
        }
    }

    /// Whether the state `id` is known.
    package func hasState(_ id: StateID) throws(StorageError) -> Bool {
        try read { db in
            try Row.fetchOne(db, sql: "SELECT 1 FROM state WHERE id = ?", arguments: [Data(id.chunk.bytes)]) != nil
        }
    }

    private static func restriction(_ filter: StateFilter) -> (sql: String, arguments: StatementArguments) {
        var conditions: [String] = []
        var arguments = StatementArguments()
        if let title = filter.title {
            // A label or an id leaves next to nothing: the plus keeps SQLite from going through all of the title
            // (sqlite.org/optoverview.html, "Disqualifying WHERE Clause Terms Using Unary-+").
            conditions.append(filter.label == nil && filter.idPrefix == nil ? "title = ?" : "+title = ?")
            arguments += [Data(title.utf8)]
        }
        if let label = filter.label {
            conditions.append("label = ?")
            arguments += [Data(label.utf8)]
        }
        if let prefix = filter.idPrefix, let range = idRange(prefix) {
            conditions.append("id BETWEEN ? AND ?")
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
        return (conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND "), arguments)
    }

    /// Enters `state`, unless it is known or was forgotten.
    func insert(_ state: SavedState, into db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT OR IGNORE INTO state SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
                WHERE NOT EXISTS (SELECT 1 FROM forgotten WHERE id = ?1)
                """)
        try statement.execute(arguments: [
            Data(state.id.chunk.bytes), Data(state.title.utf8), state.host, state.time.seconds,
            state.time.nanoseconds, state.label.map { Data($0.utf8) }, Data(state.type.utf8), state.version,
            Int64(clamping: state.bytes), Int64(clamping: state.storedBytes),
        ])
    }
}

/// The text in a column of UTF-8 kept as a blob.
private func text(_ row: Row, _ column: Int) throws -> String {
    guard let text = String(validating: row[column] as Data, as: UTF8.self) else {
        throw DatabaseError(resultCode: .SQLITE_CORRUPT)
    }
    return text
}

extension SavedState {
    fileprivate init(_ row: Row) throws {
        guard let id = ChunkID(row[0] as Data) else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        self.init(
            id: StateID(id), title: try text(row, 1), host: row[2],
            time: Timestamp(seconds: row[3], nanoseconds: row[4]),
            label: row.hasNull(atIndex: 5) ? nil : try text(row, 5), type: try text(row, 6), version: row[7],
            bytes: UInt64(clamping: row[8] as Int64), storedBytes: UInt64(clamping: row[9] as Int64))
    }
}
