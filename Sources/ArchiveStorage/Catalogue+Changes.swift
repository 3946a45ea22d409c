// Asking the index of paths: what changed at a path, below a directory, between two snapshots; what is gone.

package import ArchiveFormat
package import FileIO
internal import Foundation
internal import GRDB

/// How much a snapshot changed in a directory.
package struct PlacedCounts: Sendable, Hashable {
    package let place: HistoryPlace
    package let counts: ChangeCounts
}

extension Catalogue {
    /// What happened at `path` before `end`, the newest first.
    package func changes(
        of path: RelativePath, root: Int64, before end: HistoryPlace = .end, limit: Int? = nil
    ) throws(StorageError) -> [PlacedChange] {
        let sql = """
            SELECT path.path, change.sequence, change.seconds, kind, object, size, other.path
            FROM path JOIN change ON change.path = path.id LEFT JOIN path AS other ON other.id = change.other
            WHERE path.root = ? AND path.path = ? AND (change.sequence, change.seconds) < (?, ?)
            ORDER BY change.sequence DESC, change.seconds DESC LIMIT ?
            """
        return try placedChanges(
            sql, [root, Data(path.bytes), end.sequence, end.seconds, Int64(clamping: limit ?? -1)])
    }

    /// What happened behind `start` up to `end`, in the order of snapshots; at `path` and below it.
    package func changes(
        root: Int64, after start: HistoryPlace, through end: HistoryPlace, at path: RelativePath = .root
    ) throws(StorageError) -> [PlacedChange] {
        let sql = """
            SELECT path.path, change.sequence, change.seconds, kind, object, size, other.path
            FROM change JOIN path ON path.id = change.path LEFT JOIN path AS other ON other.id = change.other
            WHERE change.root = ? AND (change.sequence, change.seconds) > (?, ?)
                AND (change.sequence, change.seconds) <= (?, ?)
            ORDER BY change.sequence, change.seconds, path.path
            """
        let changes = try placedChanges(sql, [root, start.sequence, start.seconds, end.sequence, end.seconds])
        return path.isRoot ? changes : changes.filter { path.contains($0.change.path) }
    }

    /// How much each snapshot before `end` changed at the directory `path` and below it, the newest first.
    package func counts(
        below path: RelativePath, root: Int64, before end: HistoryPlace = .end, limit: Int? = nil
    ) throws(StorageError) -> [PlacedCounts] {
        let paths = path.isRoot ? "" : "AND \(Catalogue.isBelow)"
        let sql = """
            SELECT change.sequence, change.seconds, SUM(kind = 1), SUM(kind = 2 OR kind = 4), SUM(kind = 3), COUNT(*)
            FROM path JOIN change ON change.path = path.id
            WHERE change.root = ? AND path.root = change.root AND (change.sequence, change.seconds) < (?, ?) \(paths)
            GROUP BY change.sequence, change.seconds
            ORDER BY change.sequence DESC, change.seconds DESC LIMIT ?
            """
        var arguments: StatementArguments = [root, end.sequence, end.seconds]
        if !path.isRoot { arguments += Catalogue.range(below: path) }
        arguments += [Int64(clamping: limit ?? -1)]
        return try read { db in
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

    /// What removed the paths that are gone, at `path` and below it, by path.
    package func removals(root: Int64, at path: RelativePath = .root) throws(StorageError) -> [PlacedChange] {
        let paths = path.isRoot ? "" : "AND \(Catalogue.isBelow)"
        let sql = """
            SELECT path.path, change.sequence, change.seconds, kind, object, size, other.path
            FROM path JOIN change ON change.path = path.id LEFT JOIN path AS other ON other.id = change.other
            WHERE path.root = ? AND path.isGone \(paths) AND (change.sequence, change.seconds) = (
                SELECT sequence, seconds FROM change WHERE path = path.id ORDER BY sequence DESC, seconds DESC LIMIT 1)
            ORDER BY path.path
            """
        return try placedChanges(sql, [root] + (path.isRoot ? [] : Catalogue.range(below: path)))
    }

    /// Calls `body` with the paths that some snapshot behind the first has changed.
    package func forEachChangedPath(root: Int64, _ body: (RelativePath) throws -> Void) throws(StorageError) {
        try read { db in
            try db.cachedStatement(sql: "SELECT path FROM path WHERE root = ? ORDER BY path").forEachRow([root]) {
                row in
                counters.changesRead.add()
                try body(try Catalogue.path(row.bytes(0)))
                return true
            }
        }
    }

    /// The snapshot at a place of a root's history; nil where there is none.
    package func snapshot(at place: HistoryPlace, root: Int64) throws(StorageError) -> SnapshotRecord? {
        let sql = """
            SELECT \(SnapshotReader.columns) FROM snapshot WHERE root = ? AND sequence = ? AND seconds = ?
            ORDER BY nanoseconds, id LIMIT 1
            """
        return try record(sql, [root, place.sequence, place.seconds])
    }

    /// The last snapshot of a root before a place; nil where there is none.
    package func snapshot(before place: HistoryPlace, root: Int64) throws(StorageError) -> SnapshotRecord? {
        let sql = """
            SELECT \(SnapshotReader.columns) FROM snapshot WHERE root = ? AND (sequence, seconds) < (?, ?)
            ORDER BY sequence DESC, seconds DESC, nanoseconds DESC, id DESC LIMIT 1
            """
        return try record(sql, [root, place.sequence, place.seconds])
    }

    /// The first snapshot of a root.
    package func firstSnapshot(root: Int64) throws(StorageError) -> SnapshotRecord? {
        try snapshots(SnapshotFilter(of: root, limit: 1)).first
    }

    private func record(_ sql: String, _ arguments: StatementArguments) throws(StorageError) -> SnapshotRecord? {
        try read { db in
            var found: SnapshotRecord?
            var reader = SnapshotReader(db)
            try db.cachedStatement(sql: sql).forEachRow(arguments) { row in
                found = try reader.record(row)
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
            other: row.isNull(6) ? nil : try path(row.bytes(6)))
        return PlacedChange(
            place: HistoryPlace(sequence: row.integer(1), seconds: row.integer(2)), change: change)
    }

    private static func path(_ bytes: UnsafeRawBufferPointer) throws -> RelativePath {
        guard let path = RelativePath(Array(bytes)) else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        return path
    }

    /// The condition for a path and all below it; `/` is followed by `0`.
    private static let isBelow = "path.path >= ? AND path.path < ? AND (path.path = ? OR path.path > ?)"

    private static func range(below path: RelativePath) -> StatementArguments {
        let name = Data(path.bytes)
        return [name, name + [UInt8(ascii: "0")], name, name + [UInt8(ascii: "/")]]
    }
}
