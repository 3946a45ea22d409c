// Maintains the archive while roots are watched: at intervals, and when space runs short.

internal import ArchiveStorage
internal import Archives
internal import FileIO
internal import Glibc
internal import Keeping
internal import Mementos
internal import Replicas
internal import Roots
internal import Synchronization
internal import Threading

/// Maintains an archive while a service runs, at the lowest priority unless captures wait for it.
final class Upkeep: Sendable {
    private let service: WatchService
    private let options: MaintenanceOptions
    private let task = Locked<Task<Void, Never>?>(nil)
    private let state = Locked(State())
    /// The number of captures in progress, to which maintenance gives way.
    let captures = Atomic(0)

    private struct State {
        var isRunning = false
        /// Whether `cancel` was called: after the last captures, which may wait for space.
        var hasEnded = false
        /// Reaches 1 at the end of the run that captures wait for.
        var roomIsMade: Milestones?
        var started: ContinuousClock.Instant?
        /// What was reported last, so that it is not repeated.
        var reportedError: String?
        var reportedEviction: String?
        var reportedShort = false
        var reportedAlmostShort = false
    }

    /// How often the space is measured: no event reports that other programs fill the disk.
    private static let roomInterval = Duration.seconds(60)
    /// The shortest pause between runs, so that a disk that stays full does not cause one after another.
    private static let leastPause = Duration.seconds(10)
    /// How long captures wait for space at most, as another process may prevent its release.
    private static let roomPatience = Duration.seconds(60)
    /// How many milliseconds a run waits for captures at most, each time and in total.
    private static let patience = (once: 25, all: 60_000)

    init(_ service: WatchService, _ options: MaintenanceOptions) {
        self.service = service
        self.options = options
    }

    /// Maintains the archive until `cancel`.
    func begin() {
        Archive.readReplicas()
        task.withLock { $0 = Task { await self.maintainPeriodically() } }
    }

    /// Ends maintenance; a run in progress stops early.
    func cancel() {
        let made = state.withLock { state in
            state.hasEnded = true
            return state.roomIsMade
        }
        made?.end()
        task.withLock { $0?.cancel() }
    }

    /// Runs maintenance immediately and waits for it, because a capture has found the disk full.
    ///
    /// A capture that went on writing would prevent the release of its segment.
    ///
    /// - Returns: whether a retry is worthwhile; false if maintenance ran just before.
    func makeRoom() async -> Bool {
        let (made, isMine) = state.withLock { state -> (Milestones?, Bool) in
            if let made = state.roomIsMade { return (made, false) }
            let isDue = state.started.map { $0 + Upkeep.leastPause / service.options.timeScale <= .now } ?? true
            if isDue { state.roomIsMade = Milestones() }
            return (state.roomIsMade, isDue)
        }
        guard let made else { return false }
        if isMine {
            Task {
                await maintain(isRoomOut: true)
                state.withLock { $0.roomIsMade = nil }
                made.reach(1)
            }
        }
        await FirstAnswer.isDone(within: Upkeep.roomPatience) { await made.wait(for: 1) }
        return true
    }

    private func maintainPeriodically() async {
        let scale = service.options.timeScale
        var schedule = UpkeepSchedule(from: .now, timeScale: scale)
        while !Task.isCancelled {
            let pause = Upkeep.roomInterval / scale
            do { try await Task.sleep(for: pause, tolerance: pause / 10, clock: .continuous) } catch { return }
            let (shortage, usedBytes) = await measureRoom()
            guard schedule.isDue(at: .now, shortage, usedBytes: usedBytes) else { continue }
            let result = await maintain()
            // What the run left is known, so that the next shortage is noticed.
            let left = result.map { $0.plan?.isContinued ?? false ? .none : UpkeepSchedule.Shortage($0.room) }
            schedule.ran(at: .now, usedBytes: usedBytes, leaving: left ?? shortage)
        }
    }

    /// Frees the space of removed segments that this process still has open, and everything in an archive that is
    /// away, and releases memory that is no longer needed.
    ///
    /// - Returns: how near the archive is to its budget: it may be too large, or the disk have too little free space;
    ///   and the bytes that it uses.
    private func measureRoom() async -> (UpkeepSchedule.Shortage, usedBytes: UInt64) {
        await Blocking.run { [service] in
            service.followArchive()
            let archive = service.archive.latest
            archive.store.closeRemovedSegments()
            archive.releaseUnusedMemory()
            return (try? archive.room()).map { (.init($0), $0.usedBytes) } ?? (.none, 0)
        }
    }

