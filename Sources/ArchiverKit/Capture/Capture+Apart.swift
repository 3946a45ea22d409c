// A large file is captured apart: it is read while other captures go on, and committed on top of what they made.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import FileWatching
internal import SnapshotTree

extension Capture {
    /// Captures the file at `path` and nothing else.
    ///
    /// The root's capture lock is held for the commit only. The new snapshot is the latest one, whoever made it meanwhile,
    /// with this file as it was read.
    ///
    /// - Parameters:
    ///   - locking: takes the root's capture lock.
    ///   - mayCommit: asked under that lock, as are the others.
    ///   - lastLook: what the caller saw last of the root.
    ///   - committed: told the new snapshot and the one that it is made of.
    /// - Returns: nil where something else has to be captured first, or captured the file meanwhile: nothing was committed.
    func captureApart(
        _ root: RootDirectory, _ path: RelativePath, locking: () throws -> FileLock, mayCommit: () throws -> Bool,
        lastLook: () -> LastLook?, committed: (SnapshotRecord, SnapshotRecord) -> Void
    ) throws -> CaptureResult? {
        guard let (_, base, _) = try plainBase(of: root) else { return nil }
        let commit = try store.beginCommit()
        do {
            let time = Timestamp.now
            guard let change = try read(path, of: root, base.tree, commit) else {
                commit.abandon()
                return nil
            }
            let lock = try locking()
            defer { withExtendedLifetime(lock) {} }
            guard let (parent, base, rules) = try plainBase(of: root), try mayCommit(),
                try Tree(base.tree, in: nodes).entry(at: path) == change.old
            else {
                commit.abandon()
                return nil
            }
            let lookedUntil = lastLook()?.end(of: parent) ?? parent.time
            var update = TreeUpdate(
                base: base.tree, parent: try withTrueTotals(base), nodes: nodes,
                writer: NodeWriter(store, commit: commit, level: Capture.changeLevel), takesDirectoryTimes: false,
                lookedUntil: lookedUntil, takesSignatures: false)
            try update.add(change)
            for problem in largeFiles?.problems(besides: path) ?? [] { try update.add(problem) }
            guard let tree = try update.finish() else {
                commit.abandon()
                return result(nil, latest: parent, update, lookedUntil: lookedUntil)
            }
            let record = try finish(commit, root, parent, tree, rules, update.tally, .now, update.changes)
            committed(record, parent)
            linkIndex.update(LinkedNames(), to: tree, from: parent.tree)
            if change.problem == nil, let changed = change.new?.signature?.changed {
                proofs.add(path, changed: changed, readAt: time)
            }
            return result(record, latest: record, update, lookedUntil: lookedUntil)
        } catch {
            commit.abandon()
            throw error
        }
    }

    /// The latest snapshot, where a capture of one file can build upon it: it is whole, and has the root's own rules.
    private func plainBase(
        of root: RootDirectory
    ) throws -> (parent: SnapshotRecord, base: Snapshot, rules: CaptureRules)? {
        guard try store.catalogue.healingMark(ofRoot: root.path.bytes, machine: Machine.id) == nil,
            let parent = try store.catalogue.latestSnapshot(ofRoot: root.path.bytes, machine: Machine.id)
        else { return nil }
        let rules = try CaptureRules(options, ofRoot: root.path, in: store)
        let base = try readable(parent)
        return base.isAside || rules.isAside || base.exclusions != rules.exclusions ? nil : (parent, base, rules)
    }

    /// Reads the file at `path`, whatever its times say.
    ///
    /// - Returns: nil where it is no such file any more.
    private func read(
        _ path: RelativePath, of root: RootDirectory, _ base: ChunkID, _ commit: CommitWriter
    ) throws -> ScanChange? {
        let rules = try CaptureRules(options, ofRoot: root.path, in: store)
        let scan = TreeScan(
            store: store, nodes: nodes, commit: commit, level: Capture.changeLevel, progress: progress,
            rules: rules.exclusions, removesExcluded: true, isDoubtful: { _, _ in true })
        var changes: [ScanChange] = []
        try scan.run(root, base: base, ranges: [.entry(path)]) { changes.append($0) }
        guard changes.count == 1, let change = changes.first, change.path == path, change.old?.kind == .file,
            change.new?.kind == .file, change.new?.linkGroup == nil
        else { return nil }
        return change
    }
}
