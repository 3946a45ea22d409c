// One attempt at a capture: scan, new tree and commit. It does not commit if it must scan other places too.

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
    /// Names that the first attempt found it must scan too; nil in the first attempt.
    ///
    /// They are read even if their times are unchanged: a time may be older than the end of the write that set it.
    /// The second attempt commits in any case.
    private let again: Set<RelativePath>?
    private let commit: CommitWriter
    private let level: Int
    /// When the scan of everything in the parent had ended.
    private let scannedUntil: Timestamp?

    private var update: TreeUpdate
    private var links = LinkedNames()
    /// Files that may have changed without a new time, with their change times when they were read.
    private var read: [(path: RelativePath, changed: Timestamp)] = []

    /// Scans `ranges` and commits what it finds.
    ///
    /// - Returns: the result, and the places that a second attempt must scan too, such as other names of changed files.
    ///   If there are any, nothing was committed.
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
        scannedUntil = parent.listed.map { capture.lastScan?.end(of: $0) ?? $0.time }
        let cause = capture.options.cause
        update = TreeUpdate(
            base: parent.base?.tree, parent: try parent.base.map(capture.withTrueTotals), nodes: capture.nodes,
            writer: NodeWriter(capture.store, commit: commit, level: level),
            takesDirectoryTimes: cause != .watch && cause != .audit, scannedUntil: scannedUntil,
            takesSignatures: cause == .beforeRestore)
    }

    private mutating func run() throws -> (result: CaptureResult, unseen: [PathRange]) {
        let time = Timestamp.now
        let unknown = try scan()
        let besides = capture.postponesLargeFiles ? [] : capture.waiting
        for problem in try capture.postponed(in: parent.base?.tree, besides: besides) { try update.add(problem) }
        let end = Timestamp.now
        let tree = try update.finish() ?? parent.unchangedTree(capture.options, rules)
        if let listed = parent.listed, again == nil, !ranges.contains(.subtree(.root)) {
            let unseen = try unseen(unknown, listed)
            if !unseen.isEmpty {
                commit.abandon()
                return (capture.result(nil, latest: listed, update, scannedUntil: scannedUntil ?? end), unseen)
            }
        }
        return (try conclude(tree, time, end), [])
    }

    // MARK: Scanning

    /// Merges the state of the ranges into the tree.
    ///
    /// - Returns: paths of ranges that neither the root nor the tree has.
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
        // A file system in memory has no write-back, so a further store into a mapped page never sets a new time.
        let isInMemory = try FileSystem.of(root.directory.descriptor).isInMemory
        let (written, proofs, waiting, again) = (capture.written, capture.proofs, capture.waiting, again)
        var scan = TreeScan(into: commit, level: level, nodes: capture.nodes, rules.exclusions, capture.progress)
        scan.isDoubtful = { path, status in
            waiting.contains(path) || again?.contains(path) ?? false
                || written.closed.contains(path) && (isInMemory || !proofs.vouches(for: path, status))
        }
        scan.isLost = capture.losses.map { losses in { losses.affect($0) } }
        // After a loss, large files are read immediately.
        if capture.losses == nil, capture.postponesLargeFiles {
            scan.postpones = capture.largeFiles.map { files in { files.postpones($0, $1, $2) } }
        }
        scan.onLeftBehind = capture.onLeftBehind
        scan.foreseen = capture.foreseen
        return scan
    }

    // MARK: Other names

    /// Other places to scan: other names of changed files, and directories in which a written name is missing.
    ///
    /// An unchanged name in the ranges is scanned again too: the file may have changed after the scan passed it.
    private func unseen(_ unknown: [RelativePath], _ listed: ListedSnapshot) throws -> [PathRange] {
        try otherNames(in: listed.tree, withSingle: true) + neighbours(of: unknown).filter { !ranges.contains($0) }
    }

    /// Other names of the changed hard-linked files: names in the tree, and waiting large files with the same inode.
    private func otherNames(in tree: ChunkID, withSingle: Bool) throws -> [PathRange] {
        let waiting = capture.largeFiles?.paths(of: links.inodes) ?? []
        return try capture.linkIndex.otherNames(of: links, in: tree, capture.nodes, withSingle: withSingle)
            + waiting.filter { !links.contains($0) }.map { .entry($0) }
    }

    /// The directories of missing names that were written to: the file may have another name in the same directory.
    private func neighbours(of unknown: [RelativePath]) -> [PathRange] {
        Set(unknown.filter(capture.written.changed.contains).compactMap(\.parent)).map { .children($0) }
    }

    // MARK: The end

    /// Commits a snapshot, if there is a reason for one.
    private func conclude(_ tree: ChunkID?, _ time: Timestamp, _ end: Timestamp) throws -> CaptureResult {
        // A file that changed during the scan has an event for one name only: its other names are deferred with it.
        var torn = links.torn
        if let base = parent.base, capture.largeFiles != nil {
            torn += try otherNames(in: base.tree, withSingle: false)
        }
        var outcome: CaptureResult
        if let tree, try parent.isFollowed(by: tree, capture.options, rules, isLost: capture.isLost) {
            // A root's first snapshot has no changes to list: its tree holds all paths.
            let changes = try parent.listed == nil ? [] : update.changes()
            let listed = try parent.commitNext(
                tree, of: root, capture, rules, update.tally, time, changes, to: commit)
            capture.linkIndex.update(links, to: tree, from: parent.listed?.tree)
            outcome = capture.result(listed, latest: listed, after: parent.listed, update, scannedUntil: end)
        } else {
            let isHealing = parent.isPassedOver || capture.losses != nil
            if isHealing || update.seen != nil { try commit.commitChunks() } else { commit.abandon() }
            outcome = try unchanged(scannedUntil: scannedUntil ?? end)
        }
        outcome.deferred += torn
        // A proof is valid only after the content is in the archive.
        for file in read { capture.proofs.add(file.path, changed: file.changed, readAt: time) }
        return outcome
    }

    private func unchanged(scannedUntil: Timestamp) throws -> CaptureResult {
        guard let listed = parent.listed else {
            // Even an empty root has an entry of its own, so a tree without entries means that the root vanished.
            throw ArchiverError(
                .noSuchDirectory, "\(root.path) vanished while it was captured", remedy: "try again", path: root.path)
        }
        return capture.result(nil, latest: listed, update, scannedUntil: scannedUntil)
    }
}
