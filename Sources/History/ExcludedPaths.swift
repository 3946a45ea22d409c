// Tells an exclusion from a deletion: a snapshot after one that was captured aside may lack paths that it excludes.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import Capturing
internal import Exclusions
internal import FileIO

/// Answers whether a snapshot lacks a path because its rules exclude it.
final class ExcludedPaths {
    private let archive: Archive
    private var known: [SnapshotID: (scopes: SnapshotScopes, sizes: (UInt64) -> Bool)] = [:]

    init(_ archive: Archive) { self.archive = archive }

    /// Whether the removed object may still have existed: `before` was captured aside and had it, and `after` excludes it.
    ///
    /// - Parameters:
    ///   - before: the last snapshot with the object.
    ///   - after: the first one without it.
    func explain(_ removal: PathChange, after before: ListedSnapshot, in after: ListedSnapshot) throws -> Bool {
        guard before.isAside else { return false }
        if known[after.id] == nil {
            let snapshot = try archive.store.snapshot(after.id)
            let scopes = SnapshotScopes(snapshot.tree, snapshot.exclusions, in: archive.nodes)
            known[after.id] = (scopes, { snapshot.exclusions.excludes(fileOfSize: $0) })
        }
        guard let (scopes, isTooLarge) = known[after.id] else { return false }
        if removal.object == .file, isTooLarge(removal.size) { return true }
        return try scopes.excludes(removal.path, isDirectory: removal.object == .directory)
    }
}
