// One try of a capture: scan, new tree, and the commit, unless it finds that it should have looked elsewhere too.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import FileWatching
internal import Roots
internal import SnapshotTree

/// A capture of some ranges of a root on top of a parent.
struct CaptureAttempt {
    private let capture: Capture
    private let root: RootDirectory
    private let parent: CaptureParent
    private let rules: CaptureRules
    private let ranges: [PathRange]
    /// Names that an attempt before has found it should have looked at: they are read, whatever their times say, as a time may
    /// be older than the end of the write that set it; this attempt commits in any case.
    private let again: Set<RelativePath>?
    private let commit: CommitWriter
    private let level: Int
    /// When everything had been looked at that the parent has.
    private let lookedUntil: Timestamp?

    private var update: TreeUpdate
    private var links = LinkedNames()
    /// Files with changes that no time may tell, and the change times that they had when they were read.
    private var read: [(path: RelativePath, changed: Timestamp)] = []

    /// Scans `ranges` and commits what it finds.
    ///
    /// - Returns: what the capture gives, and other names of changed files outside of the ranges. Where there are such, nothing
    ///   was committed.
    static func run(
        _ capture: Capture, _ root: RootDirectory, _ parent: CaptureParent, _ rules: CaptureRules,
        _ ranges: [PathRange], again: Set<RelativePath>? = nil
    ) throws -> (result: CaptureResult, unseen: [PathRange]) {
        let commit = try capture.store.beginCommit(healing: parent.isPassedOver || capture.losses != nil)
        do {
            var attempt = try CaptureAttempt(capture, root, parent, rules, ranges, again, commit)
            return try attempt.run()
        } catch {
            commit.abandon()
            throw error
        }
    }

    private init(
        _ capture: Capture, _ root: RootDirectory, _ parent: CaptureParent, _ rules: CaptureRules,
        _ ranges: [PathRange], _ again: Set<RelativePath>?, _ commit: CommitWriter
    ) throws {
        self.capture = capture
        self.root = root
        self.parent = parent
        self.rules = rules
        self.ranges = ranges
        self.again = again
        self.commit = commit
        level = parent.base == nil ? Capture.firstLevel : Capture.changeLevel
        lookedUntil = parent.record.map { capture.lastLook?.end(of: $0) ?? $0.time }
        let cause = capture.options.cause
        update = TreeUpdate(
            base: parent.base?.tree, parent: try parent.base.map(capture.withTrueTotals), nodes: capture.nodes,
            writer: NodeWriter(capture.store, commit: commit, level: level),
            takesDirectoryTimes: cause != .watch && cause != .audit, lookedUntil: lookedUntil,
            takesSignatures: cause == .beforeRestore)
    }

    private mutating func run() throws -> (result: CaptureResult, unseen: [PathRange]) {
        let time = Timestamp.now
        let unknown = try scan()
        let besides = capture.postponesLargeFiles ? [] : capture.waiting
        for problem in try capture.postponed(in: parent.base?.tree, besides: besides) { try update.add(problem) }
        let end = Timestamp.now
        let tree = try update.finish() ?? parent.unchangedTree(capture.options, rules)
        if let record = parent.record, again == nil, !ranges.contains(.subtree(.root)) {
            let unseen = try unseen(unknown, record)
            if !unseen.isEmpty {
                commit.abandon()
                return (capture.result(nil, latest: record, update, lookedUntil: lookedUntil ?? end), unseen)
            }
        }
        return (try conclude(tree, time, end), [])
    }

    // MARK: Scanning

    /// Merges what is in the ranges into the tree.
    ///
    /// - Returns: names that were asked for and are not there.
    private mutating func scan() throws -> [RelativePath] {
        let scan = try makeScan()
        return try scan.run(root, base: parent.base?.tree, ranges: ranges) { change in
            try update.add(change)
            links.add(change)
            if change.new == nil, let path = change.path { capture.largeFiles?.forget(path) }
            if change.problem == nil, let new = change.new, let signature = new.signature,
                capture.written.closed.contains(new.path)
            {
                read.append((new.path, signature.changed))
            }
            capture.progress?.set(storedBytes: commit.storedBytes)
        }
    }

