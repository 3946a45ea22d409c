// The order of a root's snapshots, and their times, which contradict it if a clock was wrong.
//
// Between two steps back, times ascend. So the snapshot at a moment is found by bisection in each ascending stretch.

package import ArchiveFormat
package import FileIO
internal import Foundation
internal import GRDB

extension Catalogue {
    /// The statement that creates the table of the snapshots that are earlier than the previous one of their root.
    static let stepsBackTable = """
        CREATE TABLE stepBack (
            root INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            seconds INTEGER NOT NULL,
            nanoseconds INTEGER NOT NULL,
            id BLOB NOT NULL,
            PRIMARY KEY (root, sequence, seconds, nanoseconds, id)
        ) WITHOUT ROWID;
        """

    // MARK: Queries

    /// Whether the times of a root's snapshots follow their order.
    package func isOrderedByTime(root: Int64) throws(StorageError) -> Bool {
        try read { db in try Catalogue.stepsBack(root: root, limit: 1, in: db).isEmpty }
    }

    /// The last snapshot of a root, in their order, among those made at `time` or before; nil if there is none.
    package func lastSnapshot(root: Int64, at time: Timestamp) throws(StorageError) -> ListedSnapshot? {
        try readTogether { db in
            var end: SnapshotRow?
            var starts: [SnapshotRow?] = [nil]
            for step in try Catalogue.stepsBack(root: root, in: db) { starts.append(step) }
            for start in starts.reversed() {
                let stretch = AscendingStretch(root: root, start: start, end: end)
                if let row = try stretch.last(at: time, in: db, counters) {
                    return try Catalogue.snapshot(SnapshotID(try Catalogue.id(row)), in: db)?.listed
                }
                end = start
            }
            return nil
        }
    }

    /// The roots that have snapshots whose times contradict the order, or are later than `now`.
    package func rootsOutOfOrder(now: Timestamp) throws(StorageError) -> Set<Int64> {
        let sql = """
            SELECT root FROM stepBack UNION SELECT root FROM snapshot WHERE (seconds, nanoseconds) > (?, ?)
            """
        return try read { db in
            Set(try Int64.fetchAll(db.cachedStatement(sql: sql), arguments: [now.seconds, now.nanoseconds]))
        }
    }

    /// The snapshots of a root whose times contradict the order.
    ///
    /// Where a time is earlier than the previous one, either the snapshots before it are dated too late, or those from it
    /// on too early: the fewer of them count. Snapshots dated after `now` count in any case.
    package func outOfOrder(root: Int64, now: Timestamp) throws(StorageError) -> Set<SnapshotID> {
        try readTogether { db in
            var found: Set<Data> = []
            for step in try Catalogue.stepsBack(root: root, in: db) {
                guard let last = try Catalogue.neighbour(of: step, isLater: false, in: db), last.isAt(orBefore: now)
                else { continue }
                found.formUnion(try Catalogue.fewer(before: last, from: step, in: db).map(\.id))
            }
            // Few snapshots are later than now: the plus keeps SQLite from scanning all of the root's.
            let future = try db.cachedStatement(
                sql: "SELECT id FROM snapshot WHERE +root = ? AND (seconds, nanoseconds) > (?, ?) LIMIT ?")
            let arguments: StatementArguments = [root, now.seconds, now.nanoseconds, Catalogue.markLimit]
            found.formUnion(try Data.fetchAll(future, arguments: arguments))
            return Set(found.compactMap { ChunkID(Array($0)).map(SnapshotID.init) })
        }
    }

    /// The snapshots up to `last` that are later than `step`, or those from `step` on that are earlier than `last`.
    private static func fewer(before last: SnapshotRow, from step: SnapshotRow, in db: Database) throws -> [SnapshotRow]
    {
        var (late, early) = ([last], [step])
        while late.count <= markLimit {
            guard let earlier = try neighbour(of: late[late.count - 1], isLater: false, in: db),
                earlier.isLater(than: step)
            else { return late }
            late.append(earlier)
            guard let next = try neighbour(of: early[early.count - 1], isLater: true, in: db), last.isLater(than: next)
            else { return early }
            early.append(next)
        }
        return []
    }

