// What happened between two snapshots, as it happened: also what came and went in between.

internal import ArchiveFormat
public import ArchiveStorage
public import Archives
public import FileIO
public import Roots
internal import SnapshotTree

/// What one snapshot changed.
public struct SnapshotChanges: Sendable {
    public let snapshot: ListedSnapshot
    /// By path.
    public let changes: [PathVersion]
}

extension Archive {
    /// What the snapshots behind `start` up to `end` changed, each by itself, the oldest first.
    ///
    /// Reads the changes alone, and no tree.
    ///
    /// - Parameters:
    ///   - start: nil for all since the root's first snapshot.
    ///   - path: where to look: there and below.
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

    /// How a version differs from the one before it; nil where it cannot be told from it.
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
    /// Runs of neighbours of which `key` is the same.
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
