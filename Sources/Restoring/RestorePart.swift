// One part of a root and its wanted state: the steps that lead there, and their application.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Capturing
internal import Exclusions
internal import FileIO
internal import FileWatching
internal import Roots
internal import SnapshotTree

/// A part of a root that a restore in place brings into its wanted state.
struct RestorePart {
    let source: RestoreSource
    /// The rules that exempt paths; nil if nothing is wanted, as when the creation of a root is undone.
    let rules: RestoreRules?

    var path: RelativePath { source.path }

    /// - Parameters:
    ///   - exclusions: the root's exclusions.
    ///   - reversed: the operation to reverse, if any.
    init(
        _ source: RestoreSource, in root: RootDirectory, _ exclusions: ExclusionRules, _ reversed: ReversedOperation?,
        leavesRepositories: Bool
    ) throws {
        self.source = source
        rules = try source.snapshot.map { snapshot in
            try RestoreRules(
                source, snapshot, in: root, exclusions, reversed, leavesRepositories: leavesRepositories)
        }
    }

    /// Whether the part is excluded, so that it is restored only because the user named it.
    var isNamed: Bool { rules?.isNamed ?? false }

    /// The paths that the restore leaves alone.
    ///
    /// Finding them visits all steps, so damage in the trees is found here, before anything is changed.
    func leftAlone(from present: ChunkID) throws -> LeftAlone {
        guard let rules else { return LeftAlone() }
        return try rules.leftAlone { body in try forEachStep(from: present, body) }
    }

    // MARK: Applying

    /// Applies the steps with `writer`.
    ///
    /// - Parameters:
    ///   - present: the tree of the present state; nil if there is none.
    ///   - exclusions: the root's exclusions.
    ///   - changed: gets the places that the restore changes.
    func apply(
        with writer: RestoreWriter, from present: ChunkID?, _ exclusions: ExclusionRules, _ leftAlone: LeftAlone,
        changed: inout DirtySet, _ onAction: ((RestoreAction) -> Void)?
    ) throws {
        let firstMade = try source.entry() == nil ? nil : writer.makeParents(of: path)
        if let firstMade { changed.mark(.subtree(firstMade)) }
        // A part that is restored only because the user named it is excluded from later snapshots. The capture before
        // the restore included it, so the capture after the restore must remove it from the tree.
        if isNamed {
            changed.mark(.subtree(path))
            var holder = path.parent
            while let directory = holder, !directory.isRoot {
                changed.mark(.entry(directory))
                holder = directory.parent
            }
        }
        try writer.run {
            try forEachStep(from: present) { step in
                if leftAlone.contains(step) { return }
                if let action = step.action { onAction?(action) }
                changed.mark(step, exclusions)
                try writer.apply(step)
            }
        }
    }

    /// The amount of work; reads only the nodes that differ.
    func work(from present: ChunkID?) throws -> (entries: UInt64, bytes: UInt64) {
        var (entries, bytes): (UInt64, UInt64) = (0, 0)
        try forEachStep(from: present) { step in
            guard let action = step.action else { return }
            entries += 1
            bytes = bytes.addingSaturating(action.bytes)
        }
        return (entries, bytes)
    }

    /// Calls `body` with each step in walk order.
    private func forEachStep(from present: ChunkID?, _ body: (RestoreStep) throws -> Void) throws {
        guard let present else {
            return try source.forEachEntry { try body(RestoreStep(path: $0.path, present: nil, wanted: $0)) }
        }
        guard let wanted = source.snapshot else {
            return try Tree(present, in: source.nodes).forEachEntry(at: source.path) { entry in
                // The root itself stays.
                if !entry.path.isRoot { try body(RestoreStep(path: entry.path, present: entry, wanted: nil)) }
            }
        }
        var diff = try TreeDiff(left: present, right: wanted.tree, in: source.nodes, scope: source.path)
        while let found = try diff.next() {
            guard let path = found.left?.path ?? found.right?.path else { continue }
            try body(RestoreStep(path: path, present: found.left, wanted: found.right))
        }
    }

    /// The wanted state of a directory that has no step.
    ///
    /// Directories above the path are not restored and stay as they were.
    func wantedDirectory(at path: RelativePath, from present: ChunkID?) throws -> Entry? {
        let isPart = source.path.contains(path) && source.snapshot != nil
        if let present, !isPart, let entry = try Tree(present, in: source.nodes).entry(at: path) { return entry }
        return try source.entry(at: path)
    }

    /// The names of hard-linked files that the restore does not touch, by file.
    func unchangedLinks(from present: ChunkID?) throws -> [LinkIdentity: RelativePath] {
        guard let present else { return [:] }
        let presentTree = Tree(present, in: source.nodes)
        var links: [LinkIdentity: RelativePath] = [:]
        try source.forEachEntryAnywhere { entry in
            guard let identity = LinkIdentity(entry), links[identity] == nil else { return }
            guard var now = try presentTree.entry(at: entry.path) else { return }
            // A name outside of the restored part may be the only one left.
            if !source.path.contains(entry.path), now.linkGroup == nil,
                now.signature?.inode == entry.linkGroup
            {
                now.linkGroup = entry.linkGroup
            }
            if now.hasSameState(as: entry) { links[identity] = entry.path }
        }
        return links
    }

    // MARK: Planning

    /// The steps of the restore, found by scanning the root itself.
    func steps(in root: RootDirectory, _ exclusions: ExclusionRules) throws -> [RestoreStep] {
        var steps: [RestoreStep] = []
        let foreseen = isNamed ? ForeseenRules(named: [path]) : nil
        let scan = TreeScan(comparing: source.nodes, exclusions, foreseen: foreseen, removesExcluded: true)
        try scan.run(root, base: source.snapshot?.tree, ranges: [.subtree(path)]) { change in
            guard change.isDifference, let path = change.path else { return }
            // An unreadable path is treated as unchanged; the restore itself finds out.
            if change.problem != nil, change.new == nil { return }
            let step = RestoreStep(path: path, present: change.new, wanted: change.old)
            if step.wanted == nil, step.path.isRoot { return }
            steps.append(step)
        }
        return steps
    }
}

extension DirtySet {
    /// Marks the places that `step` changes: its path and the directory of the path.
    fileprivate mutating func mark(_ step: RestoreStep, _ rules: ExclusionRules) {
        let holder = step.path.parent ?? .root
        // A changed ignore file changes which paths in the directory are excluded.
        mark(DirectoryRules.decides(step.path.name, rules) ? .subtree(holder) : .entry(holder))
        mark(.entry(step.path))
    }
}
