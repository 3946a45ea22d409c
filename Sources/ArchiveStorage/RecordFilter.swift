// Which records of a kind a list returns, and the SQL that finds them.

package import ArchiveFormat
package import FileIO
internal import Foundation
internal import GRDB

/// Selects snapshots or saved states for a list.
///
/// Snapshots of one root, and states of one title, are ordered by sequence, all other lists by time.
package struct RecordFilter<Owner: Sendable>: Sendable {
    /// The position of a record in a list.
    package struct Position: Sendable {
        /// Used only in a list of one root's snapshots, or one title's states.
        package let sequence: UInt64
        package let time: Timestamp
        package let id: ChunkID

        package init(sequence: UInt64, time: Timestamp, id: ChunkID) {
            self.sequence = sequence
            self.time = time
            self.id = id
        }
    }

    /// Only records of this root (by its number) or of this title.
    package var owner: Owner?
    package var label: String?
    /// Only ids that begin with these hex digits.
    package var idPrefix: String?
    /// Only records made at this time or before.
    package var until: Timestamp?
    /// Only records made at this time or after.
    package var since: Timestamp?
    package var newestFirst: Bool
    /// Whether snapshots of one root are ordered by time, too.
    package var isByTime = false
    /// Whether the owner has few records: then they are scanned, instead of using the index over all records.
    var isAmongFew = false
    package var limit: Int?
    /// How many records to skip first.
    package var offset: Int
    /// Only records after this position in the list's order.
    package var behind: Position?

    package init(
        of owner: Owner? = nil, label: String? = nil, idPrefix: String? = nil, until: Timestamp? = nil,
        since: Timestamp? = nil, newestFirst: Bool = false, limit: Int? = nil, offset: Int = 0
    ) {
        self.owner = owner
        self.label = label
        self.idPrefix = idPrefix
        self.until = until
        self.since = since
        self.newestFirst = newestFirst
        self.limit = limit
        self.offset = offset
    }
}

extension RecordFilter {
    /// The conditions that rows must meet; all tables name these columns alike.
    ///
    /// - Parameters:
    ///   - column: the owner's column.
    ///   - owner: the value in that column.
    private func restriction(
        _ column: String, _ owner: (any DatabaseValueConvertible)?, isBySequence: Bool = false
    ) -> (sql: String, arguments: StatementArguments) {
        var conditions: [String] = []
        var arguments = StatementArguments()
        if let owner {
            // A label or an id matches very few rows: the plus keeps SQLite from scanning all of the owner's
            // (sqlite.org/optoverview.html, "Disqualifying WHERE Clause Terms Using Unary-+").
            let isFoundByOwner = label == nil && idPrefix == nil && (!isByTime || isAmongFew)
            conditions.append((isFoundByOwner ? "" : "+") + column + " = ?")
            arguments += [owner]
        }
        if let label {
            conditions.append("label = ?")
            arguments += [Data(label.utf8)]
        }
        if let idPrefix, let range = Catalogue.idRange(idPrefix) {
            conditions.append("id BETWEEN ? AND ?")
            arguments += [range.low, range.high]
        }
        // A position already respects the bound that its page was found with. One bound a side lets SQLite use one
        // index range. In sequence order, a time must not lead SQLite to another index: the rows would have to be
        // sorted.
        let time = isBySequence || isAmongFew ? "(+seconds, nanoseconds)" : "(seconds, nanoseconds)"
        if let until, behind == nil || !newestFirst || isBySequence {
            conditions.append("\(time) <= (?, ?)")
            arguments += [until.seconds, until.nanoseconds]
        }
        if let since, behind == nil || newestFirst || isBySequence {
            conditions.append("\(time) >= (?, ?)")
            arguments += [since.seconds, since.nanoseconds]
        }
        if let behind, isBySequence {
            conditions.append("(sequence, seconds, nanoseconds, id) \(newestFirst ? "<" : ">") (?, ?, ?, ?)")
            arguments += [
                Int64(clamping: behind.sequence), behind.time.seconds, behind.time.nanoseconds, Data(behind.id.bytes),
            ]
        } else if let behind {
            conditions.append("(seconds, nanoseconds, sequence, id) \(newestFirst ? "<" : ">") (?, ?, ?, ?)")
            arguments += [
                behind.time.seconds, behind.time.nanoseconds, Int64(clamping: behind.sequence), Data(behind.id.bytes),
            ]
        }
        return (conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND "), arguments)
    }

    /// The statement that lists the records of `table`.
    func query(
        _ columns: String, from table: String, _ column: String, _ owner: (any DatabaseValueConvertible)?
    ) -> (sql: String, arguments: StatementArguments) {
        // Few records have a given id.
        let isBySequence = owner != nil && idPrefix == nil && !isByTime
        let (restriction, arguments) = restriction(column, owner, isBySequence: isBySequence)
        let order = newestFirst ? "DESC" : "ASC"
        // Few records match an id or belong to such an owner: sorting them is cheaper than searching the index over
        // all. So are those with a label, which has an index of its own.
        let isSorted = idPrefix != nil || isAmongFew
        let time = ["\(isSorted ? "+" : "")seconds", "nanoseconds"]
        let columnsInOrder = (isBySequence ? ["sequence"] + time : time + ["sequence"]) + ["id"]
        let sql = """
            SELECT \(columns) FROM \(table) \(restriction)
            ORDER BY \(columnsInOrder.map { "\($0) \(order)" }.joined(separator: ", ")) LIMIT ? OFFSET ?
            """
        return (sql, arguments + [limit ?? -1, offset])
    }

    /// The statement that counts the records of `table`.
    func count(
        in table: String, _ column: String, _ owner: (any DatabaseValueConvertible)?
    ) -> (sql: String, arguments: StatementArguments) {
        let (restriction, arguments) = restriction(column, owner)
        return ("SELECT COUNT(*) FROM \(table) \(restriction)", arguments)
    }
}

extension Catalogue {
    /// The smallest and the largest id that begin with the hex digits `prefix`; nil if it is too long or not hex.
    static func idRange(_ prefix: String) -> (low: Data, high: Data)? {
        let digits = 2 * ChunkID.byteCount
        guard prefix.utf8.count <= digits,
            let low = Hex.bytes(prefix + String(repeating: "0", count: digits - prefix.utf8.count)),
            let high = Hex.bytes(prefix + String(repeating: "f", count: digits - prefix.utf8.count))
        else { return nil }
        return (Data(low), Data(high))
    }
}
