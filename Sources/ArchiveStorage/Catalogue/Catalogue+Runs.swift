// Runs: sums over neighbouring snapshots without a pause between them, so that a burst of work can be shown without
// reading all its snapshots. Commits extend them; a missing run is built on request.

package import ArchiveFormat
internal import FileIO
internal import Foundation
internal import GRDB

/// The sums of several snapshots.
package struct SnapshotSums: Sendable, Hashable {
    package fileprivate(set) var snapshots: Int
    package fileprivate(set) var changes: ChangeCounts
    /// Bytes that the archive grew by.
    package fileprivate(set) var storedBytes: UInt64

    fileprivate init(_ snapshot: ListedSnapshot) {
        (snapshots, changes, storedBytes) = (1, snapshot.changes, snapshot.storedBytes)
    }

    /// - Parameter column: the first of five columns.
    fileprivate init(_ row: Row, from column: Int) throws {
        func number(_ offset: Int) throws -> UInt64 {
            let value: Int64 = try row.value(column + offset)
            return UInt64(clamping: value)
        }
        snapshots = try row.value(column)
        changes = ChangeCounts(added: try number(1), modified: try number(2), removed: try number(3))
        storedBytes = try number(4)
    }

    package static func += (sums: inout SnapshotSums, more: SnapshotSums) {
        sums.snapshots += more.snapshots
        sums.changes.added = FormatLimits.sum(sums.changes.added, more.changes.added, FormatLimits.entries)
        sums.changes.modified = FormatLimits.sum(sums.changes.modified, more.changes.modified, FormatLimits.entries)
        sums.changes.removed = FormatLimits.sum(sums.changes.removed, more.changes.removed, FormatLimits.entries)
        sums.storedBytes = FormatLimits.sum(sums.storedBytes, more.storedBytes, FormatLimits.bytes)
    }
}

/// Neighbouring snapshots of one root without a pause between them.
package struct SnapshotRun: Sendable, Hashable {
    package fileprivate(set) var first: ListedSnapshot
    package let last: ListedSnapshot
    package fileprivate(set) var sums: SnapshotSums

    /// The length in seconds from which a pause ends a run.
    package static let pause: Int64 = 30 * 60

    /// A run of one snapshot.
    package init(_ snapshot: ListedSnapshot) { self.init(snapshot, snapshot, SnapshotSums(snapshot)) }

    fileprivate init(_ first: ListedSnapshot, _ last: ListedSnapshot, _ sums: SnapshotSums) {
        (self.first, self.last, self.sums) = (first, last, sums)
    }

    /// Whether there is no pause between two times, in seconds.
    ///
    /// A step back of the clock counts like a pause of the same length.
    package static func goesOn(from earlier: Int64, to later: Int64) -> Bool {
        let (seconds, overflow) = later.subtractingReportingOverflow(earlier)
        return !overflow && seconds.magnitude < pause.magnitude
    }
}

/// A run as stored in the catalogue.
private struct RunRow {
    let first: SnapshotRow
    var last: SnapshotRow
    var sums: SnapshotSums

    static let columns = """
        root, sequence, seconds, nanoseconds, id, lastSequence, lastSeconds, lastNanoseconds, lastID, snapshots, added, modified,
        removed, storedBytes
        """

    init(_ row: Row) throws {
        first = try SnapshotRow(row)
        last = SnapshotRow(
            root: first.root, sequence: try row.value(5), seconds: try row.value(6), nanoseconds: try row.value(7),
            id: try row.value(8))
        sums = try SnapshotSums(row, from: 9)
    }

    init(_ run: SnapshotRun, root: Int64) {
        (first, last) = (SnapshotRow(run.first, root: root), SnapshotRow(run.last, root: root))
        sums = run.sums
    }

    var arguments: StatementArguments {
        first.arguments + [
            last.sequence, last.seconds, last.nanoseconds, last.id, sums.snapshots, Int64(clamping: sums.changes.added),
            Int64(clamping: sums.changes.modified), Int64(clamping: sums.changes.removed),
            Int64(clamping: sums.storedBytes),
        ]
    }

    /// The last run that begins at `place` or before.
    static func beginning(by place: SnapshotRow, in db: Database) throws -> RunRow? {
        let sql = """
            SELECT \(columns) FROM run WHERE root = ? AND (sequence, seconds, nanoseconds, id) <= (?, ?, ?, ?)
            ORDER BY sequence DESC, seconds DESC, nanoseconds DESC, id DESC LIMIT 1
            """
        return try Row.fetchOne(db.cachedStatement(sql: sql), arguments: place.arguments).map(RunRow.init)
    }

