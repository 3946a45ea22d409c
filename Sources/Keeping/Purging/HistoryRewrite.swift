// Rewrites a root's snapshots without the purged entries.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Capturing
internal import FileIO
internal import SnapshotTree

/// Replaces each snapshot that holds or mentions a purged entry.
///
/// The new snapshot has the old one's sequence, time and label. Each replacement is one commit, and is written into the
/// mark of the unfinished purge before. So the next run continues after an interruption, and no snapshot is listed twice.
struct HistoryRewrite {
    private let store: ArchiveStore
    private let nodes: StoredNodes
    private let isCancelled: @Sendable () -> Bool
    private(set) var search: PurgeSearch
    /// The replacement of each rewritten snapshot.
    private(set) var replaced: [SnapshotID: SnapshotID] = [:]
    /// The names found, with the number of snapshots that have each.
    private(set) var names: [RelativePath: Int] = [:]
    /// The bytes of the contents and attributes found.
    private(set) var contents = PurgedContents()
    private(set) var mark: UnfinishedPurge
    /// The replacements made by earlier calls that were interrupted.
    private var earlier: [SnapshotID: SnapshotID] = [:]

    /// A snapshot that may be the parent of a later one, as it is now.
    private struct Known {
        let id: SnapshotID
        /// A tree to compare with: equal to the present one, apart from purged entries.
        let tree: ChunkID
        let isRewritten: Bool
    }

    init(
        _ search: PurgeSearch, _ mark: UnfinishedPurge, in store: ArchiveStore,
        isCancelled: @escaping @Sendable () -> Bool
    ) {
        self.search = search
        self.store = store
        self.isCancelled = isCancelled
        nodes = StoredNodes(store)
        self.mark = mark
    }

    /// Records that every snapshot was rewritten that needs it.
    mutating func finish() throws { try mark.finishReplacing() }

    /// Rewrites each of `snapshots` that needs it.
    ///
    /// - Parameters:
    ///   - snapshots: those of one root, in their order.
    ///   - isDryRun: whether only to find them.
    mutating func run(_ snapshots: [ListedSnapshot], isDryRun: Bool) throws {
        if !isDryRun { earlier = try mark.replaced() }
        var known: [SnapshotID: Known] = [:]
        for listed in snapshots {
            if isCancelled() { throw StorageError.cancelled(store.layout.directory) }
            let snapshot = try store.snapshot(listed.id)
            let parent = try snapshot.parent.flatMap { try known[$0] ?? self.earlier(replacementOf: $0) }
            let found = try search.entries(in: snapshot.tree)
            for entry in found { try entry.forEachContent { try contents.add($0, in: store) } }
            // If the parent was rewritten, the changes of this snapshot may name purged entries.
            guard try !found.isEmpty || parent?.isRewritten ?? false || search.touches(snapshot) else {
                known[listed.id] = Known(id: listed.id, tree: snapshot.tree, isRewritten: false)
                continue
            }
            if isDryRun {
                replaced[listed.id] = listed.id
                count(found)
                continue
            }
            var new = snapshot
            new.label = search.matcher.isIn(listed.label) ? nil : listed.label
            if let parent { new.parent = parent.id }
            let written = try write(new, of: listed.id, without: found, parent)
            known[listed.id] = Known(
                id: written.id, tree: snapshot.tree, isRewritten: written.tree != snapshot.tree)
            count(found)
            if written.id != listed.id { replaced[listed.id] = written.id }
        }
    }

    /// The replacement that an interrupted call made of a snapshot.
    ///
    /// Its own tree is used to compare: of the old one, a prune may have removed parts in the meantime.
    private func earlier(replacementOf old: SnapshotID) throws -> Known? {
        guard let new = earlier[old], try store.catalogue.hasSnapshot(new) else { return nil }
        return Known(id: new, tree: try store.snapshot(new).tree, isRewritten: true)
    }

    private mutating func count(_ found: [Entry]) {
        for entry in found { names[entry.path, default: 0] += 1 }
    }

    /// Stores `old` without the entries `found`, in place of the snapshot `id`.
    private mutating func write(
        _ old: Snapshot, of replaced: SnapshotID, without found: [Entry], _ parent: Known?
    ) throws -> (id: SnapshotID, tree: ChunkID) {
        let epoch = try store.beginEpoch()
        defer { withExtendedLifetime(epoch) {} }
        let commit = try store.beginCommit()
        do {
            var new = old
            new.tree = try tree(old.tree, without: found, commit)
            new.totals = found.reduce(into: old.totals) { $0.remove($1) }
            try setChanges(of: &new, from: old.tree, found, parent)
            let bytes = try encoding(of: new, inPlaceOf: replaced)
            let id = SnapshotID(ChunkID(hashing: bytes))
            if id == replaced {
                commit.abandon()
            } else {
                try mark.add(replaced, replacedBy: id)
                _ = try commit.commit(
                    new, as: bytes, replacing: replaced, base: parent.flatMap { try store.base($0.id.chunk) })
            }
            return (id, new.tree)
        } catch {
            commit.abandon()
            throw error
        }
    }

    /// The encoding of `new`, with the fields of later programs that the snapshot `old` has.
    private func encoding(of new: Snapshot, inPlaceOf old: SnapshotID) throws -> [UInt8] {
        let bytes = try store.read(old.chunk)
        do { return try new.encoded(keepingUnknownOf: bytes) } catch { throw try store.undecodable(old.chunk, error) }
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
        // Both trees may be older ones: compare them without the purged entries.
        var diff = try TreeDiff(left: parent.tree, right: old, in: nodes)
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
