// One root of a watch service: carries out what its machine decides.

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
internal import SystemPackage
internal import Threading
internal import WatchControl

/// Watches one root and captures its changes.
///
/// `RootMachine` decides; this carries its actions out and hands their results back. Actions are begun under one lock,
/// in their order; whatever takes time is a task.
final class WatchedRoot: Sendable {
    private struct Core {
        var machine: RootMachine
        /// Gives the machine the input `time` when something is due.
        var timer: Task<Void, Never>?
        var due: ContinuousClock.Instant?
        /// The callers that wait for an answer, by the number of their request.
        var callers: [Int: CheckedContinuation<RootMachine.Answer, Never>] = [:]
        var requests = 0
        /// Resumed at the end.
        var run: CheckedContinuation<Result<FilePath?, ArchiverError>, Never>?
    }

    /// The lock that keeps other processes from watching the root.
    private struct Lock: ~Copyable {
        var file: FileLock?
        /// The number of the archive's opening that it belongs to.
        var archive = 0
        /// Whether the root has ended: what is still running must not take the lock again.
        var hasEnded = false
    }

    let path: FilePath
    let watch: TreeWatch
    let service: WatchService
    let watcher: TreeWatcher
    let control = RootControl()
    /// The large files that are captured on their own.
    let largeFiles: LargeFiles
    /// What earlier captures have learned.
    let memory = CaptureMemory()
    private let core: Locked<Core>
    private let lock: Locked<Lock>

    /// - Parameters:
    ///   - path: absolute, with symbolic links resolved in its existing part.
    ///   - rules: the exclusion rules.
    ///   - settings: how changes are gathered.
    ///   - lock: the root's lock for watching.
    ///   - lastWatched: when the previous watcher was last active; nil if there was none.
    init(
        _ service: WatchService, _ path: FilePath, _ rules: ExclusionRules, _ settings: WatchSettings,
        _ lock: consuming FileLock, lastWatched: Timestamp?, _ watcher: TreeWatcher
    ) throws {
        (self.service, self.path, self.watcher) = (service, path, watcher)
        largeFiles = LargeFiles(LargeFileRule(settings))
        self.lock = Locked(Lock(file: lock))
        let machine = RootMachine(
            path, rules, settings, retries: service.options.retries, waitsForRoot: service.options.waitsForRoots,
            lastWatched: lastWatched, at: .now
        ) { cause, start, end in
            GapRecord(
                rootPath: path.bytes, host: CurrentProcess.hostName, cause: cause, start: start, end: end,
                machine: Machine.id)
        }
        core = Locked(Core(machine: machine))
        let archive = try FileStatus.read(Descriptor.open(service.archive.latest.directory, O_RDONLY | O_DIRECTORY))
        watch = watcher.watch(
            path, excluding: [FileIdentity(archive)], rules: rules,
            timing: WatchTiming(settings, timeScale: service.options.timeScale))
    }

    // MARK: The machine

