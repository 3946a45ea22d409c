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
    private static let firstLevel = 3
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
        guard let parent else { return try attempt(root, nil, nil, rules, [.subtree(.root)]).result }
        do {
            let base = try readable(parent)
            let ranges = try widened(ranges, to: base, rules)
            let first = try attempt(root, parent, base, rules, ranges)
            if first.unseen.isEmpty { return first.result }
            let isDecisive = first.unseen.contains { DirectoryRules.decides($0.path.name, rules.exclusions) }
            let wider = isDecisive ? [.subtree(.root)] : (ranges + first.unseen).sorted()
            return try attempt(root, parent, base, rules, wider, again: Set(first.unseen.map(\.path))).result
        } catch let error as StorageError {
            // What is damaged may well be in the root still: it is all read again and stored where it is lost.
            guard error.code == .damaged else { throw error }
            return try attempt(root, parent, nil, rules, [.subtree(.root)]).result
        }
    }

    /// The snapshot of `record`.
    package func readable(_ record: ListedSnapshot) throws -> Snapshot {
        if losses?.contains(record.id.chunk) ?? false {
            throw StorageError.missing(record.id.chunk, in: store.layout.directory)
        }
        return try store.snapshot(record.id)
    }

    private func isLost(_ record: ListedSnapshot) throws -> Bool {
        do { _ = try readable(record) } catch let error as StorageError {
            guard error.code == .damaged else { throw error }
            return true
        }
        return false
    }

    /// `ranges`, and where else `base` may differ from the root: it need not be the state that whoever asks for these
    /// ranges saw last.
    private func widened(_ ranges: [PathRange], to base: Snapshot, _ rules: CaptureRules) throws -> [PathRange] {
        if ranges.contains(.subtree(.root)) { return ranges }
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

    /// Scans `ranges` and commits what it finds, unless it finds that it should have looked elsewhere too.
    ///
    /// - Parameters:
    ///   - base: the latest snapshot, to build upon; nil where there is none, or to do without it and store again what the
    ///     archive cannot read any more.
    ///   - again: names that an attempt has found it should have looked at: they are read, whatever their times say, as a
    ///     time may be older than the end of the write that set it; this attempt commits in any case.
    /// - Returns: what the capture gives, and other names of changed files outside of the ranges. Where there are
    ///   such, nothing was committed.
    private func attempt(
        _ root: RootDirectory, _ parent: ListedSnapshot?, _ base: Snapshot?, _ rules: CaptureRules,
        _ ranges: [PathRange], again: Set<RelativePath>? = nil
    ) throws -> (result: CaptureResult, unseen: [PathRange]) {
        let isAnew = parent != nil && base == nil
        let isHealing = isAnew || losses != nil
        let commit = try store.beginCommit(healing: isHealing)
        do {
            let level = base == nil ? Capture.firstLevel : Capture.changeLevel
            let lookedUntil = parent.map { lastLook?.end(of: $0) ?? $0.time }
            var update = TreeUpdate(
                base: base?.tree, parent: try base.map(withTrueTotals), nodes: nodes,
                writer: NodeWriter(store, commit: commit, level: level),
                takesDirectoryTimes: options.cause != .watch && options.cause != .audit, lookedUntil: lookedUntil,
                takesSignatures: options.cause == .beforeRestore)
            var links = LinkedNames()
            // What never goes to a disk never shows another time for a further store into its pages.
            let isInMemory = try FileSystem.of(root.directory.descriptor).isInMemory
            var scan = TreeScan(into: commit, level: level, nodes: nodes, rules.exclusions, progress)
            scan.isDoubtful = { path, status in
                waiting.contains(path) || again?.contains(path) ?? false
                    || written.closed.contains(path) && (isInMemory || !proofs.vouches(for: path, status))
            }
            scan.isLost = losses.map { losses in { losses.affect($0) } }
            // What is lost is read at once.
            if losses == nil, postponesLargeFiles {
                scan.postpones = largeFiles.map { files in { files.postpones($0, $1, $2) } }
            }
            scan.onLeftBehind = onLeftBehind
            scan.foreseen = foreseen
            let time = Timestamp.now
            var read: [(path: RelativePath, changed: Timestamp)] = []
            let unknown = try scan.run(root, base: base?.tree, ranges: ranges) { change in
                try update.add(change)
                links.add(change)
                if change.new == nil, let path = change.path { largeFiles?.forget(path) }
                if change.problem == nil, let new = change.new, let signature = new.signature,
                    written.closed.contains(new.path)
                {
                    read.append((new.path, signature.changed))
                }
                progress?.set(storedBytes: commit.storedBytes)
            }
            for problem in try postponed(in: base?.tree, besides: postponesLargeFiles ? [] : waiting) {
                try update.add(problem)
            }
            let end = Timestamp.now
            let tree = try update.finish() ?? unchangedTree(parent, base, rules)
            if let parent, again == nil, !ranges.contains(.subtree(.root)) {
                // A name in the ranges that did not change was looked at before the file did.
                let unseen =
                    try otherNames(of: links, in: parent.tree, withSingle: true)
                    + neighbours(of: unknown).filter { !ranges.contains($0) }
                if !unseen.isEmpty {
                    commit.abandon()
                    return (result(nil, latest: parent, update, lookedUntil: lookedUntil ?? end), unseen)
                }
            }
            // What changed meanwhile tells of one of its names only: the others are looked at with that.
            var torn = links.torn
            if let base, largeFiles != nil { torn += try otherNames(of: links, in: base.tree, withSingle: false) }
            var outcome: CaptureResult
            // A latest snapshot that cannot be read needs another one in its place, whether or not anything changed.
            let isParentLost = try isAnew && parent.map { try isLost($0) } ?? false
            let isNews = !isAnew || isParentLost || tree != parent?.tree || options.label != nil
            if let tree, isNews || rules.isNews(after: base) {
                // A root's first snapshot changes nothing: its tree answers.
                let changes = parent == nil ? [] : update.changes
                let record = try finish(commit, root, parent, tree, rules, update.tally, time, changes)
                linkIndex.update(links, to: tree, from: parent?.tree)
                outcome = result(record, latest: record, update, lookedUntil: end)
            } else {
                if isHealing || update.seen != nil { try commit.keep() } else { commit.abandon() }
                outcome = try unchanged(parent, update, root, lookedUntil: lookedUntil ?? end)
            }
            outcome.deferred += torn
            // Only now is what was read in the archive.
            for file in read { proofs.add(file.path, changed: file.changed, readAt: time) }
            return (outcome, [])
        } catch {
            commit.abandon()
            throw error
        }
    }

    /// Other names of the hard-linked files among `links`: those that the tree has, and large files that the tree does not
    /// have as they are.
    private func otherNames(
        of links: LinkedNames, in tree: ChunkID, withSingle: Bool
    ) throws -> [PathRange] {
        let waiting = largeFiles?.paths(of: links.inodes) ?? []
        return try linkIndex.otherNames(of: links, in: tree, nodes, withSingle: withSingle)
            + waiting.filter { !links.contains($0) }.map { .entry($0) }
    }

    /// The directories of names that were written to and are not there: the file may have another name next to it.
    private func neighbours(of unknown: [RelativePath]) -> [PathRange] {
        Set(unknown.filter(written.changed.contains).compactMap(\.parent)).map { .children($0) }
    }

    /// The tree of `parent` where something else about it is new; nil where nothing is.
    private func unchangedTree(_ parent: ListedSnapshot?, _ base: Snapshot?, _ rules: CaptureRules) -> ChunkID? {
        let isLabelNew = options.label != nil && options.label != parent?.label
        return isLabelNew || rules.isNews(after: base) ? parent?.tree : nil
    }

    /// The snapshot `base`, for the capture to count on from.
    ///
    /// What an archive says of it may be wrong; it must not be wrong for ever after.
    func withTrueTotals(_ base: Snapshot) throws -> Snapshot {
        var snapshot = base
        snapshot.totals = try nodes.totals(of: snapshot.tree, recorded: snapshot.totals)
        return snapshot
    }

    func finish(
        _ commit: CommitWriter, _ root: RootDirectory, _ parent: ListedSnapshot?, _ tree: ChunkID,
        _ rules: CaptureRules, _ tally: ChangeTally, _ time: Timestamp, _ changes: [PathChange]?
    ) throws -> ListedSnapshot {
        // Whatever the clock says, a snapshot is later than its parent, and than what was told of another root there.
        let notice = try store.catalogue.latestNoticeTime(path: root.path.bytes, machine: Machine.id)
        let earlier = [parent?.time, notice].compactMap { $0?.advanced(byNanoseconds: 1) }
        let sequence = min(parent?.sequence ?? 0, Snapshot.sequenceLimit - 1) + 1
        let snapshot = Snapshot(
            time: earlier.reduce(time, max), rootPath: root.path.bytes, host: CurrentProcess.hostName,
            cause: options.cause, label: options.label, parent: parent?.id, tree: tree,
            totals: tally.totals.keepingLimits,
            changes: tally.counts, changedPaths: tally.changedPaths, problems: tally.problems,
            storedBytes: commit.storedBytes, ownerNames: tally.ownerNames, groupNames: tally.groupNames,
            exclusions: rules.exclusions, sequence: sequence, machine: Machine.id, isAside: rules.isAside)
        let base = try parent.flatMap { try store.base($0.id.chunk) }
        return try commit.commit(snapshot, base: base, changes: changes)
    }

    private func unchanged(
        _ parent: ListedSnapshot?, _ update: TreeUpdate, _ root: RootDirectory, lookedUntil: Timestamp
    ) throws -> CaptureResult {
        guard let parent else {
            // Even an empty root has its own entry, so only one that vanished gives nothing.
            throw ArchiverError(
                .noSuchDirectory, "\(root.path) vanished while it was captured", remedy: "try again", path: root.path)
        }
        return result(nil, latest: parent, update, lookedUntil: lookedUntil)
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

extension Totals {
    /// The totals, where they are more than the format has, its limits.
    fileprivate var keepingLimits: Totals {
        Totals(
            files: min(files, FormatLimits.entries), directories: min(directories, FormatLimits.entries),
            others: min(others, FormatLimits.entries), bytes: min(bytes, FormatLimits.bytes))
    }
}
