// The catalogue's index of paths: which snapshot changed what. Commits fill it; changes that a commit did not supply
// are computed on request by comparing trees.

package import ArchiveFormat
internal import FileIO
internal import Foundation
internal import GRDB

/// Whether the index of paths has a snapshot's changes.
///
/// The raw values are stored in the catalogue.
enum HistoryState: Int64 {
    /// Its changes from the previous snapshot are not computed yet.
    case unknown = 0
    case known = 1
    /// Its changes cannot be computed: a part of its tree, or of the previous one, cannot be read.
    case damaged = 2
}

/// The key of a snapshot's row, which finds it directly.
struct SnapshotRow: Comparable {
    let root: Int64
    let sequence: Int64
    let seconds: Int64
    let nanoseconds: Int64
    let id: Data

    static let columns = "root, sequence, seconds, nanoseconds, id"

    init(root: Int64, sequence: Int64, seconds: Int64, nanoseconds: Int64, id: Data) {
        (self.root, self.sequence, self.seconds, self.nanoseconds) = (root, sequence, seconds, nanoseconds)
        self.id = id
    }

    init(_ row: Row) throws {
        root = try row.value(0)
        sequence = try row.value(1)
        seconds = try row.value(2)
        nanoseconds = try row.value(3)
        id = try row.value(4)
    }

    init(_ snapshot: ListedSnapshot, root: Int64) {
        self.root = root
        sequence = Int64(clamping: snapshot.sequence)
        seconds = snapshot.time.seconds
        nanoseconds = Int64(snapshot.time.nanoseconds)
        id = Data(snapshot.id.chunk.bytes)
    }

    /// Compares positions in the order of one root's snapshots.
    static func < (left: SnapshotRow, right: SnapshotRow) -> Bool {
        let (one, other) = (
            (left.sequence, left.seconds, left.nanoseconds), (right.sequence, right.seconds, right.nanoseconds)
        )
        return one == other ? left.id.lexicographicallyPrecedes(right.id) : one < other
    }

    /// The values in the order of the columns.
    var arguments: StatementArguments { [root, sequence, seconds, nanoseconds, id] }
}

/// The rows of a root's paths.
private struct PathRows {
    private let root: Int64
    private let db: Database
    private let known: Statement
    private let insertion: Statement

    init(_ root: Int64, in db: Database) throws {
        (self.root, self.db) = (root, db)
        known = try db.cachedStatement(sql: "SELECT id, isGone FROM path WHERE root = ? AND path = ?")
        insertion = try db.cachedStatement(sql: "INSERT INTO path (root, path, isGone, versions) VALUES (?, ?, 0, 0)")
    }

    /// The number of a path, which is entered if it has none, and whether it was removed last.
    func enter(_ path: RelativePath) throws -> (number: Int64, isGone: Bool) {
        let values: [CatalogueValue] = [.integer(root), .blob(path.bytes)]
        if let row = try known.firstRow(values, { (try $0.exactInteger(0), try $0.exactInteger(1) != 0) }) {
            return row
        }
        try insertion.run(values)
        return (db.lastInsertedRowID, false)
    }
}

// MARK: Filling

extension Catalogue {
    /// The previous snapshot of the root; nil if `snapshot` is the first.
    static func predecessor(of snapshot: ListedSnapshot, root: Int64, in db: Database) throws -> SnapshotID? {
        let sql = """
            SELECT id FROM snapshot WHERE root = ? AND (sequence, seconds, nanoseconds, id) < (?, ?, ?, ?)
            ORDER BY sequence DESC, seconds DESC, nanoseconds DESC, id DESC LIMIT 1
            """
        let place = SnapshotRow(snapshot, root: root)
        let id = try Data.fetchOne(db.cachedStatement(sql: sql), arguments: place.arguments)
        return try id.map { try snapshotID($0) }
    }

    private static func successor(of row: SnapshotRow, in db: Database) throws -> SnapshotRow? {
        let sql = """
            SELECT \(SnapshotRow.columns) FROM snapshot
            WHERE root = ? AND (sequence, seconds, nanoseconds, id) > (?, ?, ?, ?)
            ORDER BY sequence, seconds, nanoseconds, id LIMIT 1
            """
        return try Row.fetchOne(db.cachedStatement(sql: sql), arguments: row.arguments).map(SnapshotRow.init)
    }

    private static func snapshotID(_ bytes: Data) throws -> SnapshotID {
        guard let id = ChunkID(Array(bytes)) else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        return SnapshotID(id)
    }

