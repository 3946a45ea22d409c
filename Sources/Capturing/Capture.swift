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
    /// The root's hard links; the watcher reuses the index from capture to capture.
    package var linkIndex = LinkIndex()
    /// Names that were written to, as reported by the watcher.
    package var written = WrittenNames()
    /// Proofs for files whose times alone do not show every change.
    package var proofs = ReadProofs()
    /// Large files that are captured on their own; nil if all files are read with everything else.
    package var largeFiles: LargeFiles?
    /// Whether changed large files are postponed; otherwise this capture reads them too.
    package var postponesLargeFiles = true
    /// Large files that wait to be captured: they are read even if their times are unchanged.
    package var waiting: Set<RelativePath> = []
    /// Called for each temporary file of archiver itself; such files are not captured.
    package var onLeftBehind: (@Sendable (RelativePath) -> Void)?
    /// Paths that are captured although the rules exclude them.
    package var foreseen: ForeseenRules?
    /// The state that the caller saw last; nil if it asks for everything.
    package var lastScan: LastScan?
    /// The archive's losses; set while the whole root is scanned because of them.
    package var losses: Losses?

    package init(into nodes: StoredNodes, _ options: CaptureOptions, progress: OperationProgress? = nil) {
        self.nodes = nodes
        self.options = options
        self.progress = progress
    }

    var store: ArchiveStore { nodes.store }

    /// The zlib level: it limits the speed of a first capture; a change has few bytes and gets the highest level.
    static let firstLevel = 3
    package static let changeLevel = 9

    /// Captures `ranges` of the root, or all of it if it has no snapshot yet.
    ///
    /// Holds the root's capture lock, so the latest snapshot stays the one that this capture builds on, even if another
    /// process made it.
    package func run(_ root: RootDirectory, ranges: [PathRange] = [.subtree(.root)]) throws -> CaptureResult {
        try store.requireWritable()
        let lock = try RootLock.capturing(root.path, in: store.layout)
        let result = try runLocked(root, ranges)
        withExtendedLifetime(lock) {}
        return result
    }

    /// Like `run`, but the caller holds the root's capture lock.
    ///
    /// After a loss, it scans the whole root and stores the lost chunks again.
    package func runLocked(_ root: RootDirectory, _ ranges: [PathRange]) throws -> CaptureResult {
        // The new tree refers to the chunks of the parent's tree; the epoch protects them.
        let epoch = try store.beginEpoch()
        defer { withExtendedLifetime(epoch) {} }
        guard let mark = try store.catalogue.healingMark(ofRoot: root.path.bytes, machine: Machine.id) else {
            return try capture(root, ranges)
        }
        var healing = self
        let losses = Losses(store)
        (healing.losses, healing.nodes) = (losses, StoredNodes(store, without: losses))
        let result = try healing.capture(root, [.subtree(.root)])
        // A capture captured aside does not scan everything that the root's own rules include: the mark stays.
        if try !CaptureRules(options, ofRoot: root.path, in: store).isAside { try store.catalogue.remove(mark) }
        return result
    }

    /// Captures `ranges`, and retries once the places that could not be read: the cause may have been brief.
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
            let known = CaptureParent(listed: parent, base: try readable(parent))
            let ranges = try widened(ranges, to: known.base, rules)
            let first = try CaptureAttempt.run(self, root, known, rules, ranges)
            if first.unseen.isEmpty { return first.result }
            let isDecisive = first.unseen.contains { DirectoryRules.decides($0.path.name, rules.exclusions) }
            let wider = isDecisive ? [.subtree(.root)] : (ranges + first.unseen).sorted()
            let again = Set(first.unseen.map(\.path))
            return try CaptureAttempt.run(self, root, known, rules, wider, again: again).result
        } catch let error as StorageError {
            // The damaged content may still be in the root: read everything again and store what is lost.
            guard error.code == .damaged || error.code == .away else { throw error }
            let unreadable = CaptureParent(listed: parent)
            return try CaptureAttempt.run(self, root, unreadable, rules, [.subtree(.root)]).result
        }
    }

    /// The snapshot of `listed`.
    package func readable(_ listed: ListedSnapshot) throws -> Snapshot {
        if losses?.contains(listed.id.chunk) ?? false {
            throw StorageError.missing(listed.id.chunk, in: store.layout.directory)
        }
        return try store.snapshot(listed.id)
    }

    /// Whether the snapshot of `listed` cannot be read.
    func isLost(_ listed: ListedSnapshot) throws -> Bool {
        do { _ = try readable(listed) } catch let error as StorageError {
            guard error.code == .damaged else { throw error }
            return true
        }
        return false
    }

    /// `ranges`, and the other places where `base` may differ from the root.
    ///
    /// `base` need not be the state that the caller saw last.
    private func widened(_ ranges: [PathRange], to base: Snapshot?, _ rules: CaptureRules) throws -> [PathRange] {
        guard let base, !ranges.contains(.subtree(.root)) else { return ranges }
        if base.isAside || base.exclusions != rules.exclusions { return [.subtree(.root)] }
        guard let lastSeen = lastScan?.tree, lastSeen != base.tree else { return ranges }
        var places = DirtySet()
        for range in ranges { places.mark(range) }
        var diff = try TreeDiff(left: lastSeen, right: base.tree, in: nodes)
        while let found = try diff.next() {
            if let path = found.left?.path ?? found.right?.path { places.mark(.entry(path)) }
        }
        return places.ranges
    }

    /// `base` with recounted totals, which the capture continues from.
    ///
    /// The recorded totals may be wrong; the error must not pass on to every later snapshot.
    func withTrueTotals(_ base: Snapshot) throws -> Snapshot {
        var snapshot = base
        snapshot.totals = try nodes.totals(of: snapshot.tree, recorded: snapshot.totals)
        return snapshot
    }

    /// - Parameter previous: the snapshot before the new one.
    func result(
        _ snapshot: ListedSnapshot?, latest: ListedSnapshot, after previous: ListedSnapshot? = nil,
        _ update: TreeUpdate, scannedUntil: Timestamp
    ) -> CaptureResult {
        CaptureResult(
            snapshot: snapshot, latest: latest,
            laterPrevious: previous.flatMap { $0.time > latest.time ? $0 : nil },
            changedPaths: update.tally.changedPaths,
            problems: update.tally.problems.filter { $0.reason != .postponed },
            problemCount: update.tally.problemCount - update.tally.postponedCount, deferred: update.deferred,
            tree: update.seen ?? latest.tree, scannedUntil: scannedUntil)
    }
}

/// The state of a root that a repeated caller, such as the watcher, saw last.
package struct LastScan {
    /// The latest snapshot at that time.
    package let snapshot: SnapshotID
    package let tree: ChunkID
    /// When the scan of everything in the snapshot had ended.
    package let end: Timestamp

    /// The state after `snapshot` was made from `former` by capturing one large file.
    package init(_ former: LastScan, with snapshot: ListedSnapshot) {
        (self.snapshot, tree, end) = (snapshot.id, snapshot.tree, former.end)
    }

    package init(_ result: CaptureResult) {
        (snapshot, tree, end) = (result.latest.id, result.latest.tree, result.scannedUntil)
    }

    /// `end` if `listed` is the snapshot seen last; nil if another process made it.
    package func end(of listed: ListedSnapshot) -> Timestamp? { listed.id == snapshot ? end : nil }
}
