// Finds the entries to purge; each tree node is read once, however many snapshots share it.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Roots
internal import SnapshotTree

/// Searches trees, snapshots and saved states for a purge's target.
struct PurgeSearch {
    private let store: ArchiveStore
    private let nodes: StoredNodes
    private let progress: OperationProgress?
    private(set) var matcher: PurgeMatcher
    /// The nodes read so far, and whether each, or a node below it, has an entry to purge.
    private(set) var visited: [ChunkID: Bool] = [:]

    init(_ target: PurgeTarget, in store: ArchiveStore, _ progress: OperationProgress?) throws {
        self.store = store
        self.progress = progress
        nodes = StoredNodes(store)
        matcher = try PurgeMatcher(target, in: store)
    }

    /// The nodes that have an entry to purge, in themselves or below.
    var touchedNodes: [ChunkID] { visited.filter(\.value).map(\.key) }

    /// Returns the entries of a tree to purge, in walk order.
    mutating func entries(in tree: ChunkID) throws -> [Entry] {
        if matcher.text != nil { return [] }
        guard try isTouched(tree, level: nil) else { return [] }
        var found: [Entry] = []
        try collect(tree, level: nil, into: &found)
        return found
    }

    /// Whether a snapshot names anything to purge, in its tree, its own lists or its own label.
    mutating func touches(_ snapshot: Snapshot) throws -> Bool {
        if matcher.text != nil { return matcher.isIn(snapshot.label) }
        let isNamed =
            try snapshot.changedPaths.contains { try names($0.path, inListOf: snapshot.tree) }
            || snapshot.problems.contains { try names($0.path, inListOf: snapshot.tree) }
        return try isNamed || isTouched(snapshot.tree, level: nil)
    }

    /// Whether the target names a path that a snapshot lists as changed or as a problem.
    ///
    /// The lists do not say which paths are directories: the snapshot's tree does. A path that the tree does not have
    /// counts as a directory, so no name of a removed directory stays.
    func names(_ path: RelativePath, inListOf tree: ChunkID) throws -> Bool {
        if matcher.names(path, isDirectory: false) { return true }
        guard matcher.names(path, isDirectory: true) else { return false }
        return try Tree(tree, in: nodes).entry(at: path).map { $0.kind == .directory } ?? true
    }

    /// Whether a saved state belongs to the target.
    mutating func touches(_ state: StateRecord) throws -> Bool {
        if matcher.text != nil { return matcher.isIn(state.label) }
        return try matcher.matches(state.content)
    }

    private mutating func isTouched(_ id: ChunkID, level: Int?) throws -> Bool {
        if let known = visited[id] { return known }
        var isTouched = false
        switch try nodes.node(id, level: level) {
        case .leaf(let entries):
            progress?.add(entries: entries.count)
            for entry in entries where try matcher.matches(entry) {
                isTouched = true
                break
            }
        case .inner(let level, let children):
            for child in children where try self.isTouched(child.id, level: level - 1) { isTouched = true }
        }
        visited[id] = isTouched
        return isTouched
    }

    private mutating func collect(_ id: ChunkID, level: Int?, into found: inout [Entry]) throws {
        switch try nodes.node(id, level: level) {
        case .leaf(let entries):
            for entry in entries where try matcher.matches(entry) { found.append(entry) }
        case .inner(let level, let children):
            for child in children where visited[child.id] ?? true {
                try collect(child.id, level: level - 1, into: &found)
            }
        }
    }
}
