// What is done for a watched root; each deed has one result, an input of the machine.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import Capturing
internal import Exclusions
internal import FileIO
internal import FileWatching
internal import Glibc
internal import Mementos
internal import Roots
internal import SnapshotTree
internal import Synchronization
internal import SystemPackage
internal import Threading
internal import WatchControl

/// What the captures of a root have learned, for the next ones.
final class CaptureMemory: Sendable {
    let linkIndex = LinkIndex()
    let proofs = ReadProofs()
    /// What was compared last; held by the capture in progress, or the commit of a large file.
    let lastScan = Locked<LastScan?>(nil)
    /// The directory that was captured last; another one may appear at the path.
    let identity = Locked<FileStatus?>(nil)
}

extension WatchedRoot {
    // MARK: The beginning

    func look() async -> RootMachine.Input {
        let (path, archive) = (path, service.archive.latest)
        return await Blocking.run {
            let query = SnapshotQuery(root: ArchivedRoot(here: path), limit: 1)
            return .looked(
                isThere: (try? RootDirectory.open(path)) != nil,
                isNew: (try? archive.snapshots(query).isEmpty) ?? true)
        }
    }

    /// Watches every directory of the root.
    func arm() async -> RootMachine.Input {
        do {
            return .armed(
                directories: try await watch.arm(waiting: service.options.waitsForRoots).watchedDirectories)
        } catch {
            return .armingFailed(ArchiverError(error), isCancelled: error.code == .canceled)
        }
    }

    /// Continues the history of a root that has appeared, if it was moved.
    func continueHistory() async -> RootMachine.Input {
        do {
            return try await Blocking.run { [path, service] () throws(ArchiverError) in
                try facing {
                    let directory = try RootDirectory.open(path)
                    // A path that has become a link leads to a root of its own.
                    guard directory.path == path,
                        let related = try service.archive.latest.continueHistory(of: directory)
                    else { return .continued(nil, nil) }
                    return .continued(related, related.relation == .moved ? try service.rules(of: path) : nil)
                }
            }
        } catch { return .continuingFailed(error) }
    }

    /// Sets the watches again, with other rules.
    func restart(_ rules: ExclusionRules) async -> RootMachine.Input {
        do {
            _ = try await watch.restart(rules: rules, timing: timing)
            return .restarted(nil)
        } catch { return .restarted(ArchiverError(error)) }
    }

    /// Enters gaps into the archive.
    func enter(_ gaps: [GapRecord]) async -> RootMachine.Input {
        let (archive, hooks) = (service.archive, service.options.hooks)
        do {
            try await Blocking.run { () throws(ArchiverError) in
                try facing {
                    try hooks.beforeEnteringGaps()
                    try archive.current().archive.store.enter(gaps)
                }
            }
            return .entered(nil)
        } catch { return .entered(error) }
    }

    // MARK: Captures

    func capture(_ order: RootMachine.CaptureOrder) async -> RootMachine.Input {
        let upkeep = service.upkeep.withLock { $0 }
        upkeep?.captures.add(1, ordering: .relaxed)
        defer { upkeep?.captures.subtract(1, ordering: .relaxed) }
        let start = ContinuousClock.now
        do {
            let result = try await Blocking.run { () throws(ArchiverError) in
                try facing { try self.captureBlocking(order) }
            }
            largeFiles.scanned(order.postpones ? order.ranges : [.subtree(.root)], began: start)
            return .captured(result)
        } catch { return .captureFailed(error, rootIsMissing: isMissing(error)) }
    }

