// One root of a watch service: arm, capture, then capture what changes.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import FileWatching
internal import Glibc
internal import Mementos
internal import Synchronization
internal import SystemPackage

/// Watches one root and captures its changes.
final class WatchedRoot: Sendable {
    let path: FilePath
    private let service: WatchService
    private let lock: FileLock
    private let watch: RootWatch
    private let linkIndex = LinkIndex()
    /// Flushes whose changes are captured.
    private let captured = Milestones()
    private let subscription: Subscription
    /// The directory that is being watched; another one may come to stand at the path.
    private let identity: Mutex<FileStatus>

    /// After a failed capture, the next is tried after this long, then twice as long, and so on.
    private static let firstRetry = Duration.seconds(1)
    private static let lastRetry = Duration.seconds(60)

    init(
        _ service: WatchService, _ root: RootDirectory, _ lock: consuming FileLock, _ watcher: TreeWatcher
    ) throws {
        self.service = service
        self.lock = lock
        path = root.path
        identity = Mutex(root.status)
        let archive = try FileStatus.read(
            Descriptor.open(service.archive.directory, O_RDONLY | O_DIRECTORY))
        let events = service.events
        let path = root.path
        watch = watcher.watch(
            root.path, excluding: [FileIdentity(archive)],
            timing: WatchTiming(settle: service.options.settle, maxDelay: service.options.maxDelay))
        subscription = watch.events.subscribe { event in
            if let event = WatchedRoot.translate(event, path) { events.send(event) }
        }
    }

    /// A watcher for the roots of one service.
    static func watcher() throws -> TreeWatcher {
        do {
            return try TreeWatcher()
        } catch {
            guard error.code == .tooManyOpenFiles else { throw error }
            throw ArchiverError(
                .system, "the user's inotify instances are used up",
                remedy: "end another watcher, or run 'sysctl fs.inotify.max_user_instances=1024' as root")
        }
    }

    /// Watches until the service is stopped.
    func run() async throws {
        defer { captured.end() }
        service.events.send(.starting(root: path))
        let stats = try await watch.arm()
        let first = try await capture([.subtree(.root)])
        service.events.send(
            .watching(
                root: path, directories: stats.watchedDirectories, snapshot: first.latest,
                isNew: first.snapshot != nil))
        tellProblems(first)
        if service.shouldStop { hasten() }
        await captureChanges()
        watch.stop()
        service.events.send(.stopped(root: path))
    }

    /// Makes the next batch due at once: what happened until now is in it.
    func hasten() {
        Task { await watch.flush() }
    }

    /// Returns once everything that changed before the call is captured and durable, or watching has ended.
    func settle() async {
        guard let flush = await watch.flush() else { return }
        await captured.wait(for: flush)
    }

    private func captureChanges() async {
        var retry = WatchedRoot.firstRetry
        while let batch = await watch.nextBatch() {
            // Asked before the batch is captured: `stop` makes a further batch due.
            let isLast = service.shouldStop
            for gap in batch.gaps {
                service.events.send(
                    .gap(root: path, cause: gap.cause.rawValue, start: gap.start, end: gap.end))
            }
            if !batch.isEmpty {
                do {
                    let result = try await capture(batch.ranges)
                    if let snapshot = result.snapshot { service.events.send(.snapshot(snapshot)) }
                    tellProblems(result)
                    retry = WatchedRoot.firstRetry
                } catch {
                    service.events.send(.error(root: path, ArchiverError(any: error)))
                    watch.markDirty(batch.ranges)
                    if isLast { return }
                    await pause(retry)
                    retry = min(retry * 2, WatchedRoot.lastRetry)
                    continue
                }
            }
            captured.reach(batch.flushes)
            if isLast { return }
        }
    }

    /// Waits, but not beyond the service's end.
    private func pause(_ duration: Duration) async {
        let clock = ContinuousClock()
        let end = clock.now + duration
        while clock.now < end, !service.shouldStop {
            try? await Task.sleep(until: min(end, clock.now + .milliseconds(100)))
        }
    }

    private func capture(_ ranges: [PathRange]) async throws -> CaptureResult {
        let archive = service.archive
        let progress = service.progress
        return try await Blocking.run { [self] () throws(ArchiverError) in
            try facing {
                progress.reset()
                let root = try RootDirectory.open(path)
                try checkIdentity(of: root)
                let capture = Capture(
                    store: archive.store, nodes: archive.nodes, options: CaptureOptions(cause: .watch),
                    progress: progress, linkIndex: linkIndex)
                return try capture.run(root, ranges: ranges)
            }
        }
    }

    /// Refuses the bare mount point of a root that was unmounted: that is not the root's new, empty state.
    private func checkIdentity(of root: RootDirectory) throws {
        let isSame = identity.withLock { $0.isSameObject(as: root.status) }
        if isSame { return }
        let wasMountPoint = identity.withLock { $0.device != root.status.device }
        let listed = try Descriptor.open(root.path, O_RDONLY | O_DIRECTORY)
        if wasMountPoint, try DirectoryReader.list(listed, path: .root).isEmpty {
            throw ArchiverError(
                .noSuchDirectory, "\(path) is no longer mounted", remedy: "mount it again", path: path)
        }
        identity.withLock { $0 = root.status }
    }

    private func tellProblems(_ result: CaptureResult) {
        guard result.problemCount > 0 else { return }
        service.events.send(.problems(root: path, result.problems, count: result.problemCount))
        // What kept changing is looked at again; what cannot be read waits for its next change.
        watch.markDirty(result.problems.filter { $0.reason == .unstable }.map { .entry($0.path) })
    }

    private static func translate(_ event: WatchEvent, _ path: FilePath) -> WatchService.Event? {
        switch event {
        case .armed, .gap: nil  // Told with the first capture, and with the batch that makes up for it.
        case .degraded(.watchLimit(let needed, let limit)):
            .degraded(
                root: path,
                message: "inotify's limit is reached (\(needed) directories need a watch"
                    + (limit.map { ", the limit is \($0)" } ?? "") + "): the rest is looked at at intervals",
                remedy: "run 'sysctl fs.inotify.max_user_watches=\(max(needed * 2, 524_288))' as root")
        case .degraded(.remoteFileSystem):
            .degraded(
                root: path, message: "the file system is remote: what other machines change is looked for at intervals",
                remedy: nil)
        case .rootUnavailable: .unavailable(root: path)
        case .rootBack: .available(root: path)
        }
    }
}
