// Looking after the archive while it is watched: at intervals, and when room gets short.

internal import ArchiveStorage
internal import Archives
internal import FileIO
internal import Glibc
internal import Keeping
internal import Mementos
internal import Roots
internal import Synchronization
internal import Threading

/// Has an archive maintained for as long as a service runs, by a thread of the lowest priority.
final class Upkeep: Sendable {
    private let service: WatchService
    private let options: MaintenanceOptions
    private let task = Locked<Task<Void, Never>?>(nil)
    private let state = Locked(State())
    private let hasEnded = Atomic(false)
    /// Captures under way: they come first.
    let captures = Atomic(0)

    private struct State {
        var isRunning = false
        /// Whether captures wait for room.
        var isMakingRoom = false
        var started: ContinuousClock.Instant?
        /// What was told of last, so that the same is no news.
        var toldError: String?
        var toldShort = false
    }

    /// How often the archive is looked after, beginning soon after the start.
    private static let interval = Duration.seconds(3600)
    private static let firstPause = Duration.seconds(300)
    /// How often the room is looked at: nobody tells when others fill the disk.
    private static let roomInterval = Duration.seconds(60)
    /// A disk that stays full is no reason to do nothing else.
    private static let leastPause = Duration.seconds(10)
    /// Captures wait so long for room at most: some other process may keep it from being made.
    private static let roomPatience = Duration.seconds(60)
    /// For so long a run waits for captures at most, each time and in all.
    private static let patience = (once: 25, all: 60_000)

    init(_ service: WatchService, _ options: MaintenanceOptions) {
        self.service = service
        self.options = options
    }

    /// Looks after the archive until `cancel`.
    func begin() {
        task.withLock { $0 = Task { await self.maintainPeriodically() } }
    }

    /// Ends it; what is being done ends early.
    func cancel() {
        hasEnded.store(true, ordering: .sequentiallyConsistent)
        task.withLock { $0?.cancel() }
    }

    /// Looks after the archive at once, and waits for that: a capture has found the disk full.
    ///
    /// One that filled it again meanwhile would keep the segment that it writes to from being dropped.
    ///
    /// - Returns: whether it is worth trying again now; not where that was done just before.
    func makeRoom() async -> Bool {
        let isMine = state.withLock { state -> Bool? in
            if state.isMakingRoom { return false }
            let isDue = state.started.map { $0 + Upkeep.leastPause / service.options.timeScale <= .now } ?? true
            state.isMakingRoom = isDue
            return isDue ? true : nil
        }
        guard let isMine else { return false }
        if isMine {
            Task {
                await maintain(isRoomOut: true)
                state.withLock { $0.isMakingRoom = false }
            }
        }
        let end = ContinuousClock.now + Upkeep.roomPatience
        while state.withLock({ $0.isMakingRoom }), !hasEnded.load(ordering: .relaxed), .now < end {
            try? await Task.sleep(for: .milliseconds(10))
        }
        return true
    }

    private func maintainPeriodically() async {
        let scale = service.options.timeScale
        var due = ContinuousClock.now + Upkeep.firstPause / scale
        var wasShort = false
        while !Task.isCancelled {
            let pause = Upkeep.roomInterval / scale
            do { try await Task.sleep(for: pause, tolerance: pause / 10, clock: .continuous) } catch { return }
            let isShort = await measureRoom()
            // What nothing could be done about is not tried again each time.
            if ContinuousClock.now >= due || isShort && !wasShort {
                await maintain()
                due = ContinuousClock.now + Upkeep.interval / scale
            }
            wasShort = isShort
        }
    }

    /// Gives back the space of segments that others have removed and this process has open.
    ///
    /// - Returns: whether there is less room than there should be.
    private func measureRoom() async -> Bool {
        await Blocking.run { [service] in
            let archive = service.archive.latest
            archive.store.closeRemovedSegments()
            return (try? archive.room().isShort) ?? false
        }
    }

    /// Looks after the archive once, unless that is being done.
    private func maintain(isRoomOut: Bool = false) async {
        let isFirst = state.withLock { state in
            if state.isRunning { return false }
            (state.isRunning, state.started) = (true, .now)
            return true
        }
        guard isFirst else { return }
        defer { state.withLock { $0.isRunning = false } }
        do throws(ArchiverError) {
            report(
                try await Blocking.runInBackground { () throws(ArchiverError) in
                    try self.run(isRoomOut: isRoomOut)
                })
        } catch {
            report(error)
        }
    }

    private func run(isRoomOut: Bool) throws(ArchiverError) -> MaintenanceResult {
        // With files of its own: what is done here neither waits for the captures' locks nor holds them.
        let archive = try Archive.open(service.archive.latest.directory)
        var options = options
        options.isRoomOut = isRoomOut
        options.willPrune = { [service] in service.archive.latest.store.giveUpWriters() }
        let waited = Atomic(0)
        defer { service.archive.latest.store.closeRemovedSegments() }
        // No capture comes to an end before there is room.
        return try archive.maintain(
            options, isCancelled: { isRoomOut ? self.hasEnded.load(ordering: .relaxed) : self.pause(waited) })
    }

    /// Lets captures go first.
    ///
    /// - Returns: whether to end.
    private func pause(_ waited: borrowing Atomic<Int>) -> Bool {
        for _ in 0..<Upkeep.patience.once {
            if hasEnded.load(ordering: .relaxed) { return true }
            guard captures.load(ordering: .relaxed) > 0, waited.load(ordering: .relaxed) < Upkeep.patience.all
            else { return false }
            usleep(1000)
            waited.add(1, ordering: .relaxed)
        }
        return hasEnded.load(ordering: .relaxed)
    }

    private func report(_ result: MaintenanceResult) {
        let isNews = state.withLock { state in
            defer { (state.toldError, state.toldShort) = (nil, result.room.isShort) }
            return result.hasChanged || result.room.isShort && !state.toldShort
        }
        if isNews { service.report(.maintained(result)) }
    }

    private func report(_ error: ArchiverError) {
        // Another process does it, or a check goes on; or this one ends.
        if error.code == .inUse || error.code == .cancelled { return }
        let isNews = state.withLock { state in
            defer { state.toldError = error.message }
            return state.toldError != error.message
        }
        if isNews { service.report(.notMaintained(error)) }
    }
}