    private func captureBlocking(_ order: RootMachine.CaptureOrder) throws -> CaptureResult {
        service.progress.reset()
        let opened: WatchedArchive.Opened
        do { opened = try service.archive.current() } catch {
            releaseArchive()
            throw error
        }
        let ranges = moveLock(to: opened) ? [.subtree(.root)] : order.ranges
        let directory = try openDirectory()
        var capture = prepare(order.cause, in: opened.archive, service.progress)
        (capture.written, capture.postponesLargeFiles) = (order.written, order.postpones)
        let result = try underLock(in: opened.archive) { lastScan in
            service.options.hooks.underCaptureLock(order.cause)
            // Under the lock, no other capture can add large files to the list.
            let waiting = largeFiles.uncaptured
            (capture.waiting, capture.lastScan) = (waiting, lastScan)
            let result = try capture.runLocked(
                directory, order.postpones ? ranges : ranges.adding(waiting.map { .entry($0) }))
            if !order.postpones { largeFiles.captured(waiting) }
            lastScan = LastScan(result)
            return result
        }
        try service.archive.check(opened)
        touchLock()
        return result
    }

    /// A capture with what the earlier ones have learned.
    private func prepare(_ cause: Cause, in archive: Archive, _ progress: OperationProgress? = nil) -> Capture {
        let options = CaptureOptions(cause: cause, exclusions: rules, setsExclusions: true)
        var capture = Capture(into: archive.nodes, options, progress: progress)
        (capture.linkIndex, capture.proofs, capture.largeFiles) = (memory.linkIndex, memory.proofs, largeFiles)
        return capture
    }

    /// Calls `body` while this process holds the root's capture lock.
    ///
    /// After a stop it waits only seconds for a capture by another process.
    ///
    /// - Throws: `ArchiverError` with the code `locked` if another process keeps the lock; what `body` throws.
    func underLock<Result: Sendable>(in archive: Archive, _ body: (inout LastScan?) throws -> Result) throws -> Result {
        try memory.lastScan.withLock { lastScan in
            let lock = try RootLock.capturing(path, in: archive.store.layout) { service.mustStop }
            defer { withExtendedLifetime(lock) {} }
            return try body(&lastScan)
        }
    }

    /// Opens the root's directory.
    ///
    /// - Throws: `ArchiverError` with the code `noSuchDirectory` if the root was unmounted and only its empty mount point
    ///   is left, which is not a new state of the root; `otherRoot`, with the other path, if a link leads elsewhere.
    private func openDirectory() throws -> RootDirectory {
        let directory = try RootDirectory.open(path)
        if directory.path != path {
            throw ArchiverError(
                .otherRoot, "\(path) leads to \(directory.path) now", remedy: "watch that directory",
                path: directory.path)
        }
        let known = memory.identity.withLock { $0 }
        if let known, !known.isSameObject(as: directory.status), known.device != directory.status.device {
            let listed = try Descriptor.open(directory.path, O_RDONLY | O_DIRECTORY)
            if try DirectoryReader.list(listed, path: .root).isEmpty {
                throw ArchiverError(
                    .noSuchDirectory, "\(path) is no longer mounted", remedy: "mount it again", path: path)
            }
        }
        memory.identity.withLock { $0 = directory.status }
        return directory
    }

    /// Whether a capture failed because the root is not there.
    private func isMissing(_ error: ArchiverError) -> Bool {
        error.code == .noSuchDirectory && (try? RootDirectory.open(path)) == nil
    }

    // MARK: Large files

    /// Reads the next large file that is due, or the next of all that wait, and commits it on its own.
    func read(all: Bool, passed: Set<RelativePath>) async -> RootMachine.Input {
        guard let file = largeFiles.begin(all: all, passed: passed) else { return .readNothing }
        let start = ContinuousClock.now
        var result: Result<CaptureResult?, ArchiverError> = .success(nil)
        var outcome = LargeFiles.Outcome.superseded
        do {
            let captured = try await Blocking.run { () throws(ArchiverError) in
                try facing { try self.readBlocking(file) }
            }
            if let captured { (result, outcome) = (.success(captured), .captured) }
        } catch {
            if !isMissing(error) { (result, outcome) = (.failure(error), .failed) }
        }
        let took = service.options.hooks.readingTime(file) ?? (ContinuousClock.now - start)
        largeFiles.end(file, outcome, began: start, took: took, retryAfter: service.options.retries.first)
        return .read(file, result)
    }

