// Queries of the index of paths: what changed at a path, below a directory or between two snapshots, and what was
// removed.

package import ArchiveFormat
package import FileIO
internal import Foundation
internal import GRDB

/// How much a snapshot changed below a directory.
package struct PlacedCounts: Sendable, Hashable {
    package let place: HistoryPlace
    package let counts: ChangeCounts
}

/// The first and the last change of a path.
package struct ChangeEnds: Sendable, Hashable {
    package let first: PlacedChange
    package let last: PlacedChange
    /// The number of changes.
    package let count: Int
    /// Whether an object at the path was ever larger than the given size; true if no size was given.
    package let isLarger: Bool
}

extension Catalogue {
    /// The changes of `path` before `end`, the newest first.
    package func changes(
        of path: RelativePath, root: Int64, before end: HistoryPlace = .end, limit: Int? = nil
    ) throws(StorageError) -> [PlacedChange] {
        let sql = """
            SELECT path.path, change.sequence, change.seconds, kind, object, size, other.path,
                isEdited
            FROM path JOIN change ON change.path = path.id LEFT JOIN path AS other ON other.id = change.other
            WHERE path.root = ? AND path.path = ? AND (change.sequence, change.seconds) < (?, ?)
            ORDER BY change.sequence DESC, change.seconds DESC LIMIT ?
            """
        return try placedChanges(
            sql, [root, Data(path.bytes), end.sequence, end.seconds, Int64(clamping: limit ?? -1)])
    }

    /// The changes at `path` and below it after `start` up to `end`, in the order of snapshots.
    package func changes(
        root: Int64, after start: HistoryPlace, through end: HistoryPlace, at path: RelativePath = .root
    ) throws(StorageError) -> [PlacedChange] {
        let sql = """
            SELECT path.path, change.sequence, change.seconds, kind, object, size, other.path,
                isEdited
            FROM change JOIN path ON path.id = change.path LEFT JOIN path AS other ON other.id = change.other
            WHERE change.root = ? AND (change.sequence, change.seconds) > (?, ?)
                AND (change.sequence, change.seconds) <= (?, ?)
            ORDER BY change.sequence, change.seconds, path.path
            """
        let changes = try placedChanges(sql, [root, start.sequence, start.seconds, end.sequence, end.seconds])
        return path.isRoot ? changes : changes.filter { path.contains($0.change.path) }
    }

    /// The first changes of one snapshot at `path` and below it: files before directories, then by path.
    package func changes(
        at place: HistoryPlace, below path: RelativePath, root: Int64, limit: Int
    ) throws(StorageError) -> [PlacedChange] {
        let sql = """
            SELECT path.path, change.sequence, change.seconds, kind, object, size, other.path,
                isEdited
            FROM change JOIN path ON path.id = change.path LEFT JOIN path AS other ON other.id = change.other
            WHERE change.root = ? AND change.sequence = ? AND change.seconds = ? \(path.isRoot ? "" : "AND \(Catalogue.isBelow)")
            ORDER BY object = \(FileKind.directory.rawValue), path.path LIMIT ?
            """
        let range = path.isRoot ? [] : Catalogue.range(below: path)
        return try placedChanges(sql, [root, place.sequence, place.seconds] + range + [limit])
    }

