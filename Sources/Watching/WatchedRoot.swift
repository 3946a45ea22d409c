// One root of a watch service: sets watches, captures everything, then captures changes.

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
    let state = RootState()
    let gaps: RootGaps
    let service: WatchService
    let watcher: TreeWatcher
    /// The lock that keeps other processes from watching the root.
    private let lock: Locked<FileLock?>
    /// When the previous watcher was last active; nil if there was none.
    private let lastWatched: Timestamp?
    /// The exclusion rules and settings in force.
    let rulesAndSettings: Locked<(rules: ExclusionRules, settings: WatchSettings)>
    /// The large files that are captured on their own.
    let largeFiles: LargeFiles
    let captures: RootCaptures
    let readings: LargeFileReadings
    /// Reaches 1 when the root is being watched.
    private let armed = Milestones()
    /// Counts the flushes whose changes are captured.
    let captured = Milestones()
    private let subscription: Subscription
    /// Whether the root does not exist and the service waits for it.
    private let isAwaited = Atomic(false)
    /// The end of this root, or of the service.
    let ending: Ending
    /// Whether the root has ended: an audit that is still running must not take the lock again.
    private let hasEnded = Atomic(false)
    let control = RootControl()
    /// The number of the archive's opening that the lock belongs to.
    let archiveNumber = Locked(0)
    let audits = RootAudits()

    /// The pauses before a failed capture is retried.
    var retries: Backoff { service.options.retries }

    /// - Parameters:
    ///   - path: absolute, with symbolic links resolved in its existing part.
    ///   - rules: the exclusion rules.
    ///   - settings: how changes are gathered.
    ///   - lock: the root's lock for watching.
    init(
        _ service: WatchService, _ path: FilePath, _ rules: ExclusionRules, _ settings: WatchSettings,
        _ lock: consuming FileLock, lastWatched: Timestamp?, _ watcher: TreeWatcher
    ) throws {
        self.service = service
        ending = Ending(within: service.ending)
        self.path = path
        self.watcher = watcher
        gaps = RootGaps(of: path, service)
        rulesAndSettings = Locked((rules, settings))
        largeFiles = LargeFiles(LargeFileRule(settings))
        captures = RootCaptures(largeFiles)
        readings = LargeFileReadings(largeFiles)
        self.lock = Locked(lock)
        self.lastWatched = lastWatched
        let archive = try FileStatus.read(Descriptor.open(service.archive.latest.directory, O_RDONLY | O_DIRECTORY))
        watch = watcher.watch(
            path, excluding: [FileIdentity(archive)], rules: rules,
            timing: WatchTiming(settings, timeScale: service.options.timeScale))
        let state = state
        subscription = watch.events.subscribe { [weak service] event in
            guard let news = WatchNews.record(event, of: path, into: state) else { return }
            service?.report(news)
        }
    }

    // MARK: Running

    /// Whether the root makes a last capture and ends.
    var shouldStop: Bool { ending.isRequested }

    /// Requests a last capture and the end of this root.
    func end() {
        ending.request()
        hasten()
    }

    /// Watches until the service is stopped.
    ///
    /// - Returns: the directory to watch instead: the root was moved, and its path is a link to that place.
    func run() async throws -> FilePath? {
        defer {
            armed.end()
            captured.end()
            control.feeds.wake(andEnd: true)
        }
        control.listen(for: self)
        defer { control.stopListening() }
        guard let (stats, wasAwaited) = try await arm() else {
            service.report(.stopped(root: path))
            return nil
        }
        if wasAwaited { try await continueHistory() }
        armed.reach(1)
        if let lastWatched { await gaps.record(.downtime, from: lastWatched) }
        let first: CaptureResult
        do throws(ArchiverError) {
            guard let result = try await captureAll() else {
                watch.stop()
                touchLock()
                service.report(.stopped(root: path))
                return nil
            }
            first = result
        } catch {
            guard error.code == .otherRoot, let place = error.path else { throw error }
            watch.stop()
            return place
        }
        state.enter(.watching)
        service.report(
            .watching(
                root: path, directories: stats.watchedDirectories, snapshot: first.latest,
                isNew: first.snapshot != nil))
        control.feeds.wake()
        reportProblems(first)
        if shouldStop { hasten() }
        audits.begin(on: self)
        let place = await captureChanges()
        audits.end()
        let openGaps = await watch.status()?.openGaps ?? [:]
        watch.stop()
        await gaps.record(open: openGaps)
        touchLock()
        if place == nil { service.report(.stopped(root: path)) }
        return place
    }

    /// Releases the root's lock for good.
    ///
    /// Done explicitly, as some thread may still hold this object for a while after the end.
    func finish() {
        hasEnded.store(true, ordering: .sequentiallyConsistent)
        releaseLock()
    }

    private func releaseLock() {
        lock.withLock { $0 = nil }
    }

    /// Moves the lock and the control socket to a reopened archive.
    ///
    /// - Returns: whether the archive was reopened, and so may lack everything captured before.
    func moveLock(to opened: WatchedArchive.Opened) -> Bool {
        let isNew = archiveNumber.withLock { number in
            defer { number = opened.number }
            return number != opened.number
        }
        if isNew || !hasLock { takeLock(in: opened.archive) }
        return isNew
    }

    /// Whether the root's lock is held: not while the archive is away.
    var hasLock: Bool { lock.withLock { $0 != nil } }

    /// Takes the lock in a reopened archive, and listens there.
    func takeLock(in archive: Archive) {
        if hasEnded.load(ordering: .sequentiallyConsistent) { return }
        // If only the catalogue was lost, the lock is already held.
        guard let taken = try? RootLock.watching(path, in: archive.store.layout) else { return }
        var new: FileLock? = taken
        lock.withLock { $0 = new.take() }
        // Stop the old server first, as its end removes the socket's name.
        control.stopListening()
        control.listen(for: self)
    }

    /// Closes the lock and the control socket of an archive that is away: they would keep its disk in use.
    func releaseArchive() {
        if !hasLock { return }
        control.stopListening()
        releaseLock()
    }

    /// Records in the lock's file that the watcher is active.
    func touchLock() {
        lock.withLock { $0?.touch() }
    }

    private func reportStart() async {
        let (archive, query) = (service.archive.latest, SnapshotQuery(root: ArchivedRoot(here: path), limit: 1))
        let isNew = await Blocking.run { (try? archive.snapshots(query).isEmpty) ?? true }
        service.report(.starting(root: path, isNew: isNew))
    }

    /// Watches every directory of the root.
    ///
    /// - Returns: also whether the root had to appear first; nil if the service was stopped before that.
    private func arm() async throws -> (stats: WatchStats, wasAwaited: Bool)? {
        let isThere = (try? RootDirectory.open(path)) != nil
        if isThere || !service.options.waitsForRoots {
            await reportStart()
        } else {
            isAwaited.store(true, ordering: .sequentiallyConsistent)
            state.enter(.waiting)
            service.report(.waiting(root: path))
            // A `stop` before `isAwaited` was set did not cancel the wait.
            if shouldStop { return nil }
        }
        do {
            let stats = try await watch.arm(waiting: service.options.waitsForRoots)
            isAwaited.store(false, ordering: .sequentiallyConsistent)
            state.enter(.reading)
            if !isThere { await reportStart() }
            return (stats, !isThere)
        } catch {
            if shouldStop, error.code == .canceled { return nil }
            throw error
        }
    }

    /// Makes the next batch due immediately; it contains all changes until now.
    func hasten() {
        if isAwaited.load(ordering: .sequentiallyConsistent) { watch.stop() }
        Task { await watch.flush() }
    }

    /// Returns when everything that changed before the call is captured and durable, or when watching has ended.
    ///
    /// - Parameter withLargeFiles: whether to capture postponed large files now.
    /// - Returns: whether everything is captured; if not, watching has ended.
    @discardableResult
    func settle(withLargeFiles: Bool = true) async -> Bool {
        // Without watches, no changes are known.
        await armed.wait(for: 1)
        guard let flush = await watch.flush() else { return false }
        guard await captured.wait(for: flush) else { return false }
        if withLargeFiles { await readings.captureWaiting(of: self) }
        return true
    }

    // MARK: Capturing

    /// - Returns: the directory to watch instead, if the root was moved.
    private func captureChanges() async -> FilePath? {
        var retries = retries
        while !shouldStop, let batch = await watch.nextBatch() {
            switch await apply(batch) {
            case .applied: retries.reset()
            case .roomMade: continue
            case .failed:
                await ending.pause(retries.next())
            case .moved(let place):
                await readings.end()
                return place
            }
        }
        await readings.end()
        // An earlier batch may lack the last changes; the batch after a flush has all of them.
        guard shouldStop, await watch.flush() != nil, let last = await watch.nextBatch() else { return nil }
        if case .moved(let place) = await apply(last, isLast: true) { return place }
        return nil
    }

    /// Continues the history of the root that has appeared, if it was moved.
    private func continueHistory() async throws {
        let archive = service.archive.latest
        let rules = try await Blocking.run { [path, service] () throws(ArchiverError) in
            try facing { () -> ExclusionRules? in
                let directory = try RootDirectory.open(path)
                // A path that has become a link leads to a root of its own.
                guard directory.path == path, let related = try archive.continueHistory(of: directory) else {
                    return nil
                }
                service.report(.related(root: path, related))
                return related.relation == .moved ? try service.rules(of: path) : nil
            }
        }
        if let rules { rulesAndSettings.withLock { $0.rules = rules } }
    }

    /// The outcome of capturing a batch.
    private enum Outcome {
        case applied
        /// To be retried: immediately, as space was freed, or later.
        case roomMade, failed
        /// The root's path is a link to this place now.
        case moved(FilePath)
    }

    /// Captures the changes of a batch.
    ///
    /// - Parameter isLast: whether nothing may be postponed.
    private func apply(_ batch: ChangeBatch, isLast: Bool = false) async -> Outcome {
        if batch.gaps.contains(where: { $0.cause == .rootUnavailable }) {
            // While the directory was away, it may have been captured at another path. A failure is seen again below.
            try? await continueHistory()
        }
        await gaps.record(batch.gaps)
        if batch.gaps.contains(where: { $0.cause == .suspend }) { Task { await audits.run(on: self) } }
        if !batch.isEmpty || isLast && !largeFiles.waiting.isEmpty {
            state.add(batch.written)
            do {
                try await capture(batch, postpones: !isLast)
            } catch {
                watch.markDirty(batch.ranges)
                let error = ArchiverError(any: error)
                if error.code == .otherRoot, let place = error.path { return .moved(place) }
                // If the root disappears during a capture, the watcher reports it.
                if error.code == .noSuchDirectory, (try? RootDirectory.open(path)) == nil { return .applied }
                service.record(error, of: path)
                // Repeated errors are not reported.
                if state.captureFailed(error) { service.report(.error(root: path, error)) }
                return await makesRoom(after: error) ? .roomMade : .failed
            }
        }
        service.record(nil, of: path)
        captured.reach(batch.flushes)
        return .applied
    }

    /// Frees space if a capture failed because the disk is full.
    ///
    /// - Returns: whether an immediate retry is worthwhile.
    func makesRoom(after error: ArchiverError) async -> Bool {
        guard error.code == .noSpace, !shouldStop, let upkeep = service.upkeep.withLock({ $0 }) else {
            return false
        }
        return await upkeep.makeRoom()
    }

    /// Makes the first capture, of everything; while the disk is full, retries as after later changes.
    ///
    /// - Returns: nil if the service was stopped while there was no room.
    private func captureAll() async throws(ArchiverError) -> CaptureResult? {
        var retries = retries
        while true {
            do throws(ArchiverError) {
                let result = try await captures.capture([.subtree(.root)], of: self, postpones: false)
                service.record(nil, of: path)
                return result
            } catch {
                guard error.code == .noSpace else { throw error }
                service.record(error, of: path)
                // Repeated errors are not reported.
                if state.captureFailed(error) { service.report(.error(root: path, error)) }
                if await makesRoom(after: error) { continue }
                await ending.pause(retries.next())
                if shouldStop { return nil }
            }
        }
    }

    private func capture(_ batch: ChangeBatch, postpones: Bool) async throws(ArchiverError) {
        let start = ContinuousClock.now
        let result = try await captures.capture(batch.ranges, of: self, postpones: postpones)
        if !batch.polled.isEmpty { watch.polled(found: result.snapshot != nil, took: ContinuousClock.now - start) }
        if let snapshot = result.snapshot { announce(snapshot) }
        reportProblems(result)
    }

    /// Announces a durable snapshot to observers and subscribers.
    func announce(_ snapshot: ListedSnapshot) {
        service.report(.snapshot(snapshot))
        control.feeds.wake()
    }

    func reportProblems(_ result: CaptureResult) {
        if let later = result.laterPrevious { service.report(.wrongClock(root: path, later: later)) }
        guard result.problemCount > 0 else { return }
        if state.takeAreNew() {
            service.report(.problems(root: path, result.problems, count: result.problemCount))
        }
        // Unstable files are retried now, I/O errors after a pause; denied files wait for their next change.
        watch.markDirty(result.problems.filter { $0.reason == .unstable }.map { .entry($0.path) })
        visitAgain(result.problems.filter(\.mayPass).map { .subtree($0.path) })
    }

    /// Retries places that failed with an I/O error, after a pause: no event reports that a disk or server has
    /// recovered.
    private func visitAgain(_ ranges: [PathRange]) {
        guard !ranges.isEmpty, let pause = state.beginPause(retries) else { return }
        Task { [weak self] in
            await self?.ending.pause(pause)
            self?.state.endPause()
            self?.watch.markDirty(ranges)
        }
    }
}