    /// - Returns: nil if something else has to be captured first.
    private func readBlocking(_ file: RelativePath) throws -> CaptureResult? {
        let opened = try service.archive.current()
        let directory = try openDirectory()
        service.options.hooks.beforeReading(file)
        let capture = prepare(.watch, in: opened.archive)
        let result: CaptureResult?
        do {
            guard let reading = try LargeFileReading(file, of: directory, for: capture) else { return nil }
            service.options.hooks.afterReading(file)
            result = try underLock(in: opened.archive) { lastScan in
                // If the archive or the directory was replaced, a full capture must come first.
                guard archiveNumber == opened.number, directory.isInPlace,
                    try service.archive.current().number == opened.number
                else { return nil }
                return try commit(reading, after: &lastScan)
            }
        } catch let error as StorageError {
            // A capture of the path meets the same damage, and stores the lost chunks again.
            guard error.code == .damaged else { throw error }
            return nil
        }
        try service.archive.check(opened)
        touchLock()
        return result
    }

    private func commit(_ reading: LargeFileReading, after lastScan: inout LastScan?) throws -> CaptureResult? {
        let directories = deferredDirectories.union([reading.path.parent ?? .root])
        let result = try reading.commit(directories: directories, lastScan: lastScan)
        if let listed = result?.snapshot, let former = lastScan, former.snapshot == listed.parent {
            lastScan = LastScan(former, with: listed)
        }
        return result
    }

    // MARK: Audits

    /// Compares everything with the latest snapshot, as some changes cause no event: writes to mapped memory, through a
    /// hard link outside the root, or by another machine.
    func compare() async -> RootMachine.Input {
        let (archive, rules, path) = (service.archive, rules, path)
        do {
            // At low priority and without the root's lock, so that captures continue.
            return try await Blocking.runInBackground { () throws(ArchiverError) in
                try facing {
                    let progress = OperationProgress()
                    let changed = try archive.current().archive.changedPaths(
                        of: path, rules, limit: RootMachine.pathsLimit, progress)
                    return .compared(changed, entries: progress.reading.entries)
                }
            }
        } catch { return .comparingFailed(error) }
    }
}

extension RootDirectory {
    /// Whether the directory is still the one at its path.
    fileprivate var isInPlace: Bool {
        (try? RootDirectory.open(path))?.status.isSameObject(as: status) ?? false
    }
}

extension Archive {
    /// Returns the paths at which a root differs from its latest snapshot, in walk order, at most `limit`.
    ///
    /// The snapshot's tree is read from disk, not from memory.
    ///
    /// - Returns: nil if that tree is damaged. The next capture then visits the whole root.
    func changedPaths(
        of path: FilePath, _ rules: ExclusionRules, limit: Int, _ progress: OperationProgress
    ) throws -> [RelativePath]? {
        let root = try RootDirectory.open(path)
        let parent = try store.catalogue.latestSnapshot(ofRoot: root.path.bytes, machine: Machine.id)
        guard let latest = parent else { return [] }
        var paths: [RelativePath] = []
        store.forgetReadBlocks()
        do {
            let scan = TreeScan(comparing: StoredNodes(store), rules, removesExcluded: true, progress)
            try scan.run(root, base: latest.tree, ranges: [.subtree(.root)]) { change in
                guard change.problem == nil, change.isDifference,
                    let difference = Difference(left: change.old, right: change.new), !difference.isDirectoryTimeOnly
                else { return }
                paths.append(difference.path)
                if paths.count >= limit { throw LimitReached() }
            }
        } catch is LimitReached {
        } catch let error as StorageError {
            guard error.code == .damaged else { throw error }
            try store.catalogue.recordLoss(ofRoot: root.path.bytes, machine: Machine.id)
            return nil
        }
        return paths
    }

    private struct LimitReached: Error {}
}
