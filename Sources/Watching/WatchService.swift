// The watch service: watches roots and captures their changes.

public import ArchiveFormat
public import ArchiveStorage
public import Archives
internal import Capturing
public import Exclusions
package import FileIO
public import FileWatching
public import Keeping
public import Mementos
package import Replicas
public import Roots
public import SystemPackage
internal import Threading
public import WatchControl

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Watches roots and captures their changes until it is stopped.
public final class WatchService: Sendable {
    /// How changes are gathered.
    public struct Options: Sendable {
        /// How changes are gathered from now on; nil values keep each root's remembered settings.
        public var settings: WatchSettings
        /// How changes are detected.
        public var backend: WatchBackend
        /// The exclusion rules from now on; nil for those of each root's snapshots so far.
        public var exclusions: ExclusionRules?
        /// The exclusion rules of roots without snapshots, if `exclusions` is nil.
        public var newRootExclusions = ExclusionRules()
        /// Whether to wait for a root that does not exist, instead of throwing.
        public var waitsForRoots: Bool
        /// How the archive is maintained while the service runs; nil for no maintenance.
        public var maintenance: MaintenanceOptions?
        /// The factor by which tests shorten every interval that is not set here.
        ///
        /// This covers retries, polling, maintenance, and the search for a missing root.
        package var timeScale = 1

        /// The pauses before what failed is tried again.
        var retries: Backoff { Backoff(.seconds(1) / timeScale, atMost: .seconds(60) / timeScale) }
        /// How many events wait for slow observers; further ones are dropped and counted.
        package var eventLimit = 1024
        /// How the stores of replicas are opened.
        package var replicaStores = ReplicaStores.all
        /// Called after each request of another process about a root was answered.
        package var onAnswer: @Sendable (AnsweredRequest) -> Void = { _ in }
        /// Where tests inject faults.
        package var hooks = Hooks()

        /// Options; nil ones are as the roots were watched before.
        public init(
            _ settings: WatchSettings = WatchSettings(), backend: WatchBackend = .auto,
            exclusions: ExclusionRules? = nil,
            waitsForRoots: Bool = false, maintenance: MaintenanceOptions? = .unattended
        ) {
            self.settings = settings
            self.backend = backend
            self.exclusions = exclusions
            self.waitsForRoots = waitsForRoots
            self.maintenance = maintenance
        }
    }

    /// Hooks by which tests inject faults; they do nothing by default.
    package struct Hooks: Sendable {
        /// Called before gaps are entered into the archive; throw to make that fail.
        package var beforeEnteringGaps: @Sendable () throws -> Void = {}
        /// Called by a capture that holds the root's capture lock; may block.
        package var underCaptureLock: @Sendable (Cause) -> Void = { _ in }
        /// Called before a large file is read on its own; may block.
        package var beforeReading: @Sendable (RelativePath) -> Void = { _ in }
        /// Called after a large file was read on its own, before the commit; may block.
        package var afterReading: @Sendable (RelativePath) -> Void = { _ in }
        /// The assumed duration of reading a large file; nil for the measured one.
        package var readingTime: @Sendable (RelativePath) -> Duration? = { _ in nil }

        package init() {}
    }