    /// The counts of each snapshot's changes at the directory `path` and below it before `end`, the newest first.
    ///
    /// - Parameter limit: the most snapshots; with a limit, only the latest changes of each path are read.
    package func counts(
        below path: RelativePath, root: Int64, before end: HistoryPlace = .end, limit: Int? = nil
    ) throws(StorageError) -> [PlacedCounts] {
        let sums = "SUM(kind = 1), SUM(kind = 2 OR kind = 4), SUM(kind = 3), COUNT(*)"
        let order = """
            GROUP BY change.sequence, change.seconds ORDER BY change.sequence DESC, change.seconds DESC LIMIT ?
            """
        if path.isRoot {
            let sql = """
                SELECT sequence, seconds, \(sums) FROM change WHERE root = ? AND (sequence, seconds) < (?, ?) \(order)
                """
            return try counts(sql, [root, end.sequence, end.seconds, Int64(clamping: limit ?? -1)])
        }
        let start = try limit.map { limit throws(StorageError) in
            try startOfNewest(limit, below: path, root: root, before: end)
        }
        let sql = """
            SELECT change.sequence, change.seconds, \(sums)
            FROM path CROSS JOIN change ON change.path = path.id
            WHERE path.root = ? AND \(Catalogue.isBelow) AND (change.sequence, change.seconds) < (?, ?)
                AND (change.sequence, change.seconds) >= (?, ?) \(order)
            """
        let (low, high) = (start ?? .start, end)
        let places: StatementArguments = [
            high.sequence, high.seconds, low.sequence, low.seconds, Int64(clamping: limit ?? -1),
        ]
        return try counts(sql, [root] + Catalogue.range(below: path) + places)
    }

    private func counts(_ sql: String, _ arguments: StatementArguments) throws(StorageError) -> [PlacedCounts] {
        try read { db in
            var found: [PlacedCounts] = []
            try db.cachedStatement(sql: sql).forEachRow(arguments) { row in
                counters.changesRead.add(Int(row.integer(5)))
                let counts = ChangeCounts(added: row.number(2), modified: row.number(3), removed: row.number(4))
                let place = HistoryPlace(sequence: row.integer(0), seconds: row.integer(1))
                found.append(PlacedCounts(place: place, counts: counts))
                return true
            }
            return found
        }
    }

    /// The position of the oldest of the newest `limit` snapshots that changed something below `path`.
    ///
    /// Once `limit` positions are found, each further path is queried only for changes newer than the oldest of them.
    private func startOfNewest(
        _ limit: Int, below path: RelativePath, root: Int64, before end: HistoryPlace
    ) throws(StorageError) -> HistoryPlace {
        let names = "SELECT id FROM path WHERE root = ? AND \(Catalogue.isBelow)"
        let newest = """
            SELECT sequence, seconds FROM change WHERE path = ? AND (sequence, seconds) < (?, ?) AND (sequence, seconds) > (?, ?)
            ORDER BY sequence DESC, seconds DESC LIMIT ?
            """
        return try readTogether { db in
            let changes = try db.cachedStatement(sql: newest)
            // Ascending, so the newest position is last.
            var places: [HistoryPlace] = []
            try db.cachedStatement(sql: names).forEachRow([root] + Catalogue.range(below: path)) { name in
                let start: HistoryPlace = places.count < limit ? .start : places[0]
                let arguments: StatementArguments = [
                    name.integer(0), end.sequence, end.seconds, start.sequence, start.seconds, limit,
                ]
                try changes.forEachRow(arguments) { row in
                    counters.changesRead.add()
                    let place = HistoryPlace(sequence: row.integer(0), seconds: row.integer(1))
                    let index = places.firstIndex { $0 >= place } ?? places.count
                    if index < places.count, places[index] == place { return true }
                    places.insert(place, at: index)
                    if places.count > limit { places.removeFirst() }
                    return places.count < limit || places[0] < place
                }
                return true
            }
            return places.count < limit ? .start : places[0]
        }
    }

    /// The last time before `end` that another path was renamed to `path`.
    package func renaming(
        to path: RelativePath, root: Int64, before end: HistoryPlace
    ) throws(StorageError) -> PlacedChange? {
        let sql = """
            SELECT path.path, change.sequence, change.seconds, kind, object, size, other.path,
                isEdited
            FROM path JOIN change INDEXED BY changeOfName ON change.path = path.id
                JOIN path AS other ON other.id = change.other
            WHERE path.root = ? AND path.path = ? AND (change.sequence, change.seconds) < (?, ?) AND kind = 1
                AND change.other IS NOT NULL
            ORDER BY change.sequence DESC, change.seconds DESC LIMIT 1
            """
        return try placedChanges(sql, [root, Data(path.bytes), end.sequence, end.seconds]).first
    }

