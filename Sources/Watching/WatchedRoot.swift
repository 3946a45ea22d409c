// One root of a watch service: arm, capture, then capture what changes.

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
internal import Synchronization
internal import SystemPackage
internal import Threading
internal import WatchControl

/// Watches one root and captures its changes.
final class WatchedRoot: Sendable {
    let path: FilePath
    let watch: TreeWatch
    let journal = WatchJournal()
    let gaps: RootGaps
    let service: WatchService
    /// Nobody else may watch the root while this is held.
    private let lock: Locked<FileLock?>
    /// When the watcher before this one was last at work; nil where there was none.
    private let lastWatched: Timestamp?
    /// What is left out, and how changes are gathered, as its user has said last.
    let conduct: Locked<(rules: ExclusionRules, settings: WatchSettings)>
    let lastLook = Locked<LastLook?>(nil)
    let linkIndex = LinkIndex()
    let proofs = ReadProofs()
    /// Large files that are captured on their own.
    let largeFiles: LargeFiles
    let readings: LargeFileReadings
    /// Comes to 1 when the root is being watched.
    private let armed = Milestones()
    /// Flushes whose changes are captured.
    let captured = Milestones()
    private let subscription: Subscription
    /// The directory that is being watched; another one may come to stand at the path.
    private let identity = Locked<FileStatus?>(nil)
    /// Whether the root is not there and its appearance is waited for.
    private let isAwaited = Atomic(false)
    let control = RootControl()
    /// Which opening of the archive the lock is of.
    let archiveNumber = Locked(0)
    let audits = RootAudits()

    /// After a failed capture, the next is tried after this long, then twice as long, and so on.
    var firstRetry: Duration { Duration.seconds(1) / service.options.timeScale }
    var lastRetry: Duration { Duration.seconds(60) / service.options.timeScale }

    /// - Parameters:
    ///   - path: absolute, without symbolic links as far as it exists.
    ///   - rules: what is left out.
    ///   - settings: how changes are gathered.
    ///   - lock: the root's lock for watching.
    init(
        _ service: WatchService, _ path: FilePath, _ rules: ExclusionRules, _ settings: WatchSettings,
        _ lock: consuming FileLock, lastWatched: Timestamp?, _ watcher: TreeWatcher
    ) throws {
        self.service = service
        self.path = path
        gaps = RootGaps(of: path, service)
        conduct = Locked((rules, settings))
        largeFiles = LargeFiles(LargeFileRule(settings))
        readings = LargeFileReadings(largeFiles)
        self.lock = Locked(lock)
        self.lastWatched = lastWatched
        let archive = try FileStatus.read(Descriptor.open(service.archive.latest.directory, O_RDONLY | O_DIRECTORY))
        watch = watcher.watch(
            path, excluding: [FileIdentity(archive)], rules: rules,
            timing: WatchTiming(settings, timeScale: service.options.timeScale))
        let journal = journal
        subscription = watch.events.subscribe { [weak service] event in
            guard let news = WatchNews.record(event, of: path, into: journal) else { return }
            service?.report(news)
        }
    }

    // MARK: Running

    /// Watches until the service is stopped.
    func run() async throws {
        defer {
            armed.end()
            captured.end()
            control.feeds.wake(andEnd: true)
        }
        control.listen(for: self)
        defer { control.stopListening() }
        guard let stats = try await arm() else { return service.report(.stopped(root: path)) }
        armed.reach(1)
        if let lastWatched { await gaps.record(.downtime, from: lastWatched) }
        let first = try await captureAll()
        journal.enter(.watching)
        service.report(
            .watching(
                root: path, directories: stats.watchedDirectories, snapshot: first.latest,
                isNew: first.snapshot != nil))
        control.feeds.wake()
        reportProblems(first)
        if service.shouldStop { hasten() }
        audits.begin(on: self)
        await captureChanges()
        audits.end()
        let openGaps = await watch.status()?.openGaps ?? [:]
        watch.stop()
        await gaps.record(open: openGaps)
        touchLock()
        service.report(.stopped(root: path))
    }

    /// Lets others watch the root.
    ///
    /// Said expressly: some thread may hold on to this for a while after everything has ended.
    func giveUpLock() {
        lock.withLock { $0 = nil }
    }

    /// Takes the root's lock and listens for questions in an archive that was opened anew.
    ///
    /// - Returns: whether it was: then nothing of what was captured before need be in it.
    private func moveLock(to opened: WatchedArchive.Opened) -> Bool {
        let isNew = archiveNumber.withLock { number in
            defer { number = opened.number }
            return number != opened.number
        }
        // Where only the catalogue was lost, the lock is held already.
        if isNew, let new = try? RootLock.watching(path, in: opened.archive.store.layout) {
            var new: FileLock? = new
            lock.withLock { $0 = new.take() }
            // The end of the former one takes the socket's name along.
            control.stopListening()
            control.listen(for: self)
        }
        return isNew
    }

