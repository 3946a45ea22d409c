// One capture of a root: scan, new tree, commit.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Exclusions
internal import FileIO
internal import FileWatching
internal import SystemPackage

/// Captures the state of one root.
struct Capture {
    let store: ArchiveStore
    let nodes: StoredNodes
    let options: CaptureOptions
    let progress: OperationProgress?
    /// The root's hard links, kept where the root is captured again and again.
    var linkIndex = LinkIndex()
    /// Names that something was written to, as the watcher tells.
    var written = WrittenNames()
    /// What is known of files whose times do not tell everything.
    var proofs = ReadProofs()
    /// Told of temporary files of archiver itself, which are not captured.
    var onLeftBehind: (@Sendable (RelativePath) -> Void)?
    /// What is taken although the rules leave it out.
    var foreseen: ForeseenRules?

    /// zlib's effort: a first capture is bound by it; the few bytes of a change are worth the most effort.
    private static let firstLevel = 3
    private static let changeLevel = 9

    /// Captures `ranges` of the root; all of it where it has no snapshot yet.
    ///
    /// The root's capture lock is held meanwhile, so the latest snapshot is the one that this capture builds upon,
    /// whichever process made it.
    func run(_ root: RootDirectory, ranges: [PathRange] = [.subtree(.root)]) throws -> CaptureResult {
        let lock = try RootLock.capturing(root.path, in: store.layout)
        let result = try runLocked(root, ranges)
        withExtendedLifetime(lock) {}
        return result
    }

    /// Like `run`, where the caller holds the root's capture lock.
    func runLocked(_ root: RootDirectory, _ ranges: [PathRange]) throws -> CaptureResult {
        let parent = try store.catalogue.latestSnapshot(ofRoot: root.path.bytes, host: CurrentProcess.hostName)
        progress?.expect(entries: parent?.totals.entries, bytes: nil)
        guard let parent else { return try attempt(root, nil, [.subtree(.root)]).result }
        do {
            let first = try attempt(root, parent, ranges)
            if first.unseen.isEmpty { return first.result }
            let isDecisive = first.unseen.contains { DirectoryRules.decides($0.path.name, options.exclusions) }
            let wider = isDecisive ? [.subtree(.root)] : (ranges + first.unseen).sorted()
            return try attempt(root, parent, wider, isLast: true).result
        } catch let error as StorageError {
            // What is damaged may well be in the root still: it is all read again and stored where it is lost.
            guard error.code == .damaged else { throw error }
            return try attempt(root, parent, [.subtree(.root)], isHealing: true).result
        }
    }

