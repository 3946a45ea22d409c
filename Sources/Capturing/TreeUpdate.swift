// The new tree of a capture: begun at the first change that matters, so that a capture without one writes nothing.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import FileWatching
internal import SnapshotTree

/// Turns a capture's changes into a new tree.
struct TreeUpdate {
    private let base: ChunkID?
    private let nodes: StoredNodes
    private let writer: NodeWriter
    private let takesDirectoryTimes: Bool
    private let lookedUntil: Timestamp?
    private let takesSignatures: Bool
    /// Whether a change that matters has come.
    private var hasChanged = false
    private var editor: TreeEditor<StoredNodes, NodeWriter>?
    /// Changes before the first that matters; they go into the tree only if one comes.
    private var waiting: [ScanChange] = []
    private var hasForgotten = false
    private var parents: ParentCheck
    private(set) var tally: ChangeTally
    /// For the index of paths; nil where the tree is not made of a base.
    private var pathChanges: PathChanges?
    /// The finished tree, also where nothing that matters changed; nil where it is the base.
    private(set) var seen: ChunkID?

    /// Minor changes kept; those beyond are found again by the next capture.
    private static let waitingLimit = 4096

    /// - Parameters:
    ///   - base: the tree that the changes start from; nil for the tree of nothing.
    ///   - takesDirectoryTimes: whether a directory's time alone is a change that matters.
    ///   - lookedUntil: when everything had been looked at that is in the base. A directory that changed before, and has
    ///     another time there, changed between the looks at it and at what is in it: its time matters.
    ///   - takesSignatures: whether changes of signatures alone, which do not matter, are wanted in `seen`.
    init(
        base: ChunkID?, parent: Snapshot?, nodes: StoredNodes, writer: NodeWriter, takesDirectoryTimes: Bool,
        lookedUntil: Timestamp?, takesSignatures: Bool
    ) {
        self.base = base
        self.nodes = nodes
        self.writer = writer
        self.takesDirectoryTimes = takesDirectoryTimes
        // A time to come, which a clock that was set back leaves behind, tells nothing.
        self.lookedUntil = lookedUntil.flatMap { $0 <= .now ? $0 : nil }
        self.takesSignatures = takesSignatures
        tally = ChangeTally(parent: parent)
        pathChanges = base == nil ? nil : PathChanges(limit: PathChanges.commitLimit)
        parents = ParentCheck(base: base, nodes: nodes)
    }

    /// Takes the next change in walk order.
    mutating func add(_ change: ScanChange) throws {
        if let problem = change.problem { tally.add(problem) }
        guard change.path != nil else { return }
        guard change.old != change.new else { return }
        if !hasChanged { hasChanged = change.isDifference && matters(change) }
        if editor == nil {
            guard hasChanged || takesSignatures else {
                if waiting.count < TreeUpdate.waitingLimit { waiting.append(change) } else { hasForgotten = true }
                return
            }
            editor = try TreeEditor(base: base, source: nodes, sink: writer, shape: nodes.shape)
            for earlier in waiting { try apply(earlier) }
            waiting = []
        }
        try apply(change)
    }

    /// Records that something is not in the tree as it is.
    mutating func add(_ problem: Problem) throws { try add(ScanChange(old: nil, new: nil, problem: problem)) }

    private func matters(_ change: ScanChange) -> Bool {
        if takesDirectoryTimes || !change.isDirectoryTimeOnly { return true }
        guard let lookedUntil, let new = change.new else { return false }
        return new.modified <= lookedUntil
    }

    /// Where a later capture has to look to take what this one found and left out because nothing that matters changed.
    var deferred: [PathRange] {
        if editor != nil { return [] }
        let directories = waiting.filter(\.isDirectoryTimeOnly).compactMap { $0.path.map(PathRange.entry) }
        return hasForgotten && !directories.isEmpty ? [.subtree(.root)] : directories
    }

    private mutating func apply(_ change: ScanChange) throws {
        guard let path = change.path else { return }
        try parents.add(path, old: change.old, new: change.new)
        tally.add(change)
        pathChanges?.add(change.old, change.new)
        try editor?.apply(change.new.map { .put($0) } ?? .remove(path))
    }

    /// How the tree differs from the base; nil where there is none, or where that is more than a commit is given.
    var changes: [PathChange]? { pathChanges.flatMap { $0.isOverfull ? nil : $0.linked() } }

    /// Finishes the tree.
    ///
    /// - Throws: `StorageError` of the code `damaged` where it would hold something without its directory.
    /// - Returns: its root node; nil where nothing that matters changed.
    mutating func finish() throws -> ChunkID? {
        try parents.finish()
        guard let root = try editor?.finish() else { return nil }
        try writer.flush()
        seen = root
        return hasChanged ? root : nil
    }
}