    /// An event of the watching.
    public enum Event: Sendable {
        /// The root does not exist; it will be watched when it appears.
        case waiting(root: FilePath)
        /// The root is inside another one, and is captured with it.
        case covered(root: FilePath, by: FilePath)
        /// The service has begun to read the root; `isNew` if the archive has no snapshot of it yet.
        case starting(root: FilePath, isNew: Bool)
        /// `snapshot` holds the root's state, and every later change will be detected.
        case watching(root: FilePath, directories: Int, snapshot: ListedSnapshot, isNew: Bool)
        /// A snapshot is durable.
        case snapshot(ListedSnapshot)
        /// Changes in this span may have been missed or seen late.
        case gap(GapRecord)
        /// Part of the root is watched by another backend or polled, or the watcher cannot be asked for its status.
        case fallback(root: FilePath, message: String, remedy: String?)
        /// The root is missing from its path; its latest snapshot stays as it is.
        case unavailable(root: FilePath)
        /// The root is at its path again.
        case available(root: FilePath)
        /// An audit has compared everything with the latest snapshot.
        case audited(root: FilePath, AuditResult)
        /// Paths that could not be captured as they are: the first ones, and their number.
        case problems(root: FilePath, [Problem], count: Int)
        /// A large file changes constantly: from now on it is captured less often than the rest.
        case largeFile(root: FilePath, WatcherStatus.LargeFile)
        /// The root continues the history of another one, or may be related to it.
        case related(root: FilePath, RelatedRoot)
        /// The snapshot before a new one is dated later: the clock is wrong now, or was then.
        case wrongClock(root: FilePath, later: ListedSnapshot)
        /// A capture, an audit, or the recording of a gap failed; it will be retried.
        case error(root: FilePath, ArchiverError)
        /// Maintenance forgot snapshots, or freed space, or found too little room.
        case maintained(MaintenanceResult)
        /// Maintenance failed; it will be retried.
        case notMaintained(ArchiverError)
        /// The replica `name` cannot be sent to; it will be tried again, and later failures in a row are not reported.
        case replicaFailed(name: String, ArchiverError)
        /// The replica `name` has everything again.
        case replicaComplete(name: String)
        /// Observers were too slow and missed `events` events here, `warnings` of them warnings.
        case dropped(events: Int, warnings: Int)
        /// Watching has ended, after a last capture if the root was being watched.
        case stopped(root: FilePath)
    }

    private struct Course {
        var hasBegun = false
        /// When `stop` was called first.
        var stopTime: ContinuousClock.Instant?
        /// Watches all roots; each ends after a last capture when it is cancelled.
        var work: Task<Result<Void, ArchiverError>, Never>?
    }

    /// Sends the events, in order, on a thread of its own: slow observers delay no capture.
    public let events = Subject<Event>()
    private let outbox: EventOutbox
    private let unsaved = Locked<[FilePath: ArchiverError]>([:])
    /// The progress of the current capture.
    public let progress = OperationProgress()
    let archive: WatchedArchive
    let options: Options
    private let paths: [FilePath]
    /// The roots of a service whose roots may change; nil if they stay as they are.
    let assignments: RootAssignments?
    let roots = Locked<[WatchedRoot]>([])
    /// The watcher of all roots, once the service runs.
    let watcher = Locked<TreeWatcher?>(nil)
    private let course = Locked(Course())
    /// Reaches 1 when all roots are open; ends with the service.
    let opened = Milestones()
    /// The maintenance of the archive; nil unless the service runs with maintenance.
    let upkeep = Locked<Upkeep?>(nil)

    /// What sends to the archive's replicas, once the service runs.
    let replicating = Locked<Replicating?>(nil)

    /// How long the service sends to replicas at the end.
    private static let lastSending = Duration.seconds(5)
    /// How long the service waits for observers at the end.
    private static let lastDelivery = Duration.seconds(5)
    /// How long the last capture waits for one by another process.
    private static let lastCapture = Duration.seconds(5)

    /// Creates a service for the directories `roots`; it does nothing before `run`.
    ///
    /// The archive's caches become smaller: a program that also reads much opens the archive once more for that.
    public init(_ archive: Archive, roots: [FilePath], _ options: Options = Options()) {
        self.archive = WatchedArchive(archive)
        // The process may change its current directory before `run`.
        paths = roots.map(\.absolute)
        assignments = nil
        self.options = options
        // Every root sends several events at its start, and all roots start at the same time.
        outbox = EventOutbox(events, limit: max(options.eventLimit, 4 * roots.count))
    }