    /// The most snapshots that are marked at one step back.
    private static let markLimit = 4096

    // MARK: Sequences

    /// The greatest sequence of a root's snapshots, operations and policies; 0 without any.
    package func greatestSequence(ofRoot root: Int64) throws(StorageError) -> UInt64 {
        let tables = ["snapshot", "operation", "policy"]
        let parts = tables.map { "SELECT MAX(sequence) AS last FROM \($0) WHERE root = ?1" }
        let sql = "SELECT COALESCE(MAX(last), 0) FROM (\(parts.joined(separator: " UNION ALL ")))"
        return try read { db in
            UInt64(clamping: try Int64.fetchOne(db.cachedStatement(sql: sql), arguments: [root]) ?? 0)
        }
    }

    /// The sequence of the next operation or policy of the root at `path`.
    ///
    /// Like those of snapshots, smaller ones belong to a root that was moved away.
    package func nextSequence(ofRoot path: [UInt8], machine: MachineID) throws(StorageError) -> UInt64 {
        let taken = try latestNotice(path: path, machine: machine)?.through ?? 0
        guard let root = try root(path: path, machine: machine) else { return taken + 1 }
        return max(taken, try greatestSequence(ofRoot: root.number)) + 1
    }

    /// One more than the greatest sequence among these rows; 1 without any.
    func nextSequence(_ rows: String, _ arguments: StatementArguments) throws(StorageError) -> UInt64 {
        try read { db in
            let statement = try db.cachedStatement(sql: "SELECT MAX(sequence) FROM \(rows)")
            return UInt64(clamping: try Int64.fetchOne(statement, arguments: arguments) ?? 0) + 1
        }
    }

    /// The first and the last time of a root's snapshots; nil if it has none.
    package func span(ofRoot root: Int64) throws(StorageError) -> (first: Timestamp, last: Timestamp)? {
        func end(_ order: String) -> String {
            """
            SELECT seconds, nanoseconds FROM snapshot WHERE root = ?
            ORDER BY seconds \(order), nanoseconds \(order) LIMIT 1
            """
        }
        return try readTogether { db in
            guard let first = try Row.fetchOne(db, sql: end("ASC"), arguments: [root]),
                let last = try Row.fetchOne(db, sql: end("DESC"), arguments: [root])
            else { return nil }
            return (try first.time(seconds: 0, nanoseconds: 1), try last.time(seconds: 0, nanoseconds: 1))
        }
    }

    // MARK: Filling

    /// Enters whether a snapshot is earlier than the one before it.
    static func recordStep(from before: SnapshotRow?, to row: SnapshotRow, in db: Database) throws {
        if let before, before.isLater(than: row) {
            try db.cachedStatement(sql: "INSERT OR IGNORE INTO stepBack VALUES (?, ?, ?, ?, ?)")
                .execute(arguments: row.arguments)
        } else {
            try forgetStep(to: row, in: db)
        }
    }

    /// Enters the steps around a new snapshot.
    static func recordSteps(around row: SnapshotRow, in db: Database) throws {
        try recordStep(from: neighbour(of: row, isLater: false, in: db), to: row, in: db)
        if let next = try neighbour(of: row, isLater: true, in: db) { try recordStep(from: row, to: next, in: db) }
    }

    /// Enters the step that is left when the snapshot at `row` is removed.
    static func recordStep(without row: SnapshotRow, in db: Database) throws {
        // Thinning removes a hundred thousand snapshots, usually of a root without steps back.
        if try stepsBack(root: row.root, limit: 1, in: db).isEmpty { return }
        try forgetStep(to: row, in: db)
        guard let next = try neighbour(of: row, isLater: true, in: db) else { return }
        try recordStep(from: neighbour(of: row, isLater: false, in: db), to: next, in: db)
    }

    /// Enters the steps of a root whose snapshots were moved.
    static func recordSteps(ofRoot root: Int64, in db: Database) throws {
        try db.execute(sql: "DELETE FROM stepBack WHERE root = ?", arguments: [root])
        try db.execute(
            sql: """
                INSERT INTO stepBack SELECT \(SnapshotRow.columns) FROM (
                    SELECT *, LAG(seconds) OVER places AS lastSeconds, LAG(nanoseconds) OVER places AS lastNanoseconds
                    FROM snapshot WHERE root = ? WINDOW places AS (ORDER BY sequence, seconds, nanoseconds, id))
                WHERE (seconds, nanoseconds) < (lastSeconds, lastNanoseconds)
                """, arguments: [root])
    }