    /// Scans `ranges` and commits what it finds, unless it finds that it should have looked elsewhere too.
    ///
    /// - Parameters:
    ///   - isLast: whether to commit in any case.
    ///   - isHealing: whether to do without the latest tree, and to store again what the archive cannot read any more.
    /// - Returns: what the capture gives, and other names of changed files outside of the ranges. Where there are
    ///   such, nothing was committed.
    private func attempt(
        _ root: RootDirectory, _ parent: SnapshotRecord?, _ ranges: [PathRange], isLast: Bool = false,
        isHealing: Bool = false
    ) throws -> (result: CaptureResult, unseen: [PathRange]) {
        let commit = try store.beginCommit(healing: isHealing)
        let base = isHealing ? nil : parent
        do {
            let level = base == nil ? Capture.firstLevel : Capture.changeLevel
            var update = TreeUpdate(
                base: base?.tree, parent: try base.map { try store.snapshot($0.id) }, nodes: nodes,
                writer: NodeWriter(store, commit: commit, level: level),
                takesDirectoryTimes: options.cause != .watch && options.cause != .audit,
                takesSignatures: options.cause == .beforeRestore)
            var links = LinkedNames()
            // What never goes to a disk never shows another time for a further store into its pages.
            let isInMemory = try FileSystem.of(root.directory.descriptor).isInMemory
            let scan = TreeScan(
                store: store, nodes: nodes, commit: commit, level: level, progress: progress,
                rules: options.exclusions, removesExcluded: true,
                isDoubtful: { path, status in
                    written.closed.contains(path) && (isInMemory || !proofs.vouch(for: path, status))
                },
                onLeftBehind: onLeftBehind, foreseen: foreseen)
            let time = Timestamp.now
            let unknown = try scan.run(root, base: base?.tree, ranges: ranges) { change in
                try update.add(change)
                links.add(change)
                progress?.set(storedBytes: commit.storedBytes)
            }
            let tree = try update.finish() ?? labelledTree(parent)
            if let parent, !isLast, !ranges.contains(.subtree(.root)) {
                let unseen = (try linkIndex.otherNames(of: links, in: parent.tree, nodes) + neighbours(of: unknown))
                    .filter { !ranges.contains($0) }
                if !unseen.isEmpty {
                    commit.abandon()
                    proofs.forget()
                    return (result(nil, latest: parent, update.tally, update.deferred), unseen)
                }
            }
            if isHealing, tree == parent?.tree, options.label == nil {
                try commit.keep()
                return (try unchanged(parent, update, root), [])
            }
            guard let tree else {
                if update.seen == nil { commit.abandon() } else { try commit.keep() }
                return (try unchanged(parent, update, root), [])
            }
            let record = try finish(commit, root, parent, tree, update.tally, time)
            linkIndex.update(links, to: tree, from: parent?.tree)
            return (result(record, latest: record, update.tally), [])
        } catch {
            commit.abandon()
            proofs.forget()
            throw error
        }
    }

    /// The directories of names that were written to and are not there: the file may have another name next to it.
    private func neighbours(of unknown: [RelativePath]) -> [PathRange] {
        Set(unknown.filter(written.changed.contains).compactMap(\.parent)).map { .children($0) }
    }

    /// The tree of `parent` where a new label is all that is new; nil where nothing is.
    private func labelledTree(_ parent: SnapshotRecord?) -> ChunkID? {
        options.label == nil || options.label == parent?.label ? nil : parent?.tree
    }

    private func finish(
        _ commit: CommitWriter, _ root: RootDirectory, _ parent: SnapshotRecord?, _ tree: ChunkID,
        _ tally: ChangeTally, _ time: Timestamp
    ) throws -> SnapshotRecord {
        let snapshot = Snapshot(
            time: time, rootPath: root.path.bytes, host: CurrentProcess.hostName, cause: options.cause,
            label: options.label, parent: parent?.id, tree: tree, totals: tally.totals, changes: tally.counts,
            changedPaths: tally.changedPaths, problems: tally.problems, storedBytes: commit.storedBytes,
            ownerNames: tally.ownerNames, groupNames: tally.groupNames, exclusions: options.exclusions)
        let base = try parent.flatMap { try store.base($0.id.chunk) }
        return try commit.commit(snapshot, base: base)
    }

    private func unchanged(
        _ parent: SnapshotRecord?, _ update: TreeUpdate, _ root: RootDirectory
    ) throws -> CaptureResult {
        guard let parent else {
            // Even an empty root has its own entry, so only one that vanished gives nothing.
            throw ArchiverError(
                .noSuchDirectory, "\(root.path) vanished while it was captured", remedy: "try again", path: root.path)
        }
        return result(nil, latest: parent, update.tally, update.deferred, tree: update.seen)
    }

    private func result(
        _ snapshot: SnapshotRecord?, latest: SnapshotRecord, _ tally: ChangeTally, _ deferred: [PathRange] = [],
        tree: ChunkID? = nil
    ) -> CaptureResult {
        CaptureResult(
            snapshot: snapshot, latest: latest, changedPaths: tally.changedPaths, problems: tally.problems,
            problemCount: tally.problemCount, deferred: deferred, tree: tree ?? latest.tree)
    }
}

extension Totals {
    /// All entries together.
    var entries: UInt64 { files + directories + others }
}