    /// The run that contains `place`.
    static func holding(_ place: SnapshotRow, in db: Database) throws -> RunRow? {
        try beginning(by: place, in: db).flatMap { $0.last < place ? nil : $0 }
    }

    func write(to db: Database) throws {
        let sql = "INSERT OR REPLACE INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        try db.cachedStatement(sql: sql).execute(arguments: arguments)
    }
}

extension Catalogue {
    /// The most snapshots that are summed up on request, if no commit has done it.
    package static let runLimit = 4096

    /// The run that ends with `last`; earlier snapshots may belong to the same burst of work.
    ///
    /// - Parameter limit: the most snapshots to sum up.
    package func run(
        endingAt last: ListedSnapshot, root: Int64, limit: Int = Catalogue.runLimit
    ) throws(StorageError) -> SnapshotRun {
        if let known = try readTogether({ try knownRun(endingAt: last, root, in: $0) }) { return known }
        do {
            return try write { db in
                if let known = try knownRun(endingAt: last, root, in: db) { return known }
                let run = try newRun(endingAt: last, root, limit, in: db)
                // Not stored if another process has stored a run that contains it in the meantime.
                if try RunRow.holding(SnapshotRow(last, root: root), in: db) == nil {
                    try RunRow(run, root: root).write(to: db)
                }
                return run
            }
        } catch  where error.code == .noSpace {
            return try readTogether { try newRun(endingAt: last, root, limit, in: $0) }
        }
    }

    private func knownRun(endingAt last: ListedSnapshot, _ root: Int64, in db: Database) throws -> SnapshotRun? {
        let place = SnapshotRow(last, root: root)
        guard let run = try RunRow.beginning(by: place, in: db), run.last == place else { return nil }
        guard let id = ChunkID(Array(run.first.id)), let first = try Catalogue.snapshot(SnapshotID(id), in: db),
            SnapshotRow(first.listed, root: first.root) == run.first
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        counters.snapshotsRead.add()
        return SnapshotRun(first.listed, last, run.sums)
    }

    /// Sums up the snapshots that end with `last`, back to a pause, another run or the limit.
    private func newRun(
        endingAt last: ListedSnapshot, _ root: Int64, _ limit: Int, in db: Database
    ) throws -> SnapshotRun {
        let place = SnapshotRow(last, root: root)
        let before = try RunRow.beginning(by: place, in: db)?.last.id
        let sql = """
            SELECT \(SnapshotReader.columns) FROM snapshot
            WHERE root = ? AND (sequence, seconds, nanoseconds, id) < (?, ?, ?, ?)
            ORDER BY sequence DESC, seconds DESC, nanoseconds DESC, id DESC LIMIT ?
            """
        var run = SnapshotRun(last)
        var reader = SnapshotReader(db)
        try db.cachedStatement(sql: sql).forEachRow(place.arguments + [limit]) { row in
            counters.snapshotsRead.add()
            let earlier = try reader.snapshot(row)
            guard SnapshotRun.goesOn(from: earlier.time.seconds, to: run.first.time.seconds),
                before != Data(earlier.id.chunk.bytes)
            else { return false }
            run.first = earlier
            run.sums += SnapshotSums(earlier)
            return true
        }
        return run
    }

    /// Extends the run before a new snapshot, or begins one; a run that the snapshot falls inside is removed.
    ///
    /// - Parameter predecessor: the snapshot before it.
    func addToRuns(_ listed: ListedSnapshot, after predecessor: SnapshotID?, root: Int64, in db: Database) throws {
        let place = SnapshotRow(listed, root: root)
        let single = RunRow(SnapshotRun(listed), root: root)
        try forgetRun(holding: place, in: db)
        guard let predecessor else { return try single.write(to: db) }
        // If snapshots in between are in no run, the run is built on request.
        guard var run = try RunRow.beginning(by: place, in: db), run.last.id == Data(predecessor.chunk.bytes) else {
            return
        }
        guard SnapshotRun.goesOn(from: run.last.seconds, to: place.seconds) else { return try single.write(to: db) }
        run.last = place
        run.sums += single.sums
        try run.write(to: db)
    }

    /// Removes the run that contains `place`.
    func forgetRun(holding place: SnapshotRow, in db: Database) throws {
        guard let run = try RunRow.holding(place, in: db) else { return }
        try db.cachedStatement(
            sql: "DELETE FROM run WHERE root = ? AND sequence = ? AND seconds = ? AND nanoseconds = ? AND id = ?"
        ).execute(arguments: run.first.arguments)
    }
}