    /// Runs maintenance once, unless a run is in progress.
    ///
    /// - Returns: nil if it failed or another run is in progress.
    @discardableResult
    private func maintain(isRoomOut: Bool = false) async -> MaintenanceResult? {
        let isFirst = state.withLock { state in
            if state.isRunning { return false }
            (state.isRunning, state.started) = (true, .now)
            return true
        }
        guard isFirst else { return nil }
        defer { state.withLock { $0.isRunning = false } }
        let run = { @Sendable () throws(ArchiverError) in try self.run(isRoomOut: isRoomOut) }
        do throws(ArchiverError) {
            let result = isRoomOut ? try await Blocking.run(run) : try await Blocking.runInBackground(run)
            report(result)
            if !isRoomOut { try await Blocking.runInBackground { () throws(ArchiverError) in self.evict() } }
            return result
        } catch {
            report(error)
            return nil
        }
    }

    private func run(isRoomOut: Bool) throws(ArchiverError) -> MaintenanceResult {
        // Opened separately, so that maintenance neither waits for the captures' locks nor holds them.
        let archive = try service.archive.latest.reopened()
        var options = options
        options.isRoomOut = isRoomOut
        // The next captures begin new segments: otherwise they would take those that are to be freed.
        options.willPrune = { [service] in try? service.archive.latest.store.retireSegments() }
        let waited = Atomic(0)
        defer {
            service.archive.latest.store.continueSegments()
            service.archive.latest.store.closeRemovedSegments()
        }
        // When the disk is full, captures wait for this run: do not wait for them.
        return try archive.maintain(
            options, isCancelled: { isRoomOut ? self.hasEnded : self.pause(waited) })
    }

    /// Removes segments from the local disk that a replica has, if the archive is too large for it.
    private func evict() {
        var failure: ArchiverError?
        do throws(ArchiverError) {
            let waited = Atomic(0)
            let result = try service.archive.latest.reopened().evictSegments(
                stores: service.options.replicaStores, isCancelled: { self.pause(waited) })
            service.archive.latest.store.closeRemovedSegments()
            if let result, result.isShort, let problem = result.problems.first {
                failure = ArchiverError(
                    .replica, "more of the archive stays on the local disk than is set: \(problem)",
                    remedy: Advice.checkReplica.text)
            }
        } catch { failure = error }
        let message = failure?.message
        let isNews = state.withLock { state in
            defer { state.reportedEviction = message }
            return state.reportedEviction != message
        }
        guard isNews, let failure, failure.code != .inUse, failure.code != .cancelled else { return }
        service.report(.notMaintained(failure))
    }

    private var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Pauses while captures run.
    ///
    /// - Returns: whether to stop.
    private func pause(_ waited: borrowing Atomic<Int>) -> Bool {
        for _ in 0..<Upkeep.patience.once {
            if hasEnded { return true }
            guard captures.load(ordering: .relaxed) > 0, waited.load(ordering: .relaxed) < Upkeep.patience.all
            else { return false }
            usleep(1000)
            waited.add(1, ordering: .relaxed)
        }
        return hasEnded
    }

    private func report(_ result: MaintenanceResult) {
        let isNews = state.withLock { state in
            let isAlmostShort = result.room.isAlmostShort
            defer {
                (state.reportedError, state.reportedShort) = (nil, result.isShort)
                state.reportedAlmostShort = isAlmostShort
            }
            return result.hasChanged || result.isShort && !state.reportedShort
                || isAlmostShort && !state.reportedAlmostShort
        }
        if isNews { service.report(.maintained(result)) }
    }

    private func report(_ error: ArchiverError) {
        // Another process is maintaining or checking the archive, or this service is ending.
        if error.code == .inUse || error.code == .cancelled { return }
        let isNews = state.withLock { state in
            defer { state.reportedError = error.message }
            return state.reportedError != error.message
        }
        if isNews { service.report(.notMaintained(error)) }
    }
}
