// Compares snapshots with each other and with a directory.

internal import ArchiveFormat
public import ArchiveStorage
internal import Capturing
internal import Exclusions
public import FileIO
internal import FileWatching
public import Roots
internal import SnapshotTree
public import SystemPackage

extension Archive {
    /// Calls `body` with each difference between two snapshots, in walk order, until it returns false.
    ///
    /// Subtrees that both share are not read, so the cost depends on the differences only.
    ///
    /// - Parameter path: compare only this path and what is below it.
    /// - Throws: `ArchiverError`: `damaged` if a part of a snapshot cannot be read…
    public func differences(
        from left: ListedSnapshot, to right: ListedSnapshot, at path: RelativePath = .root,
        _ body: (Difference) -> Bool
    ) throws(ArchiverError) {
        try facing {
            var diff = try TreeDiff(left: left.tree, right: right.tree, in: nodes, scope: path)
            while let found = try diff.next() {
                guard let difference = try difference(found.left, found.right) else { continue }
                guard body(difference) else { return }
            }
        }
    }

    /// The number of paths that differ between two snapshots, without directories of which only the time differs.
    func changeCounts(from left: ListedSnapshot, to right: ListedSnapshot) throws(ArchiverError) -> ChangeCounts {
        var counts = ChangeCounts()
        try differences(from: left, to: right) { difference in
            if difference.isDirectoryTimeOnly { return true }
            switch difference.kind {
            case .added: counts.added += 1
            case .removed: counts.removed += 1
            default: counts.modified += 1
            }
            return true
        }
        return counts
    }

    /// Calls `body` with each difference between a path of one snapshot and a path of another, in walk order, until it
    /// returns false.
    ///
    /// A difference has the path on the left, even if the entry exists only on the right.
    ///
    /// - Throws: `ArchiverError`: `noSuchPath` if one has nothing at its path, `damaged` if a part cannot be read…
    public func differences(
        from left: ListedSnapshot, at leftPath: RelativePath, to right: ListedSnapshot, at rightPath: RelativePath,
        _ body: (Difference) -> Bool
    ) throws(ArchiverError) {
        try facing {
            var lefts = try TreeCursor(left.tree, in: nodes)
            var rights = try TreeCursor(right.tree, in: nodes)
            try lefts.seek(to: leftPath)
            try rights.seek(to: rightPath)
            var old = try Archive.next(&lefts, below: leftPath, as: leftPath)
            var new = try Archive.next(&rights, below: rightPath, as: leftPath)
            while let path = [old?.path, new?.path].compactMap({ $0 }).min() {
                let found = try difference(old?.path == path ? old : nil, new?.path == path ? new : nil)
                if let found, !body(found) { return }
                if old?.path == path { old = try Archive.next(&lefts, below: leftPath, as: leftPath) }
                if new?.path == path { new = try Archive.next(&rights, below: rightPath, as: leftPath) }
            }
        }
    }

    /// The next entry below `top`, with its path moved from `top` to `base`; nil at the end.
    private static func next<Source: NodeSource>(
        _ cursor: inout TreeCursor<Source>, below top: RelativePath, as base: RelativePath
    ) throws(Source.Failure) -> Entry? {
        guard var entry = try cursor.next(), let rest = top.suffix(of: entry.path) else { return nil }
        entry.path = base.appending(path: rest)
        return entry
    }

    /// The difference of two entries; nil if they are equal, or differ only in how a file's content is cut into chunks.
    private func difference(_ left: Entry?, _ right: Entry?) throws -> Difference? {
        guard let left, var same = right, try haveSameBytes(left, same) else {
            return Difference(left: left, right: right)
        }
        same.content = left.content
        return same.hasSameState(as: left) ? nil : Difference(left: left, right: same)
    }

    private func haveSameBytes(_ left: Entry, _ right: Entry) throws -> Bool {
        guard left.kind == .file, right.kind == .file, left.content != right.content else { return false }
        let comparison = EqualBytes(
            slices: { try ContentReader.slices(in: $0, of: self.store) },
            contains: { try self.store.catalogue.location(of: $0) != nil })
        var bytes = StoredBytes(right.content, in: store)
        do {
            return try comparison.areSame(left.content, right.content) { try bytes.read(at: $0, $1) }
        } catch let error as StorageError where error.isAboutBytes {
            return false
        }
    }

    /// Calls `body` with each difference between a snapshot and the present directory, in walk order, until it returns
    /// false.
    ///
    /// Reads only files whose inodes show that they may have changed. The right entries name their chunks, but the
    /// chunks are not stored: read such a file from the directory. Anything excluded now or in the snapshot is not a
    /// difference.
    ///
    /// - Parameter path: compare only this path and what is below it.
    /// - Throws: `ArchiverError`: `damaged` if a part of the snapshot cannot be read, `noSuchDirectory`…
    public func differences(
        from left: ListedSnapshot, toDirectory directory: FilePath, at path: RelativePath = .root,
        _ body: (Difference) -> Bool
    ) throws(ArchiverError) {
        try facing {
            let root = try RootDirectory.open(directory)
            do {
                let own = try store.snapshot(left.id).exclusions
                // A snapshot captured with special rules is compared with those rules.
                let rules =
                    left.isAside ? own : try store.presentExclusions(ofRoot: left.rootPath, machine: left.machine)
                let scopes = SnapshotScopes(left.tree, own, in: nodes)
                try TreeScan(comparing: nodes, rules).run(root, base: left.tree, ranges: [.subtree(path)]) { change in
                    guard change.isDifference, let difference = Difference(left: change.old, right: change.new) else {
                        return
                    }
                    if let added = difference.right, difference.left == nil, try scopes.excludes(added) { return }
                    guard body(difference) else { throw Stop() }
                }
            } catch is Stop {}
        }
    }

    /// Thrown to end a scan early.
    private struct Stop: Error {}
}
