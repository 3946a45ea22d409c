// Makes a root's snapshots anew without what is to be removed from them.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Capturing
internal import FileIO
internal import SnapshotTree

/// Puts another snapshot in the place of each that has something that is to be removed, or tells of it.
///
/// The new one has the old one's place, time and label. The same archive gives the same snapshots each time: after an early end
/// the next run goes on.
struct HistoryRewrite {
    private let store: ArchiveStore
    private let nodes: StoredNodes
    private let isCancelled: @Sendable () -> Bool
    private(set) var search: PurgeSearch
    /// What stands in the place of what.
    private(set) var replaced: [SnapshotID: SnapshotID] = [:]
    /// Names that were found, and in how many snapshots of their roots.
    private(set) var names: [RelativePath: Int] = [:]
    /// Chunks of the contents that were found.
    private(set) var contents: Set<ChunkID> = []

    /// A snapshot that another one may follow, as it was and as it is.
    private struct Known {
        let id: SnapshotID
        let oldTree: ChunkID
        let newTree: ChunkID
    }

    init(_ search: PurgeSearch, in store: ArchiveStore, isCancelled: @escaping @Sendable () -> Bool) {
        self.search = search
        self.store = store
        self.isCancelled = isCancelled
        nodes = StoredNodes(store)
    }

    /// Makes those of `snapshots` anew that need it.
    ///
    /// - Parameters:
    ///   - snapshots: of one root, in their order.
    ///   - isDryRun: whether only to find them.
    mutating func run(_ snapshots: [ListedSnapshot], isDryRun: Bool) throws {
        var known: [SnapshotID: Known] = [:]
        for record in snapshots {
            if isCancelled() { throw StorageError.cancelled(store.layout.directory) }
            let snapshot = try store.snapshot(record.id)
            let parent = snapshot.parent.flatMap { known[$0] }
            let found = try search.entries(in: snapshot.tree)
            for entry in found { try recordContent(of: entry) }
            // What follows one that had it tells that it went.
            let isFollowing = parent.map { $0.oldTree != $0.newTree } ?? false
            guard try !found.isEmpty || isFollowing || search.touches(snapshot) else {
                known[record.id] = Known(id: record.id, oldTree: snapshot.tree, newTree: snapshot.tree)
                continue
            }
            if isDryRun {
                replaced[record.id] = record.id
                count(found)
                continue
            }
            var new = snapshot
            new.label = record.label
            if let parent { new.parent = parent.id }
            let written = try write(new, without: found, parent)
            known[record.id] = Known(id: written.id, oldTree: snapshot.tree, newTree: written.tree)
            count(found)
            if written.id != record.id { replaced[record.id] = written.id }
        }
    }

    private mutating func count(_ found: [Entry]) {
        for entry in found { names[entry.path, default: 0] += 1 }
    }

    private mutating func recordContent(of entry: Entry) throws {
        switch entry.content {
        case .none, .inline, .linkTarget: return
        case .slices(let slices): contents.formUnion(slices.compactMap(\.chunk))
        case .sliceLists(let lists):
            for list in lists where contents.insert(list.list).inserted {
                contents.formUnion(try ContentReader.slices(in: list, of: store).compactMap(\.chunk))
            }
        }
    }

    /// Stores `old` without the entries `found`.
    private func write(
        _ old: Snapshot, without found: [Entry], _ parent: Known?
    ) throws -> (id: SnapshotID, tree: ChunkID) {
        let epoch = try store.beginEpoch()
        defer { withExtendedLifetime(epoch) {} }
        let commit = try store.beginCommit()
        do {
            var new = old
            new.tree = try tree(old.tree, without: found, commit)
            new.totals = found.reduce(into: old.totals) { $0.remove($1) }
            try setChanges(of: &new, from: old.tree, found, parent)
            let id = SnapshotID(ChunkID(hashing: new.encoded()))
            // It may have been made before an early end.
            if try store.catalogue.hasSnapshot(id) {
                commit.abandon()
            } else {
                _ = try commit.commit(new, base: parent.flatMap { try store.base($0.id.chunk) })
            }
            return (id, new.tree)
        } catch {
            commit.abandon()
            throw error
        }
    }

    private func tree(_ base: ChunkID, without found: [Entry], _ commit: CommitWriter) throws -> ChunkID {
        if found.isEmpty { return base }
        let writer = NodeWriter(store, commit: commit, level: Capture.changeLevel)
        var editor = try TreeEditor(base: base, source: nodes, sink: writer, shape: nodes.shape)
        for entry in found { try editor.apply(.remove(entry.path)) }
        let tree = try editor.finish()
        try writer.flush()
        return tree
    }

    /// Says of a snapshot, which had the tree `old`, how it differs from the one before, as that is now.
    private func setChanges(
        of snapshot: inout Snapshot, from old: ChunkID, _ found: [Entry], _ parent: Known?
    ) throws {
        let gone = Set(found.map(\.path))
        var matcher = search.matcher
        snapshot.problems.removeAll { gone.contains($0.path) || matcher.names($0.path, isDirectory: true) }
        guard let parent else {
            let before = snapshot.changedPaths.count
            snapshot.changedPaths.removeAll { gone.contains($0.path) || matcher.names($0.path, isDirectory: true) }
            let count = snapshot.parent == nil ? gone.count : before - snapshot.changedPaths.count
            snapshot.changes.added -= min(snapshot.changes.added, UInt64(count))
            return
        }
        var tally = ChangeTally(parent: nil)
        // The new trees are not in the archive yet.
        var diff = try TreeDiff(left: parent.oldTree, right: old, in: nodes)
        while let next = try diff.next() {
            let left = try next.left.flatMap { try matcher.matches($0) ? nil : $0 }
            let right = try next.right.flatMap { try matcher.matches($0) ? nil : $0 }
            tally.add(ScanChange(old: left, new: right))
        }
        (snapshot.changes, snapshot.changedPaths) = (tally.counts, tally.changedPaths)
    }
}

extension Totals {
    /// Counts `entry` no more.
    fileprivate mutating func remove(_ entry: Entry) {
        switch entry.kind {
        case .file: files -= min(files, 1)
        case .directory: directories -= min(directories, 1)
        default: others -= min(others, 1)
        }
        bytes -= min(bytes, entry.size)
    }
}