    /// The changes that removed the paths which no longer exist, at `path` and below it, by path.
    package func removals(root: Int64, at path: RelativePath = .root) throws(StorageError) -> [PlacedChange] {
        let paths = path.isRoot ? "" : "AND \(Catalogue.isBelow)"
        let sql = """
            SELECT path.path, change.sequence, change.seconds, kind, object, size, other.path,
                isEdited
            FROM path JOIN change ON change.path = path.id LEFT JOIN path AS other ON other.id = change.other
            WHERE path.root = ? AND path.isGone \(paths) AND (change.sequence, change.seconds) = (
                SELECT sequence, seconds FROM change WHERE path = path.id ORDER BY sequence DESC, seconds DESC LIMIT 1)
            ORDER BY path.path
            """
        return try placedChanges(sql, [root] + (path.isRoot ? [] : Catalogue.range(below: path)))
    }

    /// Paths that are read per query: meanwhile, other queries of this process wait.
    private static let pathStep = 1024

    /// Calls `body` with each path that a snapshot after the first has changed, in the order of their bytes, until it
    /// returns false.
    package func forEachChangedPath(root: Int64, _ body: (RelativePath) -> Bool) throws(StorageError) {
        var last: RelativePath?
        while true {
            let paths = try changedPaths(root: root, after: last)
            for path in paths where !body(path) { return }
            guard paths.count == Catalogue.pathStep else { return }
            last = paths.last
        }
    }

    private func changedPaths(root: Int64, after last: RelativePath?) throws(StorageError) -> [RelativePath] {
        let sql = """
            SELECT path FROM path WHERE root = ? AND path \(last == nil ? ">=" : ">") ? ORDER BY path LIMIT ?
            """
        return try read { db in
            var paths: [RelativePath] = []
            let arguments: StatementArguments = [root, Data(last?.bytes ?? []), Catalogue.pathStep]
            try db.cachedStatement(sql: sql).forEachRow(arguments) { row in
                counters.namesRead.add()
                paths.append(try Catalogue.path(row.bytes(0)))
                return true
            }
            return paths
        }
    }

    /// The first and the last change of a path; nil if no snapshot after the first has changed it.
    ///
    /// - Parameter size: in bytes, for `isLarger`; nil if no size matters.
    package func ends(of path: RelativePath, root: Int64, largerThan size: UInt64?) throws(StorageError) -> ChangeEnds?
    {
        func sql(_ order: String) -> String {
            """
            SELECT path.path, sequence, seconds, kind, object, size, NULL, isEdited, versions
            FROM path JOIN change ON change.path = path.id
            WHERE path.root = ? AND path.path = ? ORDER BY sequence \(order), seconds \(order) LIMIT 1
            """
        }
        let larger = """
            SELECT 1 FROM path JOIN change ON change.path = path.id WHERE path.root = ? AND path.path = ? AND size > ? LIMIT 1
            """
        let arguments: StatementArguments = [root, Data(path.bytes)]
        return try readTogether { db in
            var ends: [PlacedChange] = []
            var count = 0
            for order in ["ASC", "DESC"] {
                try db.cachedStatement(sql: sql(order)).forEachRow(arguments) { row in
                    ends.append(try Catalogue.placedChange(row))
                    count = Int(clamping: row.integer(8))
                    return false
                }
            }
            counters.changesRead.add(ends.count)
            guard let first = ends.first, let last = ends.last else { return nil }
            let isLarger = try size.map { size in
                let found = try Int.fetchOne(
                    db.cachedStatement(sql: larger), arguments: arguments + [Int64(clamping: size)])
                return found != nil
            }
            return ChangeEnds(first: first, last: last, count: count, isLarger: isLarger ?? true)
        }
    }

