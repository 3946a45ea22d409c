// Which records of a kind a list is to give, and the SQL that finds them.

package import ArchiveFormat
package import FileIO
internal import Foundation
internal import GRDB

/// Which snapshots or saved states are wanted.
///
/// The snapshots of one root come by sequence, everything else by time.
package struct RecordFilter<Owner: Sendable>: Sendable {
    /// Where a record stands in a list.
    package struct Position: Sendable {
        /// Counts in a list of one root's snapshots only.
        package let sequence: UInt64
        package let time: Timestamp
        package let id: ChunkID

        package init(sequence: UInt64 = 0, time: Timestamp, id: ChunkID) {
            self.sequence = sequence
            self.time = time
            self.id = id
        }
    }

    /// Those of this root, by its number, or of this title only.
    package var owner: Owner?
    package var label: String?
    /// Ids that begin with these hex digits.
    package var idPrefix: String?
    /// Made at this instant or before.
    package var until: Timestamp?
    /// Made at this instant or after.
    package var since: Timestamp?
    package var newestFirst: Bool
    /// Whether the snapshots of one root come by time, too.
    package var isByTime = false
    /// Whether the owner has few records, which are gone through rather than looked for among those of all.
    var isAmongFew = false
    package var limit: Int?
    /// How many to pass over first.
    package var offset: Int
    /// Only those that come behind this one.
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
    /// The conditions that rows have to meet; the tables have the same names for the same columns.
    ///
    /// - Parameters:
    ///   - column: of the owner.
    ///   - owner: its value there.
    private func restriction(
        _ column: String, _ owner: (any DatabaseValueConvertible)?, isBySequence: Bool = false
    ) -> (sql: String, arguments: StatementArguments) {
        var conditions: [String] = []
        var arguments = StatementArguments()
        if let owner {
            // A label or an id leaves next to nothing: the plus keeps SQLite from going through all of the owner's
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
        // What lies behind a position is within the bound that it was found by: one bound a side, for one use of an index.
        // In the order of sequences, a time must not lead SQLite to another index: the rows would have to be sorted.
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
            conditions.append("(seconds, nanoseconds, id) \(newestFirst ? "<" : ">") (?, ?, ?)")
            arguments += [behind.time.seconds, behind.time.nanoseconds, Data(behind.id.bytes)]
        }
        return (conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND "), arguments)
    }

    /// The statement that lists the records of `table`.
    ///
    /// - Parameter hasSequence: whether the records of one owner have an order of their own.
    func query(
        _ columns: String, from table: String, _ column: String, _ owner: (any DatabaseValueConvertible)?,
        hasSequence: Bool = false
    ) -> (sql: String, arguments: StatementArguments) {
        // Few have a label or an id, and times follow the sequence but where copies of an archive were merged.
        let isBySequence = hasSequence && owner != nil && label == nil && idPrefix == nil && !isByTime
        let (restriction, arguments) = restriction(column, owner, isBySequence: isBySequence)
        let order = newestFirst ? "DESC" : "ASC"
        // Few have an id: they are sorted, as an owner's few are, rather than looked for among all.
        let isSorted = idPrefix != nil || isAmongFew
        let seconds = (isBySequence ? "sequence \(order), " : "") + (isSorted ? "+seconds" : "seconds")
        let sql = """
            SELECT \(columns) FROM \(table) \(restriction)
            ORDER BY \(seconds) \(order), nanoseconds \(order), id \(order) LIMIT ? OFFSET ?
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
    /// The least and the greatest id that begin with the hex digits `prefix`.
    static func idRange(_ prefix: String) -> (low: Data, high: Data)? {
        let digits = 2 * ChunkID.byteCount
        guard prefix.utf8.count <= digits,
            let low = Hex.bytes(prefix + String(repeating: "0", count: digits - prefix.utf8.count)),
            let high = Hex.bytes(prefix + String(repeating: "f", count: digits - prefix.utf8.count))
        else { return nil }
        return (Data(low), Data(high))
    }
}
