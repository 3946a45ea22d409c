// Finds the history of a directory that was captured at another path, or on another machine.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
package import Roots
package import SystemPackage

extension Archive {
    /// Continues the history of the directory at `path` if it was moved there from the path of a root.
    ///
    /// - Returns: the root that it continues, or that it may be related to; nil if there is none, or if the archive has
    ///   snapshots of a root at `path`.
    package func continueHistory(of directory: RootDirectory) throws -> RelatedRoot? {
        let path = directory.path
        guard try store.catalogue.latestSnapshot(ofRoot: path.bytes, machine: Machine.id) == nil else { return nil }
        let others = try roots().filter { !$0.isHere || $0.path != path }
        var candidates: [RelatedRoot] = []
        if let identity = directory.identity {
            for root in others where root.isHere {
                guard let relation = Archive.relation(of: root.path, to: directory),
                    try self.identity(of: root) == identity
                else { continue }
                candidates.append(RelatedRoot(root, relation))
            }
        }
        if let moved = candidates.first(where: { $0.relation == .moved }) {
            try record(moved.root, movedTo: path, joining: nil)
            return moved
        }
        return candidates.first
            ?? others.first { !$0.isHere && $0.path == path }.map { RelatedRoot($0, .otherMachine) }
    }

    /// The root that was moved to `directory` or above it, and was not captured there yet; nil if there is none.
    package func movedRoot(holding directory: FilePath) throws(ArchiverError) -> ArchivedRoot? {
        try facing {
            let here = try roots().filter(\.isHere)
            var path = try RootDirectory.resolved(directory)
            repeat {
                guard let opened = try? RootDirectory.open(path), let identity = opened.identity else { continue }
                for root in here where Archive.relation(of: root.path, to: opened) == .moved {
                    if root.path != path, try self.identity(of: root) == identity { return root }
                }
            } while path.removeLastComponent()
            return nil
        }
    }

    /// The root that has the history of a root which was at `path` on this machine; nil if none was moved from there.
    package func root(movedFrom path: FilePath) throws(ArchiverError) -> ArchivedRoot? {
        try facing {
            guard let notice = try store.catalogue.latestNotice(path: path.bytes, machine: Machine.id),
                notice.newPath != nil
            else { return nil }
            let place = try store.catalogue.place(ofRoot: path.bytes, on: Machine.id, at: notice.time)
            return try roots().first { $0.path.bytes == place.path && $0.machine == place.machine }
        }
    }

    /// How a root at `path` is related to `directory` if that was there before; nil if `path` leads elsewhere.
    private static func relation(of path: FilePath, to directory: RootDirectory) -> RelatedRoot.Relation? {
        do {
            let found = try RootDirectory.open(path)
            if found.path == directory.path { return .moved }
            return found.status.isSameObject(as: directory.status) ? nil : .replaced
        } catch let error as ArchiverError {
            return error.code == .noSuchDirectory || error.code == .notDirectory ? .moved : nil
        } catch {
            return nil
        }
    }

    /// The identity of the directory that the latest snapshot of `root` was made of; nil if it is unknown.
    private func identity(of root: ArchivedRoot) throws -> ChunkID? {
        guard let latest = try store.catalogue.latestSnapshot(ofRoot: root.path.bytes, machine: root.machine) else {
            return nil
        }
        do throws(StorageError) { return try store.snapshot(latest.id).directory } catch {
            guard error.code == .damaged else { throw error }
            return nil
        }
    }
}