    /// Watches until the task is cancelled, and makes a last capture then.
    ///
    /// - Returns: the directory to watch instead: the root was moved, and its path is a link to that place.
    func run() async throws(ArchiverError) -> FilePath? {
        control.listen(for: self)
        let subscription = watch.events.subscribe { [weak self] in self?.notice($0) }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { run in
                core.withLock { core in
                    core.run = run
                    feed(.begin, &core)
                }
            }
        } onCancel: {
            // This must not take a lock under which continuations are resumed.
            Task { send(.end) }
        }
        withExtendedLifetime(subscription) {}
        control.stopListening()
        control.feeds.wake(andEnd: true)
        return try result.get()
    }

    private func send(_ input: RootMachine.Input) { core.withLock { feed(input, &$0) } }

    private func feed(_ input: RootMachine.Input, _ core: inout Core) {
        core.machine.largeFiles = RootMachine.LargeFileState(largeFiles)
        for action in core.machine.handle(input, at: .now) { perform(action, &core) }
        let due = core.machine.nextDue
        if due == core.due { return }
        core.due = due
        core.timer?.cancel()
        core.timer = due.map { due in
            Task { [weak self] in
                guard (try? await Task.sleep(until: due, clock: .continuous)) != nil else { return }
                self?.wake()
            }
        }
    }

    private func wake() {
        core.withLock { core in
            core.due = nil
            feed(.time, &core)
        }
    }

    private func perform(_ action: RootMachine.Action, _ core: inout Core) {
        switch action {
        case .look: begin { await self.look() }
        case .arm: begin { await self.arm() }
        case .continueHistory: begin { await self.continueHistory() }
        case .enter(let gaps): begin { await self.enter(gaps) }
        case .nextBatch: begin { .batch(await self.watch.nextBatch()) }
        case .flush(let caller): begin { .flushed(caller, await self.watch.flush()) }
        case .capture(let order): begin { await self.capture(order) }
        case .makeRoom(let toRead):
            begin {
                let isWorthwhile = await self.service.upkeep.withLock { $0 }?.makeRoom() ?? false
                return toRead ? .madeRoomToRead : .madeRoom(isWorthwhile)
            }
        case .read(let all, let passed): begin { await self.read(all: all, passed: passed) }
        case .auditWatches:
            begin {
                let audit = await self.watch.audit()
                return .auditedWatches(repaired: (audit?.missingWatches ?? 0) + (audit?.strayWatches ?? 0))
            }
        case .compare: begin { await self.compare() }
        case .restart(let rules): begin { await self.restart(rules) }
        case .close:
            begin {
                let status = await self.watch.status()
                self.watch.stop()
                self.touchLock()
                return .closed(openGaps: status?.openGaps ?? [:])
            }
        case .stopWatch: watch.stop()
        case .markDirty(let ranges): watch.markDirty(ranges)
        case .polled(let found, let took): watch.polled(found: found, took: took)
        case .report(let event):
            service.report(event)
            switch event {
            case .snapshot, .watching: control.feeds.wake()
            default: break
            }
        case .record(let error): service.record(error, of: path)
        case .answer(let id, let answer): core.callers.removeValue(forKey: id)?.resume(returning: answer)
        case .finish(let result):
            core.run?.resume(returning: result)
            core.run = nil
        }
    }

    /// Begins what takes time; its result is an input.
    private func begin(_ deed: @escaping @Sendable () async -> RootMachine.Input) {
        Task { send(await deed()) }
    }

    private func notice(_ event: WatchEvent) {
        switch event {
        // The gap is in the batch that closes it; the others are answers.
        case .armed, .gap, .audited: break
        case .fallback(let fallback): send(.fellBack(Finding(fallback)))
        case .rootUnavailable: send(.rootLeft)
        case .rootBack: send(.rootReturned)
        }
    }

    // MARK: What others ask

    var phase: WatcherStatus.Phase { core.withLock { $0.machine.phase } }
    /// The exclusion rules in force.
    var rules: ExclusionRules { core.withLock { $0.machine.rules } }
    /// Whether the root makes a last capture and ends.
    var isEnding: Bool { core.withLock { $0.machine.isEndRequested } }
    /// Directories that earlier captures deferred, because only their time had changed.
    var deferredDirectories: Set<RelativePath> { core.withLock { $0.machine.deferredDirectories } }

    var timing: WatchTiming {
        WatchTiming(core.withLock { $0.machine.settings }, timeScale: service.options.timeScale)
    }

    func status(_ watch: TreeWatchStatus?, isCurrent: Bool, probe: Duration) -> WatcherStatus {
        core.withLock { $0.machine.status(watch, process: getpid(), isCurrent: isCurrent, probe: probe) }
    }

    private func ask(_ request: RootMachine.Request) async -> RootMachine.Answer {
        await withCheckedContinuation { caller in
            core.withLock { core in
                core.requests += 1
                core.callers[core.requests] = caller
                feed(.ask(request, id: core.requests), &core)
            }
        }
    }

    /// Returns when everything that changed before the call is captured and durable, or when watching has ended.
    ///
    /// - Parameter withLargeFiles: whether to capture postponed large files now.
    /// - Returns: whether everything is captured; if not, watching has ended.
    @discardableResult
    func settle(withLargeFiles: Bool = true) async -> Bool {
        if case .success = await ask(.settle(withLargeFiles: withLargeFiles)) { true } else { false }
    }

    /// Compares everything, captures missed changes, and repairs the watches; nil is never returned.
    ///
    /// If an audit is already in progress, waits for its result.
    func audit() async throws(ArchiverError) -> AuditResult? { try await ask(.audit).get() }

    /// Applies the remembered settings, and `rules` if given; returns when they are in force and newly included files
    /// are captured.
    func configure(_ rules: ExclusionRules?) async throws(ArchiverError) {
        let phase = phase
        guard phase == .watching else {
            throw ArchiverError(
                .noSuchDirectory, "\(path) is \(phase.rawValue): its watcher cannot apply settings now",
                remedy: "try again when it is watched", path: path)
        }
        let remembered = WatchSettingsFile(of: path, in: service.archive.latest.store.layout).read()
        largeFiles.rule = LargeFileRule(remembered)
        send(.changed(remembered))
        watch.retime(timing)
        guard let rules, rules != self.rules else { return }
        // Changes until now are captured under the old rules.
        await settle()
        _ = try await ask(.follow(rules)).get()
        await settle()
    }

    // MARK: The lock

    /// Releases the root's lock for good.
    ///
    /// Done explicitly, as some thread may still hold this object for a while after the end.
    func finish() {
        lock.withLock { lock in
            lock.hasEnded = true
            lock.file = nil
        }
    }

    /// Moves the lock and the control socket to a reopened archive.
    ///
    /// - Returns: whether the archive was reopened, and so may lack everything captured before.
    func moveLock(to opened: WatchedArchive.Opened) -> Bool {
        let (isNew, isHeld) = lock.withLock { lock in
            let isNew = lock.archive != opened.number
            lock.archive = opened.number
            return (isNew, lock.file != nil)
        }
        if isNew || !isHeld { takeLock(in: opened.archive) }
        return isNew
    }

    /// The number of the archive's opening that the lock belongs to.
    var archiveNumber: Int { lock.withLock { $0.archive } }

    /// Whether the root's lock is held: not while the archive is away.
    var hasLock: Bool { lock.withLock { $0.file != nil } }

    /// Takes the lock in a reopened archive, and listens there.
    func takeLock(in archive: Archive) {
        if lock.withLock({ $0.hasEnded }) { return }
        // If only the catalogue was lost, the lock is already held.
        guard let taken = try? RootLock.watching(path, in: archive.store.layout) else { return }
        var new: FileLock? = taken
        lock.withLock { $0.file = new.take() }
        // Stop the old server first, as its end removes the socket's name.
        control.stopListening()
        control.listen(for: self)
    }

    /// Closes the lock and the control socket of an archive that is away: they would keep its disk in use.
    func releaseArchive() {
        if !hasLock { return }
        control.stopListening()
        lock.withLock { $0.file = nil }
    }

    /// Records in the lock's file that the watcher is active.
    func touchLock() {
        lock.withLock { $0.file?.touch() }
    }
}

extension WatchTiming {
    init(_ settings: WatchSettings, timeScale: Int) {
        self.init(settle: settings.usedSettle, maxDelay: settings.usedMaxDelay, timeScale: timeScale)
    }
}

extension RootMachine.LargeFileState {
    /// What is known of `files` now; those that it reports are marked as reported.
    fileprivate init(_ files: LargeFiles) {
        unreported = files.takeUnreported().map(WatcherStatus.LargeFile.init)
        (nextDue, isAnyWaiting, isAnyLeft) = (files.nextDue, !files.waiting.isEmpty, files.isAnyLeft)
    }
}