    private func makeScan() throws -> TreeScan {
        // What never goes to a disk never shows another time for a further store into its pages.
        let isInMemory = try FileSystem.of(root.directory.descriptor).isInMemory
        let (written, proofs, waiting, again) = (capture.written, capture.proofs, capture.waiting, again)
        var scan = TreeScan(into: commit, level: level, nodes: capture.nodes, rules.exclusions, capture.progress)
        scan.isDoubtful = { path, status in
            waiting.contains(path) || again?.contains(path) ?? false
                || written.closed.contains(path) && (isInMemory || !proofs.vouches(for: path, status))
        }
        scan.isLost = capture.losses.map { losses in { losses.affect($0) } }
        // What is lost is read at once.
        if capture.losses == nil, capture.postponesLargeFiles {
            scan.postpones = capture.largeFiles.map { files in { files.postpones($0, $1, $2) } }
        }
        scan.onLeftBehind = capture.onLeftBehind
        scan.foreseen = capture.foreseen
        return scan
    }

    // MARK: Other names

    /// Where else to look: a name in the ranges that did not change was looked at before the file did.
    private func unseen(_ unknown: [RelativePath], _ record: ListedSnapshot) throws -> [PathRange] {
        try otherNames(in: record.tree, withSingle: true) + neighbours(of: unknown).filter { !ranges.contains($0) }
    }

    /// Other names of the hard-linked files that changed: those that the tree has, and large files that the tree does not
    /// have as they are.
    private func otherNames(in tree: ChunkID, withSingle: Bool) throws -> [PathRange] {
        let waiting = capture.largeFiles?.paths(of: links.inodes) ?? []
        return try capture.linkIndex.otherNames(of: links, in: tree, capture.nodes, withSingle: withSingle)
            + waiting.filter { !links.contains($0) }.map { .entry($0) }
    }

    /// The directories of names that were written to and are not there: the file may have another name next to it.
    private func neighbours(of unknown: [RelativePath]) -> [PathRange] {
        Set(unknown.filter(capture.written.changed.contains).compactMap(\.parent)).map { .children($0) }
    }

    // MARK: The end

    /// Commits a snapshot, if there is a reason for one.
    private func conclude(_ tree: ChunkID?, _ time: Timestamp, _ end: Timestamp) throws -> CaptureResult {
        // What changed meanwhile tells of one of its names only: the others are looked at with that.
        var torn = links.torn
        if let base = parent.base, capture.largeFiles != nil {
            torn += try otherNames(in: base.tree, withSingle: false)
        }
        var outcome: CaptureResult
        if let tree, try parent.isFollowed(by: tree, capture.options, rules, isLost: capture.isLost) {
            // A root's first snapshot changes nothing: its tree answers.
            let changes = parent.record == nil ? [] : update.changes
            let record = try parent.commitNext(
                tree, of: root, capture, rules, update.tally, time, changes, to: commit)
            capture.linkIndex.update(links, to: tree, from: parent.record?.tree)
            outcome = capture.result(record, latest: record, update, lookedUntil: end)
        } else {
            let isHealing = parent.isPassedOver || capture.losses != nil
            if isHealing || update.seen != nil { try commit.commitChunks() } else { commit.abandon() }
            outcome = try unchanged(lookedUntil: lookedUntil ?? end)
        }
        outcome.deferred += torn
        // Only now is what was read in the archive.
        for file in read { capture.proofs.add(file.path, changed: file.changed, readAt: time) }
        return outcome
    }

    private func unchanged(lookedUntil: Timestamp) throws -> CaptureResult {
        guard let record = parent.record else {
            // Even an empty root has its own entry, so only one that vanished gives nothing.
            throw ArchiverError(
                .noSuchDirectory, "\(root.path) vanished while it was captured", remedy: "try again", path: root.path)
        }
        return capture.result(nil, latest: record, update, lookedUntil: lookedUntil)
    }
}
