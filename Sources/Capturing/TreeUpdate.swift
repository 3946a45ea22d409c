// The new tree of a capture. It is begun at the first change that matters, so a capture without one writes nothing.

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
    private let scannedUntil: Timestamp?
    private let takesSignatures: Bool
    /// Whether a change that matters was added.
    private var hasChanged = false
    private var editor: TreeEditor<StoredNodes, NodeWriter>?
    /// Changes before the first that matters; they are applied only if one follows.
    private var waiting: [ScanChange] = []
    private var hasForgotten = false
    private var parents: ParentCheck
    private(set) var tally: ChangeTally
    /// The changes for the index of paths; nil if the tree has no base.
    private var pathChanges: PathChanges?
    /// The finished tree, even if nothing that matters changed; nil if it is the base.
    private(set) var seen: ChunkID?

    /// How many minor changes are held; the next capture finds the others again.
    private static let waitingLimit = 4096

    /// - Parameters:
    ///   - base: the tree that the changes start from; nil for the empty tree.
    ///   - takesDirectoryTimes: whether a directory's time alone is a change that matters.
    ///   - scannedUntil: when the scan of everything in the base had ended. If a directory changed before that and the
    ///     base has another time for it, it changed between the scan of itself and of its entries: its time matters.
    ///   - takesSignatures: whether `seen` includes changes of signatures alone, which do not matter.
    init(
        base: ChunkID?, parent: Snapshot?, nodes: StoredNodes, writer: NodeWriter, takesDirectoryTimes: Bool,
        scannedUntil: Timestamp?, takesSignatures: Bool
    ) {
        self.base = base
        self.nodes = nodes
        self.writer = writer
        self.takesDirectoryTimes = takesDirectoryTimes
        // A time in the future, left by a clock that was set back, proves nothing.
        self.scannedUntil = scannedUntil.flatMap { $0 <= .now ? $0 : nil }
        self.takesSignatures = takesSignatures
        tally = ChangeTally(parent: parent)
        pathChanges = base == nil ? nil : PathChanges(limit: PathChanges.commitLimit)
        parents = ParentCheck(base: base, nodes: nodes)
    }

    /// Adds the next change in walk order.
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

    /// Records a problem: an object that the tree does not have as it is.
    mutating func add(_ problem: Problem) throws { try add(ScanChange(old: nil, new: nil, problem: problem)) }

    private func matters(_ change: ScanChange) -> Bool {
        if takesDirectoryTimes || !change.isDirectoryTimeOnly { return true }
        guard let scannedUntil, let new = change.new else { return false }
        return new.modified <= scannedUntil
    }

    /// Places for a later capture: changes that this one found and did not apply, because nothing that matters changed.
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

    /// How the tree differs from the base.
    ///
    /// Nil if there is no base, if there are more changes than a commit records, or if only reading contents shows which
    /// files were renamed: then the first query does that, so that no capture waits for it.
    func changes() throws -> [PathChange]? {
        try pathChanges.flatMap { try $0.isOverfull ? nil : $0.linked(isNext: true, contents: nil) }
    }

    /// Finishes the tree.
    ///
    /// - Throws: `StorageError` with the code `damaged` if it would have an entry without its directory.
    /// - Returns: its root node; nil if nothing that matters changed.
    mutating func finish() throws -> ChunkID? {
        try parents.finish()
        guard let root = try editor?.finish() else { return nil }
        try writer.flush()
        seen = root
        return hasChanged ? root : nil
    }
}