    /// Notes in the lock's file that the watcher is at work.
    func touchLock() {
        lock.withLock { $0?.touch() }
    }

    /// Watches every directory of the root.
    ///
    /// - Returns: nil where the service was stopped before the root appeared.
    private func arm() async throws -> WatchStats? {
        let isThere = (try? RootDirectory.open(path)) != nil
        if isThere || !service.options.waitsForRoots {
            service.report(.starting(root: path))
        } else {
            isAwaited.store(true, ordering: .sequentiallyConsistent)
            journal.enter(.waiting)
            service.report(.waiting(root: path))
            // Whoever stopped the service before this was not heard.
            if service.shouldStop { return nil }
        }
        do {
            let stats = try await watch.arm(waiting: service.options.waitsForRoots)
            isAwaited.store(false, ordering: .sequentiallyConsistent)
            journal.enter(.reading)
            if !isThere { service.report(.starting(root: path)) }
            return stats
        } catch {
            if service.shouldStop, error.code == .canceled { return nil }
            throw error
        }
    }

    /// Makes the next batch due at once: what happened until now is in it.
    func hasten() {
        if isAwaited.load(ordering: .sequentiallyConsistent) { watch.stop() }
        Task { await watch.flush() }
    }

    /// Returns once everything that changed before the call is captured and durable, or watching has ended.
    ///
    /// - Parameter withLargeFiles: whether those that are captured less often are captured now.
    func settle(withLargeFiles: Bool = true) async {
        // Before that, there is nobody who could tell what changed.
        await armed.wait(for: 1)
        guard let flush = await watch.flush() else { return }
        await captured.wait(for: flush)
        if withLargeFiles { await readings.captureWaiting(of: self) }
    }

    // MARK: Capturing

    private func captureChanges() async {
        var retry = firstRetry
        while !service.shouldStop, let batch = await watch.nextBatch() {
            switch await apply(batch) {
            case .applied: retry = firstRetry
            case .roomMade: continue
            case .failed:
                await pause(retry)
                retry = min(retry * 2, lastRetry)
            }
        }
        await readings.end()
        // A batch taken before may lack the last changes: only what a flush of our own makes due has them all.
        guard service.shouldStop, await watch.flush() != nil, let last = await watch.nextBatch() else { return }
        _ = await apply(last, isLast: true)
    }

    /// How it went to capture what a batch leads to.
    private enum Outcome {
        case applied
        /// To be tried again: at once, after room was made, or later.
        case roomMade, failed
    }

    /// Captures what a batch leads to.
    ///
    /// - Parameter isLast: whether nothing may be left for later.
    private func apply(_ batch: ChangeBatch, isLast: Bool = false) async -> Outcome {
        await gaps.record(batch.gaps)
        if batch.gaps.contains(where: { $0.cause == .suspend }) { Task { await audits.run(on: self) } }
        if !batch.isEmpty || isLast && !largeFiles.waiting.isEmpty {
            journal.add(batch.written)
            do {
                try await capture(batch, postpones: !isLast)
            } catch {
                watch.markDirty(batch.ranges)
                let error = ArchiverError(any: error)
                // A root that goes while it is captured is the watcher's to tell.
                if error.code == .noSuchDirectory, (try? RootDirectory.open(path)) == nil { return .applied }
                // The same again is no news.
                if journal.captureFailed(error) { service.report(.error(root: path, error)) }
                return await makesRoom(after: error) ? .roomMade : .failed
            }
        }
        captured.reach(batch.flushes)
        return .applied
    }

    /// Has room made where a capture has found the disk full.
    ///
    /// - Returns: whether it is worth trying again now.
    func makesRoom(after error: ArchiverError) async -> Bool {
        guard error.code == .noSpace, !service.shouldStop, let upkeep = service.upkeep.withLock({ $0 }) else {
            return false
        }
        return await upkeep.makeRoom()
    }

    /// Captures everything at the beginning; where the disk is full, again once room was made.
    private func captureAll() async throws(ArchiverError) -> CaptureResult {
        do throws(ArchiverError) {
            return try await capture([.subtree(.root)], postpones: false)
        } catch {
            guard await makesRoom(after: error) else { throw error }
            return try await capture([.subtree(.root)], postpones: false)
        }
    }

