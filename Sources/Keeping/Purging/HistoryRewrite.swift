// Rewrites a root's snapshots without the purged entries.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Capturing
internal import FileIO
internal import SnapshotTree

/// Replaces each snapshot that holds or mentions a purged entry.
///
/// The new snapshot has the old one's sequence, time and label. The same archive always yields the same snapshots, so
/// the next run continues after an interruption.
struct HistoryRewrite {
    private let store: ArchiveStore
    private let nodes: StoredNodes
    private let isCancelled: @Sendable () -> Bool
    private(set) var search: PurgeSearch
    /// The replacement of each rewritten snapshot.
    private(set) var replaced: [SnapshotID: SnapshotID] = [:]
    /// The names found, with the number of snapshots that have each.
    private(set) var names: [RelativePath: Int] = [:]
    /// The chunks of the contents and attributes found.
    private(set) var contents: Set<ChunkID> = []

    /// A snapshot that may be the parent of a later one, before and after the rewrite.
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

    /// Rewrites each of `snapshots` that needs it.
    ///
    /// - Parameters:
    ///   - snapshots: those of one root, in their order.
    ///   - isDryRun: whether only to find them.
    mutating func run(_ snapshots: [ListedSnapshot], isDryRun: Bool) throws {
        var known: [SnapshotID: Known] = [:]
        for listed in snapshots {
            if isCancelled() { throw StorageError.cancelled(store.layout.directory) }
            let snapshot = try store.snapshot(listed.id)
            let parent = snapshot.parent.flatMap { known[$0] }
            let found = try search.entries(in: snapshot.tree)
            for entry in found { try entry.forEachContent { try record($0) } }
            // If the parent was rewritten, the changes of this snapshot may name purged entries.
            let isFollowing = parent.map { $0.oldTree != $0.newTree } ?? false
            guard try !found.isEmpty || isFollowing || search.touches(snapshot) else {
                known[listed.id] = Known(id: listed.id, oldTree: snapshot.tree, newTree: snapshot.tree)
                continue
            }
            if isDryRun {
                replaced[listed.id] = listed.id
                count(found)
                continue
            }
            var new = snapshot
            new.label = listed.label
            if let parent { new.parent = parent.id }
            let written = try write(new, without: found, parent)
            known[listed.id] = Known(id: written.id, oldTree: snapshot.tree, newTree: written.tree)
            count(found)
            if written.id != listed.id { replaced[listed.id] = written.id }
        }
    }

    private mutating func count(_ found: [Entry]) {
        for entry in found { names[entry.path, default: 0] += 1 }
    }

    private mutating func record(_ content: Content) throws {
        switch content {
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
            // An interrupted run may have stored it already.
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

    /// Sets the changes of a snapshot, which had the tree `old`, against its parent as it is now.
    private func setChanges(
        of snapshot: inout Snapshot, from old: ChunkID, _ found: [Entry], _ parent: Known?
    ) throws {
        let gone = Set(found.map(\.path))
        func isPurged(_ path: RelativePath) throws -> Bool {
            try gone.contains(path) || search.names(path, inListOf: old)
        }
        try snapshot.problems.removeAll { try isPurged($0.path) }
        guard let parent else {
            let before = snapshot.changedPaths.count { $0.change == .added }
            try snapshot.changedPaths.removeAll { try isPurged($0.path) }
            let after = snapshot.changedPaths.count { $0.change == .added }
            let count = snapshot.parent == nil ? gone.count : before - after
            snapshot.changes.added -= min(snapshot.changes.added, UInt64(count))
            return
        }
        var matcher = search.matcher
        var tally = ChangeTally(parent: nil)
        // The new trees are not in the archive yet, so compare the old ones without the purged entries.
        var diff = try TreeDiff(left: parent.oldTree, right: old, in: nodes)
        while let next = try diff.next() {
            let left = try next.left.flatMap { try matcher.matches($0) ? nil : $0 }
            let right = try next.right.flatMap { try matcher.matches($0) ? nil : $0 }
            tally.add(ScanChange(old: left, new: right))
        }
        (snapshot.changes, snapshot.changedPaths) = (tally.counts, tally.changedPaths)
        try snapshot.changedPaths.removeAll { try isPurged($0.path) }
    }
}

extension Totals {
    /// Subtracts `entry`.
    fileprivate mutating func remove(_ entry: Entry) {
        switch entry.kind {
        case .file: files -= min(files, 1)
        case .directory: directories -= min(directories, 1)
        default: others -= min(others, 1)
        }
        bytes -= min(bytes, entry.size)
    }
}
