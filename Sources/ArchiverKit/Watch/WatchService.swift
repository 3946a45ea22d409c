// The caretaker at work: roots are watched, and what changes is captured.

public import ArchiveFormat
public import ArchiveStorage
public import FileIO
internal import FileWatching
public import Mementos
internal import Synchronization
public import SystemPackage

/// Watches roots and captures their changes until it is stopped.
public final class WatchService: Sendable {
    /// How changes are gathered.
    public struct Options: Sendable {
        /// A capture starts when the root was quiet for this long.
        public var settle: Duration
        /// A capture starts at the latest this long after the first change.
        public var maxDelay: Duration

        public init(settle: Duration = .milliseconds(100), maxDelay: Duration = .seconds(2)) {
            self.settle = settle
            self.maxDelay = maxDelay
        }
    }

    /// Something happened that a user may want to know.
    public enum Event: Sendable {
        /// The root is being read for the first time by this service.
        case starting(root: FilePath)
        /// `snapshot` holds the root's state, and every change from now on will be seen.
        case watching(root: FilePath, directories: Int, snapshot: SnapshotRecord, isNew: Bool)
        /// A change was captured and is durable.
        case snapshot(SnapshotRecord)
        /// Changes of this span may have been seen late.
        case gap(root: FilePath, cause: String, start: Timestamp, end: Timestamp)
        /// Part of the root is looked at at intervals only.
        case degraded(root: FilePath, message: String, remedy: String?)
        /// The root is gone from its path; its last state stays what it was.
        case unavailable(root: FilePath)
        /// The root is back.
        case available(root: FilePath)
        /// Paths that could not be captured as they are: the first ones, and how many.
        case problems(root: FilePath, [Problem], count: Int)
        /// A capture failed; it will be tried again.
        case error(root: FilePath, ArchiverError)
        /// The last state is captured and watching has ended.
        case stopped(root: FilePath)
    }

    /// Tells observers what happens, in order.
    public let events = Subject<Event>()
    /// The capture under way.
    public let progress = OperationProgress()
    let archive: Archive
    let options: Options
    private let paths: [FilePath]
    private let roots = Mutex<[WatchedRoot]>([])
    private let isStopping = Atomic(false)

    /// A service for the directories `roots`; nothing happens before `run`.
    public init(_ archive: Archive, roots: [FilePath], _ options: Options = Options()) {
        self.archive = archive
        paths = roots
        self.options = options
    }

    /// Watches until `stop`.
    ///
    /// - Throws: `ArchiverError` where watching cannot begin: `noSuchDirectory`, `notDirectory`, `permission`, and
    ///   `locked` where another process watches one of the roots.
    public func run() async throws(ArchiverError) {
        let opened = try await Blocking.run { () throws(ArchiverError) in
            try facing { try self.open() }
        }
        // With them go their locks, so that another service may begin.
        defer { roots.withLock { $0 = [] } }
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for root in opened { group.addTask { try await root.run() } }
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
        isStopping.store(true, ordering: .sequentiallyConsistent)
        for root in roots.withLock({ $0 }) { root.hasten() }
    }

    /// Returns once everything that changed in the watched roots before the call is captured and durable.
    ///
    /// Roots that are being read for the first time are waited for; the end of the service ends the wait.
    public func settle() async {
        await withTaskGroup { group in
            for root in roots.withLock({ $0 }) { group.addTask { await root.settle() } }
        }
    }

    /// Whether `stop` was called.
    var shouldStop: Bool { isStopping.load(ordering: .sequentiallyConsistent) }

    /// Opens and locks all roots, so that either all are watched or none.
    private func open() throws -> [WatchedRoot] {
        let watcher = try WatchedRoot.watcher()
        var opened: [WatchedRoot] = []
        for path in paths {
            let root = try RootDirectory.open(path, capturedInto: archive.directory)
            if opened.contains(where: { $0.path == root.path }) { continue }
            let lock = try RootLock.watching(root.path, in: archive.store.layout)
            opened.append(try WatchedRoot(self, root, lock, watcher))
        }
        roots.withLock { $0 = opened }
        return opened
    }
}