    /// Creates a service whose roots may change while it runs; it does nothing before `run`.
    ///
    /// It runs until `stop`, also without any root. A root that cannot be watched is reported and tried again; the others
    /// are watched meanwhile. A missing root is waited for.
    package init(_ archive: Archive, changing roots: [Root], _ options: Options = Options()) {
        self.archive = WatchedArchive(archive)
        paths = []
        assignments = RootAssignments(roots)
        var options = options
        options.waitsForRoots = true
        self.options = options
        outbox = EventOutbox(events, limit: max(options.eventLimit, 4 * roots.count))
    }

    /// Watches until `stop` is called or the task is cancelled, which does the same.
    ///
    /// A service runs once. To watch again, make another one.
    ///
    /// - Throws: `ArchiverError` if watching cannot begin: `noSuchDirectory`, `notDirectory`, `permission`,
    ///   `locked` if another process watches one of the roots, and `inUse` if the service has been run before.
    public func run() async throws(ArchiverError) {
        let isFirst = course.withLock { course in
            defer { course.hasBegun = true }
            return !course.hasBegun
        }
        guard isFirst else {
            throw ArchiverError(
                .inUse, "this watch service has been run before", remedy: "make a new service to watch again")
        }
        defer { opened.end() }
        do { try outbox.start() } catch { throw ArchiverError(error) }
        // A task of its own, because `stop` cancels it, too. No capture and no delivery of an event ends by that.
        let work = Task { () -> Result<Void, ArchiverError> in
            let result: Result<Void, ArchiverError>
            do throws(ArchiverError) { result = .success(try await watchRoots()) } catch { result = .failure(error) }
            await endReplicating()
            await outbox.finish(within: WatchService.lastDelivery)
            return result
        }
        course.withLock { $0.work = work }
        if shouldStop { work.cancel() }
        let result = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            stop()
        }
        course.withLock { $0.work = nil }
        try result.get()
    }

    private func watchRoots() async throws(ArchiverError) {
        if let assignments { return try await watch(assignments) }
        let opened = try await Blocking.run { () throws(ArchiverError) in
            try facing { try self.open() }
        }
        defer {
            let last = roots.withLock { roots in
                defer { roots = [] }
                return roots
            }
            for root in last { root.finish() }
        }
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                let upkeep = options.maintenance.map { Upkeep(self, $0) }
                self.upkeep.withLock { $0 = upkeep }
                for root in opened { group.addTask { try await self.run(root) } }
                self.opened.reach(1)
                upkeep?.begin()
                beginReplicating()
                defer {
                    upkeep?.cancel()
                    self.upkeep.withLock { $0 = nil }
                }
                do {
                    try await group.waitForAll()
                } catch {
                    stop()
                    throw error
                }
            }
        } catch {
            throw ArchiverError(any: error)
        }
    }

    /// Begins to send to the archive's replicas; it ends with the service.
    func beginReplicating() {
        let replicating = Replicating(self, options.replicaStores)
        self.replicating.withLock { $0 = replicating }
        replicating.begin()
    }

    private func endReplicating() async {
        // They hold each other, which would keep this service and everything that it has open.
        let last = replicating.withLock { replicating in
            defer { replicating = nil }
            return replicating
        }
        await last?.finish(within: WatchService.lastSending)
    }

    /// Requests a last capture and a clean end; `run` returns when both are done.
    public func stop() {
        let work = course.withLock { course in
            course.stopTime = course.stopTime ?? .now
            return course.work
        }
        work?.cancel()
    }

    /// Returns when everything that changed in the watched roots before the call is captured and durable.
    ///
    /// It also waits until the service runs, for roots that are being read for the first time, and for observers.
    ///
    /// - Throws: `ArchiverError` with the code `notWatched` if the service ends before that or has ended.
    public func settle() async throws(ArchiverError) {
        var (asked, isSettled) = ([WatchedRoot](), false)
        if await opened.wait(for: 1) {
            repeat {
                asked = roots.withLock { $0 }
                isSettled = await withTaskGroup { group in
                    for root in asked { group.addTask { await root.settle() } }
                    return await group.reduce(!asked.isEmpty) { $0 && $1 }
                }
                // A root that was moved is watched on as another object.
            } while !isSettled && !roots.withLock { $0.elementsEqual(asked) { $0 === $1 } }
        }
        if !isSettled {
            throw ArchiverError(
                .notWatched, "the watch service has ended, so the latest changes may not be captured",
                remedy: "capture the roots, or make a new service")
        }
        await outbox.delivered()
    }

    /// The errors of the roots whose latest state is not in the archive; empty if all are.
    public var failures: [FilePath: ArchiverError] { unsaved.withLock { $0 } }

    /// Whether `stop` has been called.
    var shouldStop: Bool { course.withLock { $0.stopTime } != nil }

    /// Whether `stop` was called so long ago that a last capture no longer waits for the root's lock.
    var mustStop: Bool {
        course.withLock { $0.stopTime }.map { $0 + WatchService.lastCapture / options.timeScale <= .now } ?? false
    }

    /// Records the outcome of a root's latest batch of changes: the error, or nil if all of them are captured.
    func record(_ failure: ArchiverError?, of root: FilePath) {
        unsaved.withLock { $0[root] = failure }
    }

    /// Sends an event to the observers, without waiting for them.
    func report(_ event: Event) {
        outbox.post(event)
        if case .snapshot = event { replicating.withLock { $0 }?.poke() }
    }

    /// Closes everything in the archive if it is away, and locks the roots again if it has returned.
    ///
    /// A capture does the same, but a root may not change for a long time.
    func followArchive() {
        let roots = roots.withLock { $0 }
        guard let opened = try? archive.current() else { return roots.forEach { $0.releaseArchive() } }
        for root in roots where !root.hasLock && !shouldStop { root.takeLock(in: opened.archive) }
    }

    /// Returns when the thread that reads the kernel's events has come round to it.
    ///
    /// - Returns: false if no thread runs.
    package func pulse() async -> Bool { await watcher.withLock { $0 }?.pulse() ?? false }

    /// Returns the status of all roots except one; asks all at the same time.
    func statuses(except asked: WatchedRoot) async -> [ControlResponse.Other] {
        await withTaskGroup { group in
            for root in roots.withLock({ $0 }) where root !== asked {
                group.addTask {
                    ControlResponse.Other(root: root.path, status: await root.control.status(of: root))
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Waits for the observers, for at most a second.
    func deliver() async { await outbox.delivered(within: .seconds(1)) }

    /// Audits all roots: compares everything, captures missed changes, and repairs the watches.
    ///
    /// - Returns: the results, by root.
    /// - Throws: `ArchiverError`: the error of the first root whose audit failed.
    public func audit() async throws(ArchiverError) -> [FilePath: AuditResult] {
        var results: [FilePath: AuditResult] = [:]
        for root in roots.withLock({ $0 }) { results[root.path] = try await root.audit() }
        await outbox.delivered()
        return results
    }

    /// Watches a root, and goes on at the place where its path leads if it is moved.
    ///
    /// - Parameter follow: called with each root that is watched instead.
    func run(_ root: WatchedRoot, follow: (WatchedRoot) -> Void = { _ in }) async throws {
        var root = root
        while let place = try await root.run() {
            let (former, now) = (root, Timestamp.now)
            let next = try await Blocking.run { () throws(ArchiverError) in
                try facing { try self.reopen(former, at: place, since: now) }
            }
            guard let next else { return }
            root = next
            follow(root)
        }
    }

    /// Opens and locks the place where the path of a root leads now.
    ///
    /// - Returns: nil if it is being watched already.
    private func reopen(_ former: WatchedRoot, at place: FilePath, since end: Timestamp) throws -> WatchedRoot? {
        former.finish()
        let isWatched = roots.withLock { roots in
            roots.removeAll { $0 === former }
            return roots.contains { $0.path == place }
        }
        if isWatched {
            report(.covered(root: former.path, by: place))
            return nil
        }
        do {
            let root = try open(place, former.watcher, lastWatched: end)
            roots.withLock { $0.append(root) }
            return root
        } catch let error as ArchiverError where error.code == .locked {
            report(.error(root: former.path, error))
            report(.stopped(root: former.path))
            return nil
        }
    }

    /// The exclusion rules of the root at `path`.
    func rules(of path: FilePath) throws -> ExclusionRules {
        try assignments?[path]?.exclusions ?? options.exclusions ?? archive.latest.store.exclusions(
            ofRoot: path.bytes, on: Machine.id)
            ?? options.newRootExclusions
    }

    /// Opens and locks all roots, or none if one fails.
    private func open() throws -> [WatchedRoot] {
        let archive = archive.latest
        let roots = try WatchedPaths(paths, options, archive, rules: rules)
        for (inner, outer) in roots.covered { report(.covered(root: inner, by: outer)) }
        let watcher = try TreeWatcher.make(options.backend)
        self.watcher.withLock { $0 = watcher }
        let opened = try roots.paths.map { try open($0, watcher) }
        self.roots.withLock { $0 = opened }
        return opened
    }

    /// Opens and locks the root at `path`; continues its history if it was moved there.
    ///
    /// - Parameter lastWatched: when its previous watcher was last active; nil for the time in its lock.
    func open(_ path: FilePath, _ watcher: TreeWatcher, lastWatched: Timestamp? = nil) throws -> WatchedRoot {
        let archive = archive.latest
        let layout = archive.store.layout
        let former = try RootLock.lastWatched(path, in: layout)
        let lock = try RootLock.watching(path, in: layout)
        var related: RelatedRoot?
        if let directory = try? RootDirectory.open(path) { related = try archive.continueHistory(of: directory) }
        if let related { report(.related(root: path, related)) }
        let atOldPath = try related.flatMap {
            try $0.relation == .moved ? RootLock.lastWatched($0.root.path, in: layout) : nil
        }
        let assigned = assignments?[path]?.settings
        let settings = try archive.change(assigned ?? options.settings, ofRoot: path, isReset: assigned != nil)
        return try WatchedRoot(
            self, path, try rules(of: path), settings, lock, lastWatched: lastWatched ?? former ?? atOldPath, watcher)
    }
}

extension WatchService.Event {
    /// Whether the event reports a problem.
    var isWarning: Bool {
        switch self {
        case .gap, .fallback, .unavailable, .problems, .wrongClock, .error, .notMaintained, .replicaFailed: true
        case .maintained(let result): result.isShort
        default: false
        }
    }
}

extension WatchService.Event: CustomStringConvertible {
    /// What happened, in one line for logs.
    public var description: String {
        switch self {
        case .waiting(let root): "waiting for \(root)"
        case .covered(let root, let other): "\(root) is captured with \(other)"
        case .starting(let root, _): "reading \(root)"
        case .watching(let root, let directories, let snapshot, _):
            "watching \(directories) directories of \(root) since \(snapshot.id.short)"
        case .snapshot(let snapshot): "snapshot \(snapshot)"
        case .gap(let gap): "gap \(gap)"
        case .fallback(let root, let message, _): "\(root): \(message)"
        case .unavailable(let root): "\(root) is missing"
        case .available(let root): "\(root) is available again"
        case .audited(let root, _): "\(root) was audited"
        case .problems(let root, let problems, let count):
            "\(count) paths of \(root) could not be captured as they are, \(problems.first.map { "\($0.path)" } ?? "") first"
        case .largeFile(let root, let file): "\(root): \(file.path) changes constantly"
        case .related(let root, _): "\(root) is related to another root"
        case .wrongClock(let root, let later): "\(root): \(later) is dated later"
        case .error(let root, let error): "\(root): \(error.message)"
        case .maintained: "the archive was maintained"
        case .notMaintained(let error): "the archive was not maintained: \(error.message)"
        case .replicaFailed(let name, let error): "the replica '\(name)' is behind: \(error.message)"
        case .replicaComplete(let name): "the replica '\(name)' has everything again"
        case .dropped(let events, _): "\(events) events were missed"
        case .stopped(let root): "stopped watching \(root)"
        }
    }
}
