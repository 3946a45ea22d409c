// Deleted files and directories of a root, and the last snapshots that have them.

public import ArchiveStorage
public import Archives
public import FileIO
public import Roots

/// A file or directory that was deleted.
public struct DeletedPath: Sendable, Hashable {
    /// The path that no longer exists.
    public let path: RelativePath
    /// What was there.
    public let kind: FileKind
    /// Its size in bytes; 0 for a directory.
    public let size: UInt64
    /// How many files and directories were deleted with it, if it is a directory.
    public let contained: Int
    /// The first snapshot without it; not one captured aside, which may exclude it.
    public let deletedIn: ListedSnapshot
    /// The last snapshot that has it, from which it can be restored.
    public let lastIn: ListedSnapshot
}

extension Archive {
    /// Returns what was deleted at `path` and below and is still gone, the latest deletion first.
    ///
    /// A deleted directory counts its contents instead of listing them. A renamed file is not deleted.
    ///
    /// - Parameter since: only what was deleted at this instant or later.
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func deletedPaths(
        in root: ArchivedRoot, at path: RelativePath = .root, since: Timestamp? = nil,
        progress: OperationProgress? = nil
    ) throws(ArchiverError) -> [DeletedPath] {
        try facing {
            guard let number = try indexed(root, progress) else { return [] }
            let removals = try store.catalogue.removals(root: number, at: path).filter { $0.change.other == nil }
            var (tops, contained) = DeletedPath.folded(removals)
            tops.sort { $0.place != $1.place ? $0.place > $1.place : $0.change.path < $1.change.path }
            var found: [DeletedPath] = []
            let excluded = ExcludedPaths(self)
            var places: [HistoryPlace: (deletedIn: ListedSnapshot, lastIn: ListedSnapshot)] = [:]
            for removal in tops {
                if places[removal.place] == nil {
                    // A snapshot captured aside lacks paths that it excludes: only a later one shows their deletion.
                    guard let deletedIn = try store.catalogue.regularSnapshot(from: removal.place, root: number),
                        let lastIn = try store.catalogue.snapshot(before: removal.place, root: number)
                    else { continue }
                    places[removal.place] = (deletedIn, lastIn)
                }
                guard let (deletedIn, lastIn) = places[removal.place] else { continue }
                if let since, deletedIn.time < since { continue }
                let change = removal.change
                if try excluded.explain(change, after: lastIn, in: deletedIn) { continue }
                found.append(
                    DeletedPath(
                        path: change.path, kind: change.object, size: change.size,
                        contained: contained[change.path] ?? 0, deletedIn: deletedIn, lastIn: lastIn))
            }
            return found
        }
    }
}

extension DeletedPath {
    /// Returns the topmost deleted paths, and how many paths were deleted below each.
    fileprivate static func folded(
        _ removals: [PlacedChange]
    ) -> (tops: [PlacedChange], contained: [RelativePath: Int]) {
        var places: [RelativePath: HistoryPlace] = [:]
        for removal in removals { places[removal.change.path] = removal.place }
        var tops: [PlacedChange] = []
        var contained: [RelativePath: Int] = [:]
        for removal in removals {
            var top = removal.change.path
            while let parent = top.parent, places[parent] == removal.place { top = parent }
            if top == removal.change.path { tops.append(removal) } else { contained[top, default: 0] += 1 }
        }
        return (tops, contained)
    }
}
