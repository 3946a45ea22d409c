// Where a path that a snapshot lacks was last, or which names are similar.

internal import ArchiveFormat
public import ArchiveStorage
public import Archives
public import FileIO
public import Roots

/// What is known about a path that a snapshot lacks.
public enum Whereabouts: Sendable, Hashable {
    /// It was deleted before: its last name, the first snapshot without it, and the last one with it.
    case deleted(as: RelativePath, in: ListedSnapshot, last: ListedSnapshot)
    /// It was renamed, and the snapshot asked for holds it under the new name.
    case renamed(to: RelativePath, in: ListedSnapshot)
    /// What is called so later had this name in the snapshot asked for.
    case calledBefore(RelativePath)
    /// It was added later.
    case addedLater(in: ListedSnapshot)
    /// No snapshot of the root ever held it; these paths of the snapshot have similar names.
    case unknown(nearest: [RelativePath])
}

extension Archive {
    /// The most snapshots that are compared just for an error's text.
    private static let comparedSnapshots = 2000
    /// The most names that are examined.
    private static let comparedNames = 200_000
    private static let namesGiven = 3

    /// Returns what happened to `path`, which `snapshot` lacks.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func whereabouts(
        of path: RelativePath, missingFrom snapshot: ListedSnapshot
    ) throws(ArchiverError) -> Whereabouts {
        try facing {
            if let known = try recorded(path, snapshot) { return known }
            return .unknown(nearest: try nearestNames(to: path, in: snapshot))
        }
    }

    private func recorded(_ path: RelativePath, _ snapshot: ListedSnapshot) throws -> Whereabouts? {
        let catalogue = store.catalogue
        guard let root = try catalogue.root(path: snapshot.rootPath, machine: snapshot.machine)?.number,
            try catalogue.unknownHistoryCount(root: root) <= Archive.comparedSnapshots
        else { return nil }
        try HistoryIndexing(archive: self, progress: nil).run(root: root)
        let changes = try catalogue.changes(of: path, root: root)
        if let known = try fate(of: path, in: snapshot, changes, root: root) { return known }
        guard let first = changes.last, first.change.kind == .added else { return nil }
        if let name = try earlierName(of: path, in: snapshot, root: root) { return .calledBefore(name) }
        return try catalogue.snapshot(at: first.place, root: root).map { .addedLater(in: $0) }
    }

    /// Returns the name that the object first called `path` after `snapshot` has in it; nil if it is not there.
    private func earlierName(of path: RelativePath, in snapshot: ListedSnapshot, root: Int64) throws -> RelativePath? {
        let end = HistoryPlace(snapshot)
        var name = path
        // Each rename must be earlier than the one before, so that the loop ends.
        var latest: HistoryPlace?
        while true {
            let changes = try store.catalogue.changes(of: name, root: root)
            let came = changes.last { change in
                change.place > end && change.change.kind == .added && latest.map { change.place <= $0 } ?? true
            }
            guard let came, let other = came.change.other, came.place != latest else { break }
            (name, latest) = (other, came.place)
        }
        guard name != path else { return nil }
        return try entry(at: name, in: snapshot).map { _ in name }
    }

    /// Returns what happened to a path up to `snapshot`, following renames; nil if it was not there before.
    private func fate(
        of path: RelativePath, in snapshot: ListedSnapshot, _ changes: [PlacedChange], root: Int64
    ) throws -> Whereabouts? {
        let end = HistoryPlace(snapshot)
        var (name, changes) = (path, changes)
        var renamed: Whereabouts?
        // Each rename must be later than the one before, so that the loop ends.
        var earliest: HistoryPlace?
        while let last = changes.first(where: { $0.place <= end }), last.change.kind == .removed,
            earliest.map({ $0 < last.place }) ?? true,
            let gone = try store.catalogue.snapshot(at: last.place, root: root)
        {
            guard let other = last.change.other else {
                let before = try store.catalogue.snapshot(before: last.place, root: root)
                return before.map { .deleted(as: name, in: gone, last: $0) }
            }
            renamed = .renamed(to: other, in: gone)
            (name, earliest) = (other, last.place)
            changes = try store.catalogue.changes(of: other, root: root)
        }
        return renamed
    }

    /// Returns paths with the same name elsewhere, and names in the same directory that differ in few letters.
    private func nearestNames(to path: RelativePath, in snapshot: ListedSnapshot) throws -> [RelativePath] {
        let name = Archive.folded(path.name)
        let limit = max(1, name.count / 4)
        var found: [(distance: Int, path: RelativePath)] = []
        var looked = 0
        try forEachEntry(in: snapshot) { entry in
            looked += 1
            let isNear = entry.path.parent == path.parent
            let other = Archive.folded(entry.path.name)
            if !entry.path.isRoot, let distance = Archive.distance(name, other, limit: limit), isNear || distance == 0 {
                found.append((distance + (isNear ? 0 : 1), entry.path))
            }
            return looked < Archive.comparedNames
        }
        return found.sorted { ($0.distance, $0.path) < ($1.distance, $1.path) }.prefix(Archive.namesGiven).map(\.path)
    }

    private static func folded(_ name: ArraySlice<UInt8>) -> [UInt8] {
        name.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }

    /// Returns how many bytes have to be replaced, removed or inserted; nil for more than `limit`.
    private static func distance(_ left: [UInt8], _ right: [UInt8], limit: Int) -> Int? {
        if abs(left.count - right.count) > limit { return nil }
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let next = min(row[j + 1] + 1, row[j] + 1, diagonal + (a == b ? 0 : 1))
                diagonal = row[j + 1]
                row[j + 1] = next
            }
        }
        return row[right.count] <= limit ? row[right.count] : nil
    }
}
