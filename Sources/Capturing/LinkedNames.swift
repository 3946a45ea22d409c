// Hard links: a change through one name of a file changes all its names, but the kernel reports only that name.

internal import ArchiveFormat
internal import FileIO
internal import FileWatching
internal import SnapshotTree
internal import Threading

/// Collects the hard-linked files among a scan's changes, to find their other names.
struct LinkedNames {
    fileprivate var changes: [RelativePath: (old: UInt64?, new: UInt64?)] = [:]
    /// The file's change time when each name was read; nil if that is uncertain.
    private var times: [RelativePath: Timestamp?] = [:]
    /// Inodes of files with several names: the tree is searched by inode for a file that had one name only.
    private(set) var inodes: Set<UInt64> = []

    /// Adds the next change.
    mutating func add(_ change: ScanChange) {
        guard change.old != change.new, let path = change.path else { return }
        let groups = (old: change.old?.linkGroup, new: change.new?.linkGroup)
        guard groups.old != nil || groups.new != nil else { return }
        changes[path] = groups
        times[path] = .some(change.new?.signature?.changed)
        for entry in [change.old, change.new] {
            if let entry, let group = entry.linkGroup { inodes.insert(entry.signature?.inode ?? group) }
        }
    }

    /// Whether the hard-linked file at `path` is among the scan's changes.
    func contains(_ path: RelativePath) -> Bool { changes[path] != nil }

    /// Names of files that changed between the readings of their names: each name may have another state.
    var torn: [PathRange] {
        let names = Dictionary(grouping: changes.filter { $0.value.new != nil }, by: \.value.new)
        let differing = names.values.filter { names in
            let states = Set(names.map { times[$0.key] ?? nil })
            return names.count > 1 && (states.count > 1 || states.contains(nil))
        }
        return differing.flatMap { $0.map { .entry($0.key) } }
    }

    fileprivate var groups: Set<UInt64> {
        Set(changes.values.flatMap { [$0.old, $0.new] }.compactMap { $0 })
    }
}

/// The names of a root's hard-linked files, reused from capture to capture.
package final class LinkIndex: Sendable {
    private struct State {
        /// The tree that the names come from; nil before the first hard link.
        var tree: ChunkID?
        var names: [UInt64: Set<RelativePath>] = [:]
    }

    private let state = Locked(State())

    package init() {}

    /// Returns the names in `tree` of the changed files, except those among the scan's changes.
    ///
    /// Visits the whole tree if the index is of another one, or if a file got its second name. That does not access the
    /// root's file system.
    ///
    /// - Parameter withSingle: whether to also search for files that have only one name in the tree.
    func otherNames(
        of changed: LinkedNames, in tree: ChunkID, _ nodes: StoredNodes, withSingle: Bool
    ) throws -> [PathRange] {
        let groups = changed.groups
        if groups.isEmpty { return [] }
        var state = state.withLock { $0 }
        if state.tree != tree { state = State(tree: tree, names: try LinkIndex.names(in: tree, nodes)) }
        var others = groups.flatMap { state.names[$0] ?? [] }
        if withSingle, groups.contains(where: { state.names[$0] == nil }) {
            others += try LinkIndex.singleNames(of: changed.inodes, in: tree, nodes)
        }
        self.state.withLock { $0 = state }
        return others.filter { changed.changes[$0] == nil }.map { .entry($0) }
    }

    /// Updates the index from the tree `parent` to `tree`, which differs by `changed`.
    func update(_ changed: LinkedNames, to tree: ChunkID, from parent: ChunkID?) {
        state.withLock { state in
            guard state.tree != nil, state.tree == parent else { return }
            state.tree = tree
            for (path, groups) in changed.changes {
                if let old = groups.old {
                    state.names[old]?.remove(path)
                    // Drop a group without names: its file may have one name left, which is in no group.
                    if state.names[old]?.isEmpty ?? false { state.names[old] = nil }
                }
                if let new = groups.new { state.names[new, default: []].insert(path) }
            }
        }
    }

    private static func names(in tree: ChunkID, _ nodes: StoredNodes) throws -> [UInt64: Set<RelativePath>] {
        var names: [UInt64: Set<RelativePath>] = [:]
        var cursor = try TreeCursor(tree, in: nodes)
        while let entry = try cursor.next() {
            if let group = entry.linkGroup { names[group, default: []].insert(entry.path) }
        }
        return names
    }

    /// The names of files that had only one when they were captured.
    private static func singleNames(
        of inodes: Set<UInt64>, in tree: ChunkID, _ nodes: StoredNodes
    ) throws -> [RelativePath] {
        var found: [RelativePath] = []
        var cursor = try TreeCursor(tree, in: nodes)
        while let entry = try cursor.next() {
            guard entry.kind != .directory, entry.linkGroup == nil else { continue }
            // An entry without a signature (it changed just before it was read) has no known inode, so include it.
            if entry.signature.map({ inodes.contains($0.inode) }) ?? true { found.append(entry.path) }
        }
        return found
    }
}
