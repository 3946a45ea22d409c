// The caretaker at work: roots are watched, and what changes is captured.

public import ArchiveFormat
public import ArchiveStorage
public import Archives
internal import Capturing
public import Exclusions
package import FileIO
internal import FileWatching
public import Keeping
public import Mementos
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
        /// How changes are gathered from now on; what is nil here is as each root was watched before.
        public var settings: WatchSettings
        /// How changes are noticed.
        public var backend: Backend
        /// What is left out from now on; nil for what each root's snapshots have left out so far.
        public var exclusions: ExclusionRules?
        /// Whether a root that is not there is waited for.
        public var waitsForRoots: Bool
        /// How the archive is looked after meanwhile; nil for not at all.
        public var maintenance: MaintenanceOptions?
        /// By how much every interval that is not set here is shorter than usual.
        ///
        /// That is retries, polling, and looking for a root that is gone: tests compress time instead of skipping it.
        package var timeScale = 1
        /// Events that wait for slow observers; those beyond are dropped and counted.
        package var eventLimit = 1024
        /// Where tests bring about what is hard to bring about otherwise.
        package var hooks = Hooks()

        public init(
            _ settings: WatchSettings = WatchSettings(), backend: Backend = .auto, exclusions: ExclusionRules? = nil,
            waitsForRoots: Bool = false, maintenance: MaintenanceOptions? = .unattended
        ) {
            self.settings = settings
            self.backend = backend
            self.exclusions = exclusions
            self.waitsForRoots = waitsForRoots
            self.maintenance = maintenance
        }
    }

    /// Faults for tests; by default there are none.
    package struct Hooks: Sendable {
        /// Called before gaps are entered into the archive; what it throws makes that fail.
        package var beforeEnteringGaps: @Sendable () throws -> Void = {}
        /// Called before a large file is read on its own; may block.
        package var beforeReading: @Sendable (RelativePath) -> Void = { _ in }
        /// Called when a large file was read on its own, before that is committed; may block.
        package var afterReading: @Sendable (RelativePath) -> Void = { _ in }
        /// How long reading a large file is to be taken to have lasted; nil for what it did.
        package var readingTime: @Sendable (RelativePath) -> Duration? = { _ in nil }

        package init() {}
    }

    /// How changes are noticed.
    public enum Backend: String, Sendable, CaseIterable {
        /// By inotify, by fanotify where inotify's limit is reached, by looking at intervals for the rest.
        case auto
        case inotify
        case fanotify
        /// By looking at intervals.
        case poll
    }

    /// Something happened that a user may want to know.
    public enum Event: Sendable {
        /// The root is not there; it will be watched when it appears.
        case waiting(root: FilePath)
        /// The root lies in another one, with which it is captured.
        case covered(root: FilePath, by: FilePath)
        /// The root is being read for the first time by this service.
        case starting(root: FilePath)
        /// `snapshot` holds the root's state, and every change from now on will be seen.
        case watching(root: FilePath, directories: Int, snapshot: ListedSnapshot, isNew: Bool)
        /// A change was captured and is durable.
        case snapshot(ListedSnapshot)
        /// Changes of this span may have been seen late.
        case gap(GapRecord)
        /// Part of the root is looked at at intervals only.
        case degraded(root: FilePath, message: String, remedy: String?)
        /// The root is gone from its path; its last state stays what it was.
        case unavailable(root: FilePath)
        /// The root is back.
        case available(root: FilePath)
        /// Everything was compared with the latest snapshot.
        case audited(root: FilePath, AuditResult)
        /// Paths that could not be captured as they are: the first ones, and how many.
        case problems(root: FilePath, [Problem], count: Int)
        /// A large file changes all the time: from now on it is captured less often than the rest.
        case largeFile(root: FilePath, WatcherStatus.LargeFile)
        /// A capture failed; it will be tried again.
        case error(root: FilePath, ArchiverError)
        /// The archive was looked after: snapshots were forgotten, or space was given back; or there is no room left.
        case maintained(MaintenanceResult)
        /// The archive could not be looked after; that will be tried again.
        case notMaintained(ArchiverError)
        /// Here observers missed events, because they were too slow; so many of them told of something that was not as it
        /// should be.
        case dropped(events: Int, troubles: Int)
        /// The last state is captured and watching has ended.
        case stopped(root: FilePath)
    }

    /// Tells observers what happens, in order, on a thread of its own: they hold up no capture, however long they take.
    public let events = Subject<Event>()
    private let outbox: EventOutbox
    private let unsaved = Locked<[FilePath: ArchiverError]>([:])
    /// The capture under way.
    public let progress = OperationProgress()
    let archive: WatchedArchive
    let options: Options
    private let paths: [FilePath]
    private let roots = Locked<[WatchedRoot]>([])
    private let stopTime = Locked<ContinuousClock.Instant?>(nil)
    /// What keeps the archive in order; nil before `run`, and where nothing is to.
    let upkeep = Locked<Upkeep?>(nil)

    /// How long observers are waited for at the end.
    private static let lastDelivery = Duration.seconds(5)
    /// How long the last capture waits for another one of the same root.
    private static let lastCapture = Duration.seconds(5)

    /// A service for the directories `roots`; nothing happens before `run`.
    public init(_ archive: Archive, roots: [FilePath], _ options: Options = Options()) {
        self.archive = WatchedArchive(archive)
        // The process may change its current directory before `run`.
        paths = roots.map(\.absolute)
        self.options = options
        // Each root tells some at its beginning, all of them at a time.
        outbox = EventOutbox(events, limit: max(options.eventLimit, 4 * roots.count))
    }

    /// Watches until `stop`.
    ///
    /// - Throws: `ArchiverError` where watching cannot begin: `noSuchDirectory`, `notDirectory`, `permission`, and
    ///   `locked` where another process watches one of the roots.
    public func run() async throws(ArchiverError) {
        do { try outbox.start() } catch { throw ArchiverError(error) }
        let result: Result<Void, ArchiverError>
        do throws(ArchiverError) { result = .success(try await watchRoots()) } catch { result = .failure(error) }
        await outbox.finish(within: WatchService.lastDelivery)
        try result.get()
    }

    private func watchRoots() async throws(ArchiverError) {
        let opened = try await Blocking.run { () throws(ArchiverError) in
            try facing { try self.open() }
        }
        defer {
            roots.withLock { $0 = [] }
            for root in opened { root.giveUpLock() }
        }
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                let upkeep = options.maintenance.map { Upkeep(self, $0) }
                self.upkeep.withLock { $0 = upkeep }
                for root in opened { group.addTask { try await root.run() } }
                upkeep?.begin()
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

    /// Asks for a last capture and a clean end; `run` returns when that is done.
    public func stop() {
        stopTime.withLock { $0 = $0 ?? .now }
        for root in roots.withLock({ $0 }) { root.hasten() }
    }

    /// Returns once everything that changed in the watched roots before the call is captured and durable.
    ///
    /// Roots that are being read for the first time are waited for, and so are observers; the end of the service ends the
    /// wait.
    public func settle() async {
        await withTaskGroup { group in
            for root in roots.withLock({ $0 }) { group.addTask { await root.settle() } }
        }
        await outbox.delivered()
    }

    /// Why the latest states of roots are not in the archive; empty where they are.
    public var failures: [FilePath: ArchiverError] { unsaved.withLock { $0 } }

    /// Whether `stop` was called.
    var shouldStop: Bool { stopTime.withLock { $0 } != nil }

    /// Whether `stop` was called so long ago that what others keep from being captured is given up.
    var mustStop: Bool {
        stopTime.withLock { $0 }.map { $0 + WatchService.lastCapture / options.timeScale <= .now } ?? false
    }

    /// Tells observers of an event, without waiting for them.
    func report(_ event: Event) {
        unsaved.withLock { unsaved in
            switch event {
            case .watching(let root, _, _, _): unsaved[root] = nil
            case .snapshot(let record): unsaved[FilePath(bytes: record.rootPath)] = nil
            case .error(let root, let error): unsaved[root] = error
            default: break
            }
        }
        outbox.post(event)
    }

    /// How the watching of all roots but one stands; all are asked at a time.
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

    /// Waits for the observers, but not for long.
    func deliver() async { await outbox.delivered(within: .seconds(1)) }

    /// Looks at everything in all roots, captures what no event had told of, and mends the watching.
    ///
    /// - Returns: what was found, by root.
    public func audit() async throws(ArchiverError) -> [FilePath: AuditResult] {
        var results: [FilePath: AuditResult] = [:]
        for root in roots.withLock({ $0 }) { results[root.path] = try await root.audits.run(on: root).get() }
        await outbox.delivered()
        return results
    }

    /// What is left out of the root at `path`.
    private func rules(of path: FilePath) throws -> ExclusionRules {
        try options.exclusions ?? archive.latest.store.presentExclusions(ofRoot: path.bytes)
    }

    /// Opens and locks all roots, so that either all are watched or none.
    private func open() throws -> [WatchedRoot] {
        let archive = archive.latest
        let roots = try WatchedPaths(paths, options, archive, rules: rules)
        for (inner, outer) in roots.covered { report(.covered(root: inner, by: outer)) }
        let watcher = try TreeWatcher.make(options.backend)
        let layout = archive.store.layout
        let opened = try roots.paths.map { path in
            let lastWatched = try RootLock.lastWatched(path, in: layout)
            let lock = try RootLock.watching(path, in: layout)
            let settings = try archive.change(options.settings, ofRoot: path)
            return try WatchedRoot(
                self, path, try rules(of: path), settings, lock, lastWatched: lastWatched, watcher)
        }
        self.roots.withLock { $0 = opened }
        return opened
    }
}

extension WatchService.Event {
    /// Whether it tells of something that is not as it should be.
    var isTrouble: Bool {
        switch self {
        case .gap, .degraded, .unavailable, .problems, .error, .notMaintained: true
        case .maintained(let result): result.room.isShort
        default: false
        }
    }
}