    private static func forgetStep(to row: SnapshotRow, in db: Database) throws {
        let sql =
            "DELETE FROM stepBack WHERE root = ? AND sequence = ? AND seconds = ? AND nanoseconds = ? AND id = ?"
        try db.cachedStatement(sql: sql).execute(arguments: row.arguments)
    }

    /// The snapshots of a root that are earlier than the previous one, in their order.
    private static func stepsBack(root: Int64, limit: Int = -1, in db: Database) throws -> [SnapshotRow] {
        let sql = """
            SELECT \(SnapshotRow.columns) FROM stepBack WHERE root = ?
            ORDER BY sequence, seconds, nanoseconds, id LIMIT ?
            """
        return try Row.fetchAll(db.cachedStatement(sql: sql), arguments: [root, limit]).map(SnapshotRow.init)
    }

    /// The snapshot right after `row`, or right before it, in the same root; nil if there is none.
    static func neighbour(of row: SnapshotRow, isLater: Bool, in db: Database) throws -> SnapshotRow? {
        let (sign, order) = isLater ? (">", "ASC") : ("<", "DESC")
        let sql = """
            SELECT \(SnapshotRow.columns) FROM snapshot
            WHERE root = ? AND (sequence, seconds, nanoseconds, id) \(sign) (?, ?, ?, ?)
            ORDER BY sequence \(order), seconds \(order), nanoseconds \(order), id \(order) LIMIT 1
            """
        return try Row.fetchOne(db.cachedStatement(sql: sql), arguments: row.arguments).map(SnapshotRow.init)
    }

    private static func id(_ row: SnapshotRow) throws -> ChunkID {
        guard let id = ChunkID(Array(row.id)) else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        return id
    }
}

extension SnapshotRow {
    /// Whether its time is later than that of `other`, whatever their order.
    func isLater(than other: SnapshotRow) -> Bool {
        (seconds, nanoseconds) > (other.seconds, other.nanoseconds)
    }

    fileprivate func isAt(orBefore time: Timestamp) -> Bool {
        (seconds, nanoseconds) <= (time.seconds, Int64(time.nanoseconds))
    }
}

/// Consecutive snapshots of a root whose times ascend.
private struct AscendingStretch {
    let root: Int64
    /// The first one; nil if it is the root's first.
    let start: SnapshotRow?
    /// The first one after the stretch; nil if there is none.
    let end: SnapshotRow?

    /// The last snapshot made at `time` or before; nil if the stretch has none.
    func last(at time: Timestamp, in db: Database, _ counters: StorageCounters) throws -> SnapshotRow? {
        func row(_ condition: String, _ order: String, _ arguments: StatementArguments) throws -> SnapshotRow? {
            let sql = """
                SELECT \(SnapshotRow.columns) FROM snapshot WHERE root = ? \(condition)
                ORDER BY sequence \(order), seconds \(order), nanoseconds \(order), id \(order) LIMIT 1
                """
            counters.snapshotsRead.add()
            return try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [root] + arguments).map(SnapshotRow.init)
        }
        guard var found = try start ?? row("", "ASC", []), found.isAt(orBefore: time),
            let last = try end.map({ try Catalogue.neighbour(of: $0, isLater: false, in: db) }) ?? row("", "DESC", [])
        else { return nil }
        if last.isAt(orBefore: time) { return last }
        var (low, high) = (found.sequence, last.sequence)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            guard let row = try row("AND sequence <= ?", "DESC", [middle]) else { break }
            if row < found {
                low = middle
            } else if row.isAt(orBefore: time) {
                (found, low) = (row, middle)
            } else {
                high = min(middle, row.sequence)
            }
        }
        // Snapshots of one sequence, from merged copies of an archive, are left.
        while let next = try Catalogue.neighbour(of: found, isLater: true, in: db), next.isAt(orBefore: time),
            end.map({ next < $0 }) ?? true
        {
            found = next
        }
        return found
    }
}