    /// Enters the changes of the snapshot at `place`.
    func insert(_ changes: [PathChange], at place: HistoryPlace, root: Int64, into db: Database) throws {
        if changes.isEmpty { return }
        let paths = try PathRows(root, in: db)
        let insertion = try db.cachedStatement(sql: "INSERT OR IGNORE INTO change VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
        let replacement = try db.cachedStatement(sql: "REPLACE INTO change VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
        let later = try db.cachedStatement(
            sql: "SELECT 1 FROM change WHERE path = ? AND (sequence, seconds) > (?, ?) LIMIT 1")
        let update = try db.cachedStatement(sql: "UPDATE path SET isGone = ?, versions = versions + ? WHERE id = ?")
        let (sequence, seconds) = (CatalogueValue.integer(place.sequence), CatalogueValue.integer(place.seconds))
        for change in changes {
            let path = try paths.enter(change.path)
            let number = CatalogueValue.integer(path.number)
            let other = try change.other.map { CatalogueValue.integer(try paths.enter($0).number) } ?? .null
            let row: [CatalogueValue] = [
                number, sequence, seconds, .integer(root), .integer(change.kind.rawValue),
                .integer(Int64(change.object.rawValue)), .integer(Int64(clamping: change.size)), other,
                .integer(change.isEdited ? 1 : 0),
            ]
            try insertion.run(row)
            let isNew = db.changesCount > 0
            if !isNew { try replacement.run(row) }
            var isGone = change.kind == .removed
            if isGone != path.isGone, try later.firstRow([number, sequence, seconds], { _ in true }) != nil {
                isGone = path.isGone
            }
            try update.run([.integer(isGone ? 1 : 0), .integer(isNew ? 1 : 0), number])
        }
    }

    /// Removes the changes of the snapshot after a new one, which is its predecessor now.
    func forgetChanges(afterInsertionOf snapshot: ListedSnapshot, root: Int64, in db: Database) throws {
        guard let next = try Catalogue.successor(of: SnapshotRow(snapshot, root: root), in: db) else { return }
        try forgetChanges(of: next, in: db)
    }

    /// Removes the changes of a snapshot that will be removed, and those of its successor.
    func forgetChanges(beforeRemovalOf id: SnapshotID, in db: Database) throws {
        let sql = "SELECT \(SnapshotRow.columns) FROM snapshot WHERE id = ?"
        let found = try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [Data(id.chunk.bytes)])
        guard let row = try found.map(SnapshotRow.init) else { return }
        try forgetRun(holding: row, in: db)
        try Catalogue.recordStep(without: row, in: db)
        try forgetChanges(of: row, in: db)
        if let next = try Catalogue.successor(of: row, in: db) { try forgetChanges(of: next, in: db) }
    }

    /// Removes all changes of a root, after its snapshots were moved to another root.
    func forgetChanges(ofRoot root: Int64, in db: Database) throws {
        try db.execute(sql: "DELETE FROM change WHERE root = ?", arguments: [root])
        try db.execute(sql: "DELETE FROM path WHERE root = ?", arguments: [root])
        try db.execute(sql: "DELETE FROM run WHERE root = ?", arguments: [root])
        try db.execute(sql: "UPDATE snapshot SET history = 0 WHERE root = ?", arguments: [root])
    }

    private func forgetChanges(of row: SnapshotRow, in db: Database) throws {
        try db.cachedStatement(sql: "UPDATE snapshot SET history = 0 WHERE id = ? AND history <> 0")
            .execute(arguments: [row.id])
        // A snapshot without known changes has no rows to remove; thinning calls this a hundred thousand times.
        if db.changesCount == 0 { return }
        let place: [CatalogueValue] = [.integer(row.root), .integer(row.sequence), .integer(row.seconds)]
        let condition = "root = ? AND sequence = ? AND seconds = ?"
        var paths: [Int64] = []
        try db.cachedStatement(sql: "SELECT path FROM change WHERE \(condition)").forEachRow(place) { row in
            paths.append(try row.exactInteger(0))
            return true
        }
        if paths.isEmpty { return }
        try db.cachedStatement(sql: "DELETE FROM change WHERE \(condition)").run(place)
        let removal = try db.cachedStatement(
            sql: "DELETE FROM path WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM change WHERE path = ?1)")
        let update = try db.cachedStatement(
            sql: """
                UPDATE path SET versions = versions - 1, isGone = COALESCE((
                    SELECT kind = 3 FROM change WHERE path = ?1 ORDER BY sequence DESC, seconds DESC LIMIT 1
                ), 0) WHERE id = ?1
                """)
        for path in paths {
            try removal.run([.integer(path)])
            if db.changesCount == 0 { try update.run([.integer(path)]) }
        }
    }

    static func snapshot(_ id: SnapshotID, in db: Database) throws -> (listed: ListedSnapshot, root: Int64)? {
        var found: (ListedSnapshot, Int64)?
        var reader = SnapshotReader(db)
        try db.cachedStatement(sql: "SELECT \(SnapshotReader.columns) FROM snapshot WHERE id = ?")
            .forEachRow([Data(id.chunk.bytes)]) { row in
                found = (try reader.snapshot(row), row.integer(0))
                return false
            }
        return found
    }
}

// MARK: Catching up

/// A snapshot whose changes are not known yet, and the snapshot to compare it with.
package struct UnknownHistory: Sendable {
    package let snapshot: ListedSnapshot
    /// Nil for the first snapshot of the root.
    package let predecessor: ListedSnapshot?
}

/// The result of comparing a snapshot with the previous one.
package struct FoundHistory: Sendable {
    package let snapshot: ListedSnapshot
    package let predecessor: SnapshotID?
    /// Nil if they cannot be compared.
    package let changes: [PathChange]?

    package init(_ unknown: UnknownHistory, changes: [PathChange]?) {
        snapshot = unknown.snapshot
        predecessor = unknown.predecessor?.id
        self.changes = changes
    }
}

extension Catalogue {
    /// The first snapshots of a root from `start` on and before `end` whose changes are not known, at most `limit`.
    package func unknownHistory(
        root: Int64, limit: Int, from start: HistoryPlace = .start, before end: HistoryPlace = .end
    ) throws(StorageError) -> [UnknownHistory] {
        let sql = """
            SELECT \(SnapshotReader.columns) FROM snapshot INDEXED BY snapshotNotInHistory
            WHERE root = ? AND history <> 1 AND history = 0 AND (sequence, seconds) >= (?, ?)
                AND (sequence, seconds) < (?, ?)
            ORDER BY sequence, seconds, nanoseconds, id LIMIT ?
            """
        let arguments: StatementArguments = [root, start.sequence, start.seconds, end.sequence, end.seconds, limit]
        return try readTogether { db in
            var reader = SnapshotReader(db)
            var snapshots: [ListedSnapshot] = []
            try db.cachedStatement(sql: sql).forEachRow(arguments) { row in
                snapshots.append(try reader.snapshot(row))
                return true
            }
            return try snapshots.map { snapshot in
                let before = try Catalogue.predecessor(of: snapshot, root: root, in: db)
                return UnknownHistory(
                    snapshot: snapshot, predecessor: try before.flatMap { try Catalogue.snapshot($0, in: db)?.listed })
            }
        }
    }