    /// The snapshot at a position in a root's history; nil if there is none.
    package func snapshot(at place: HistoryPlace, root: Int64) throws(StorageError) -> ListedSnapshot? {
        let sql = """
            SELECT \(SnapshotReader.columns) FROM snapshot WHERE root = ? AND sequence = ? AND seconds = ?
            ORDER BY nanoseconds, id LIMIT 1
            """
        return try snapshot(sql, [root, place.sequence, place.seconds])
    }

    /// The last snapshot of a root before a position; nil if there is none.
    package func snapshot(before place: HistoryPlace, root: Int64) throws(StorageError) -> ListedSnapshot? {
        let sql = """
            SELECT \(SnapshotReader.columns) FROM snapshot WHERE root = ? AND (sequence, seconds) < (?, ?)
            ORDER BY sequence DESC, seconds DESC, nanoseconds DESC, id DESC LIMIT 1
            """
        return try snapshot(sql, [root, place.sequence, place.seconds])
    }

    /// The first snapshot of a root at or after a position that was not captured aside; nil if there is none.
    package func regularSnapshot(from place: HistoryPlace, root: Int64) throws(StorageError) -> ListedSnapshot? {
        let sql = """
            SELECT \(SnapshotReader.columns) FROM snapshot WHERE root = ? AND (sequence, seconds) >= (?, ?)
            ORDER BY sequence, seconds, nanoseconds, id
            """
        return try read { db in
            var found: ListedSnapshot?
            var reader = SnapshotReader(db)
            try db.cachedStatement(sql: sql).forEachRow([root, place.sequence, place.seconds]) { row in
                let listed = try reader.snapshot(row)
                if !listed.isAside { found = listed }
                return listed.isAside
            }
            return found
        }
    }

    /// The first snapshot of a root.
    package func firstSnapshot(root: Int64) throws(StorageError) -> ListedSnapshot? {
        try snapshots(SnapshotFilter(of: root, limit: 1)).first
    }

    private func snapshot(_ sql: String, _ arguments: StatementArguments) throws(StorageError) -> ListedSnapshot? {
        try read { db in
            var found: ListedSnapshot?
            var reader = SnapshotReader(db)
            try db.cachedStatement(sql: sql).forEachRow(arguments) { row in
                found = try reader.snapshot(row)
                counters.snapshotsRead.add()
                return false
            }
            return found
        }
    }

    private func placedChanges(
        _ sql: String, _ arguments: StatementArguments
    ) throws(StorageError) -> [PlacedChange] {
        try read { db in
            var found: [PlacedChange] = []
            try db.cachedStatement(sql: sql).forEachRow(arguments) { row in
                found.append(try Catalogue.placedChange(row))
                return true
            }
            counters.changesRead.add(found.count)
            return found
        }
    }

    private static func placedChange(_ row: CatalogueRow) throws -> PlacedChange {
        guard let kind = PathChange.Kind(rawValue: row.integer(3)),
            let object = UInt8(exactly: row.integer(4)).flatMap({ FileKind(rawValue: $0) })
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        let change = PathChange(
            path: try path(row.bytes(0)), kind: kind, object: object, size: row.number(5),
            other: row.isNull(6) ? nil : try path(row.bytes(6)), isEdited: row.integer(7) != 0)
        return PlacedChange(
            place: HistoryPlace(sequence: row.integer(1), seconds: row.integer(2)), change: change)
    }

    private static func path(_ bytes: UnsafeRawBufferPointer) throws -> RelativePath {
        guard let path = RelativePath(Array(bytes)) else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        return path
    }

    /// The condition for a path and everything below it; `0` is the byte after `/`.
    private static let isBelow = "path.path >= ? AND path.path < ? AND (path.path = ? OR path.path > ?)"

    private static func range(below path: RelativePath) -> StatementArguments {
        let name = Data(path.bytes)
        return [name, name + [UInt8(ascii: "0")], name, name + [UInt8(ascii: "/")]]
    }
}
