// One capture of a root: scan, new tree, commit.

package import ArchiveFormat
package import ArchiveStorage
internal import Exclusions
package import FileIO
package import FileWatching
package import Roots
package import SnapshotTree
internal import SystemPackage

/// Captures the state of one root.
package struct Capture {
    package var nodes: StoredNodes
    package let options: CaptureOptions
    package let progress: OperationProgress?
    /// The root's hard links, kept where the root is captured again and again.
    package var linkIndex = LinkIndex()
    /// Names that something was written to, as the watcher tells.
    package var written = WrittenNames()
    /// What is known of files whose times do not tell everything.
    package var proofs = ReadProofs()
    /// Large files that are captured on their own; nil where none are.
    package var largeFiles: LargeFiles?
    /// Whether those that have changed are left for that, or captured, too.
    package var postponesLargeFiles = true
    /// Those that wait to be captured: they are to be read whatever their times say.
    package var waiting: Set<RelativePath> = []
    /// Told of temporary files of archiver itself, which are not captured.
    package var onLeftBehind: (@Sendable (RelativePath) -> Void)?
    /// What is taken although the rules leave it out.
    package var foreseen: ForeseenRules?
    /// What the caller saw last of the root; nil where it asks for all.
    package var lastLook: LastLook?
    /// Set while the root is looked at whole because of what the archive has lost.
    package var losses: Losses?

    package init(into nodes: StoredNodes, _ options: CaptureOptions, progress: OperationProgress? = nil) {
        self.nodes = nodes
        self.options = options
        self.progress = progress
    }

    var store: ArchiveStore { nodes.store }

    /// zlib's effort: a first capture is bound by it; the few bytes of a change are worth the most effort.
    static let firstLevel = 3
    package static let changeLevel = 9

    /// Captures `ranges` of the root; all of it where it has no snapshot yet.
    ///
    /// The root's capture lock is held meanwhile, so the latest snapshot is the one that this capture builds upon,
    /// whichever process made it.
    package func run(_ root: RootDirectory, ranges: [PathRange] = [.subtree(.root)]) throws -> CaptureResult {
        let lock = try RootLock.capturing(root.path, in: store.layout)
        let result = try runLocked(root, ranges)
        withExtendedLifetime(lock) {}
        return result
    }

    /// Like `run`, where the caller holds the root's capture lock.
    ///
    /// After a loss, all of the root is looked at, and what is lost of it is stored anew.
    package func runLocked(_ root: RootDirectory, _ ranges: [PathRange]) throws -> CaptureResult {
        // The new tree will refer to whatever the parent's does.
        let epoch = try store.beginEpoch()
        defer { withExtendedLifetime(epoch) {} }
        guard let mark = try store.catalogue.healingMark(ofRoot: root.path.bytes, machine: Machine.id) else {
            return try capture(root, ranges)
        }
        var healing = self
        let losses = Losses(store)
        (healing.losses, healing.nodes) = (losses, StoredNodes(store, without: losses))
        let result = try healing.capture(root, [.subtree(.root)])
        // What was left out for once is still to be looked at.
        if try !CaptureRules(options, ofRoot: root.path, in: store).isAside { try store.catalogue.remove(mark) }
        return result
    }

    /// Captures `ranges`, and looks once more at what could not be read: that may have been so for a moment only.
    package func runTwice(_ root: RootDirectory, _ ranges: [PathRange]) throws -> CaptureResult {
        let first = try runLocked(root, ranges)
        if first.problems.isEmpty { return first }
        var places = DirtySet()
        for problem in first.problems { places.mark(.subtree(problem.path)) }
        let second = try runLocked(root, places.ranges)
        return first.followed(by: second)
    }

    private func capture(_ root: RootDirectory, _ ranges: [PathRange]) throws -> CaptureResult {
        let parent = try store.catalogue.latestSnapshot(ofRoot: root.path.bytes, machine: Machine.id)
        progress?.expect(entries: parent?.totals.entries, bytes: nil)
        let rules = try CaptureRules(options, ofRoot: root.path, in: store)
        guard let parent else {
            return try CaptureAttempt.run(self, root, CaptureParent(), rules, [.subtree(.root)]).result
        }
        do {
            let known = CaptureParent(record: parent, base: try readable(parent))
            let ranges = try widened(ranges, to: known.base, rules)
            let first = try CaptureAttempt.run(self, root, known, rules, ranges)
            if first.unseen.isEmpty { return first.result }
            let isDecisive = first.unseen.contains { DirectoryRules.decides($0.path.name, rules.exclusions) }
            let wider = isDecisive ? [.subtree(.root)] : (ranges + first.unseen).sorted()
            let again = Set(first.unseen.map(\.path))
            return try CaptureAttempt.run(self, root, known, rules, wider, again: again).result
        } catch let error as StorageError {
            // What is damaged may well be in the root still: it is all read again and stored where it is lost.
            guard error.code == .damaged else { throw error }
            let unreadable = CaptureParent(record: parent)
            return try CaptureAttempt.run(self, root, unreadable, rules, [.subtree(.root)]).result
        }
    }

    /// The snapshot of `record`.
    package func readable(_ record: ListedSnapshot) throws -> Snapshot {
        if losses?.contains(record.id.chunk) ?? false {
            throw StorageError.missing(record.id.chunk, in: store.layout.directory)
        }
        return try store.snapshot(record.id)
    }

    /// Whether the snapshot of `record` cannot be read.
    func isLost(_ record: ListedSnapshot) throws -> Bool {
        do { _ = try readable(record) } catch let error as StorageError {
            guard error.code == .damaged else { throw error }
            return true
        }
        return false
    }

    /// `ranges`, and where else `base` may differ from the root: it need not be the state that whoever asks for these
    /// ranges saw last.
    private func widened(_ ranges: [PathRange], to base: Snapshot?, _ rules: CaptureRules) throws -> [PathRange] {
        guard let base, !ranges.contains(.subtree(.root)) else { return ranges }
        if base.isAside || base.exclusions != rules.exclusions { return [.subtree(.root)] }
        guard let lastSeen = lastLook?.tree, lastSeen != base.tree else { return ranges }
        var places = DirtySet()
        for range in ranges { places.mark(range) }
        var diff = try TreeDiff(left: lastSeen, right: base.tree, in: nodes)
        while let found = try diff.next() {
            if let path = found.left?.path ?? found.right?.path { places.mark(.entry(path)) }
        }
        return places.ranges
    }

    /// The snapshot `base`, for the capture to count on from.
    ///
    /// What an archive says of it may be wrong; it must not be wrong for ever after.
    func withTrueTotals(_ base: Snapshot) throws -> Snapshot {
        var snapshot = base
        snapshot.totals = try nodes.totals(of: snapshot.tree, recorded: snapshot.totals)
        return snapshot
    }

    func result(
        _ snapshot: ListedSnapshot?, latest: ListedSnapshot, _ update: TreeUpdate, lookedUntil: Timestamp
    ) -> CaptureResult {
        CaptureResult(
            snapshot: snapshot, latest: latest, changedPaths: update.tally.changedPaths,
            problems: update.tally.problems.filter { $0.reason != .postponed },
            problemCount: update.tally.problemCount - update.tally.postponedCount, deferred: update.deferred,
            tree: update.seen ?? latest.tree, lookedUntil: lookedUntil)
    }
}

/// What whoever captures a root again and again saw last of it.
package struct LastLook {
    /// The latest snapshot then.
    package let snapshot: SnapshotID
    package let tree: ChunkID
    /// When everything had been looked at that is in the snapshot.
    package let end: Timestamp

    /// What was seen when `snapshot` was made of `former`, with another large file as it is.
    package init(_ former: LastLook, with snapshot: ListedSnapshot) {
        (self.snapshot, tree, end) = (snapshot.id, snapshot.tree, former.end)
    }

    package init(_ result: CaptureResult) {
        (snapshot, tree, end) = (result.latest.id, result.latest.tree, result.lookedUntil)
    }

    /// The same of `record`; nil where somebody else made it.
    package func end(of record: ListedSnapshot) -> Timestamp? { record.id == snapshot ? end : nil }
}