    /// The position of the oldest of the newest `count` snapshots of a root before `end`; the start if there are fewer.
    package func place(
        ofNewest count: Int, root: Int64, before end: HistoryPlace
    ) throws(StorageError) -> HistoryPlace {
        let sql = """
            SELECT sequence, seconds FROM snapshot WHERE root = ? AND (sequence, seconds) < (?, ?)
            ORDER BY sequence DESC, seconds DESC, nanoseconds DESC, id DESC LIMIT 1 OFFSET ?
            """
        return try read { db in
            var place = HistoryPlace.start
            let arguments: StatementArguments = [root, end.sequence, end.seconds, count - 1]
            try db.cachedStatement(sql: sql).forEachRow(arguments) { row in
                place = HistoryPlace(sequence: row.integer(0), seconds: row.integer(1))
                return false
            }
            return place
        }
    }

    /// The number of snapshots of a root whose changes are not known.
    package func unknownHistoryCount(root: Int64) throws(StorageError) -> Int {
        let sql = """
            SELECT COUNT(*) FROM snapshot INDEXED BY snapshotNotInHistory
            WHERE root = ? AND history <> 1 AND history = 0
            """
        return try read { db in try Int.fetchOne(db, sql: sql, arguments: [root]) ?? 0 }
    }

    /// The snapshots of a root whose changes cannot be computed, in their order.
    package func damagedHistory(root: Int64) throws(StorageError) -> [ListedSnapshot] {
        let sql = """
            SELECT \(SnapshotReader.columns) FROM snapshot INDEXED BY snapshotNotInHistory
            WHERE root = ? AND history <> 1 AND history = 2 ORDER BY sequence, seconds, nanoseconds, id
            """
        return try read { db in
            var reader = SnapshotReader(db)
            var snapshots: [ListedSnapshot] = []
            try db.cachedStatement(sql: sql).forEachRow([root]) { row in
                snapshots.append(try reader.snapshot(row))
                return true
            }
            return snapshots
        }
    }

    /// Enters computed changes, except those of snapshots that have a different predecessor now.
    package func enter(_ found: [FoundHistory], root: Int64) throws(StorageError) {
        try write(rows: found.reduce(0) { $0 + ($1.changes?.count ?? 0) }) { db in
            for found in found {
                let snapshot = found.snapshot
                guard try Catalogue.predecessor(of: snapshot, root: root, in: db) == found.predecessor else { continue }
                let state = found.changes == nil ? HistoryState.damaged : .known
                try db.cachedStatement(sql: "UPDATE snapshot SET history = ? WHERE id = ? AND root = ? AND history = 0")
                    .execute(arguments: [state.rawValue, Data(snapshot.id.chunk.bytes), root])
                guard db.changesCount > 0, let changes = found.changes else { continue }
                try insert(changes, at: HistoryPlace(snapshot), root: root, into: db)
            }
        }
    }

    /// Removes the changes of all roots, as in a new catalogue.
    package func forgetHistory() throws(StorageError) {
        try write(rows: .max) { db in
            for root in try Int64.fetchAll(db, sql: "SELECT id FROM root") { try forgetChanges(ofRoot: root, in: db) }
        }
    }
}
