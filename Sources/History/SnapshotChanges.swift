// The changes of each snapshot between two others, also of files that only existed in between.

internal import ArchiveFormat
public import ArchiveStorage
public import Archives
public import FileIO
public import Roots
internal import SnapshotTree

/// What one snapshot changed.
public struct SnapshotChanges: Sendable {
    /// The snapshot that contains the changes.
    public let snapshot: ListedSnapshot
    /// The changes, by path.
    public let changes: [PathVersion]

    package init(snapshot: ListedSnapshot, changes: [PathVersion]) {
        (self.snapshot, self.changes) = (snapshot, changes)
    }
}

extension Archive {
    /// Returns the changes of each snapshot after `start` up to `end`, the oldest first.
    ///
    /// Reads the index of changes, not the trees.
    ///
    /// - Parameters:
    ///   - start: nil for all since the root's first snapshot.
    ///   - path: only changes at or below this path.
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func changes(
        in root: ArchivedRoot, after start: ListedSnapshot?, through end: ListedSnapshot,
        at path: RelativePath = .root, progress: OperationProgress? = nil
    ) throws(ArchiverError) -> [SnapshotChanges] {
        try facing {
            guard let number = try indexed(root, progress) else { return [] }
            let placed = try store.catalogue.changes(
                root: number, after: start.map { HistoryPlace($0) } ?? .start, through: HistoryPlace(end), at: path)
            var found: [SnapshotChanges] = []
            for group in placed.chunked(by: \.place) {
                guard let place = group.first?.place,
                    let snapshot = try store.catalogue.snapshot(at: place, root: number)
                else { continue }
                let versions = group.map { PathVersion(snapshot, $0.change) }
                found.append(SnapshotChanges(snapshot: snapshot, changes: versions))
            }
            return found
        }
    }

    /// Returns the first changes of one snapshot at or below a directory, files first, as examples of all of them.
    ///
    /// The snapshots of the versions of a directory are indexed, so this reads only what it returns.
    ///
    /// - Parameter limit: the maximum number of changes.
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func changes(
        of version: DirectoryVersion, in root: ArchivedRoot, limit: Int
    ) throws(ArchiverError) -> [PathVersion] {
        try facing {
            guard !version.isFirst, let number = try number(of: root) else { return [] }
            let placed = try store.catalogue.changes(
                at: HistoryPlace(version.snapshot), below: version.path, root: number, limit: limit)
            return placed.map { PathVersion(version.snapshot, $0.change) }
        }
    }

    /// Returns how a version differs from its predecessor; nil if neither has the path.
    ///
    /// - Throws: `ArchiverError`: `damaged` if a part of a snapshot cannot be read…
    public func difference(of version: PathVersion, in root: ArchivedRoot) throws(ArchiverError) -> Difference? {
        try facing {
            guard let number = try number(of: root) else { return nil }
            let catalogue = store.catalogue
            let before = try catalogue.snapshot(before: HistoryPlace(version.snapshot), root: number)
            let oldPath = version.change == .renamed ? version.otherPath ?? version.path : version.path
            var old = try before.flatMap { try Tree($0.tree, in: nodes).entry(at: oldPath) }
            old?.path = version.path
            let new =
                try version.isPresent ? Tree(version.snapshot.tree, in: nodes).entry(at: version.path) : nil
            return Difference(left: old, right: new)
        }
    }
}

extension Sequence {
    /// Returns the runs of neighbours with the same `key`.
    fileprivate func chunked<Key: Equatable>(by key: (Element) -> Key) -> [[Element]] {
        var runs: [[Element]] = []
        var last: Key?
        for element in self {
            let next = key(element)
            if next == last { runs[runs.count - 1].append(element) } else { runs.append([element]) }
            last = next
        }
        return runs
    }
}