    private func capture(_ batch: ChangeBatch, postpones: Bool) async throws(ArchiverError) {
        let start = ContinuousClock.now
        let result = try await capture(batch.ranges, postpones: postpones)
        if !batch.polled.isEmpty { watch.polled(found: result.snapshot != nil, took: ContinuousClock.now - start) }
        if let snapshot = result.snapshot { announce(snapshot) }
        reportProblems(result)
    }

    /// Tells everybody of a snapshot that is durable.
    func announce(_ snapshot: ListedSnapshot) {
        service.report(.snapshot(snapshot))
        control.feeds.wake()
    }

    /// Waits, but not beyond the service's end.
    func pause(_ duration: Duration) async {
        let clock = ContinuousClock()
        let end = clock.now + duration
        while clock.now < end, !service.shouldStop {
            try? await Task.sleep(until: min(end, clock.now + .milliseconds(100)))
        }
    }

    /// - Parameter postpones: whether large files are captured later, each on its own; else those that wait are captured, too.
    func capture(
        _ ranges: [PathRange], cause: Cause = .watch, postpones: Bool = true
    ) async throws(ArchiverError) -> CaptureResult {
        let (archive, progress) = (service.archive, service.progress)
        let options = CaptureOptions(cause: cause, exclusions: rules, setsExclusions: true)
        let upkeep = service.upkeep.withLock { $0 }
        upkeep?.captures.add(1, ordering: .relaxed)
        journal.captureBegins()
        defer {
            journal.captureStops()
            upkeep?.captures.subtract(1, ordering: .relaxed)
        }
        let ranges = journal.addDeferred(to: ranges)
        let written = journal.written
        let start = ContinuousClock.now
        let result = try await Blocking.run { [self] () throws(ArchiverError) in
            try facing {
                progress.reset()
                let opened = try archive.current()
                let (archive, ranges) = (opened.archive, moveLock(to: opened) ? [.subtree(.root)] : ranges)
                let root = try RootDirectory.open(path)
                try checkIdentity(of: root)
                var capture = Capture(into: archive.nodes, options, progress: progress)
                (capture.linkIndex, capture.written, capture.proofs) = (linkIndex, written, proofs)
                (capture.largeFiles, capture.postponesLargeFiles) = (largeFiles, postpones)
                capture.lastLook = lastLook.withLock { $0 }
                let lock = try RootLock.capturing(root.path, in: archive.store.layout) { self.service.mustStop }
                // Only now does nobody else find large files to leave for later.
                let waiting = largeFiles.uncaptured
                capture.waiting = waiting
                let result = try capture.runLocked(
                    root, postpones ? ranges : ranges.adding(waiting.map { .entry($0) }))
                if !postpones { largeFiles.captured(waiting) }
                lastLook.withLock { $0 = LastLook(result) }
                withExtendedLifetime(lock) {}
                try service.archive.check(opened)
                touchLock()
                return result
            }
        }
        journal.captureEnded(ranges, result, of: cause, at: .now)
        largeFiles.looked(at: postpones ? ranges : [.subtree(.root)], began: start)
        readings.follow(self)
        // What is captured is announced, whether or not this succeeds.
        await gaps.enter()
        return result
    }

    /// Refuses the bare mount point of a root that was unmounted: that is not the root's new, empty state.
    func checkIdentity(of root: RootDirectory) throws {
        let known = identity.withLock { $0 }
        if let known, !known.isSameObject(as: root.status), known.device != root.status.device {
            let listed = try Descriptor.open(root.path, O_RDONLY | O_DIRECTORY)
            if try DirectoryReader.list(listed, path: .root).isEmpty {
                throw ArchiverError(
                    .noSuchDirectory, "\(path) is no longer mounted", remedy: "mount it again", path: path)
            }
        }
        identity.withLock { $0 = root.status }
    }

    func reportProblems(_ result: CaptureResult) {
        guard result.problemCount > 0 else { return }
        if journal.takeAreNew() {
            service.report(.problems(root: path, result.problems, count: result.problemCount))
        }
        // What kept changing is looked at again; what may not be read waits for its next change.
        watch.markDirty(result.problems.filter { $0.reason == .unstable }.map { .entry($0.path) })
        visitAgain(result.problems.filter(\.mayPass).map { .subtree($0.path) })
    }

    /// Looks after a while at places that gave an error, as a disk or a server does: nothing tells when they are well again.
    private func visitAgain(_ ranges: [PathRange]) {
        guard !ranges.isEmpty, let pause = journal.beginPause(firstRetry, atMost: lastRetry) else { return }
        Task { [weak self] in
            await self?.pause(pause)
            self?.journal.endPause()
            self?.watch.markDirty(ranges)
        }
    }
}
