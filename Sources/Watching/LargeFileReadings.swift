// Large files of a root that change all the time: read one after another, while everything else is captured as ever.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import Capturing
internal import FileIO
internal import FileWatching
internal import Roots
internal import SystemPackage
internal import Threading
internal import WatchControl

/// Reads the large files of one root that wait, each on its own.
///
/// The root owns its readings and passes itself to each call: only one that is under way holds the root.
final class LargeFileReadings: Sendable {
    private let files: LargeFiles
    /// The last of the readings, each of which waits for the one before.
    private let readings = Locked<Task<Bool, Never>?>(nil)
    /// Begins the next reading.
    private let alarm = Locked<Task<Void, Never>?>(nil)

    /// - Parameter files: the root's, which captures add to.
    init(_ files: LargeFiles) { self.files = files }

    /// Reports files that are captured less often from now on, and sees to it that those that wait are read in time.
    func follow(_ root: WatchedRoot) {
        let service = root.service
        for file in files.takeUnreported() {
            service.report(.largeFile(root: root.path, WatcherStatus.LargeFile(file)))
        }
        alarm.withLock { alarm in
            alarm?.cancel()
            // Asked for in here: of two who follow, the later one knows all.
            let due = service.shouldStop ? nil : files.nextDue
            alarm = due.map { due in
                Task { [weak root] in
                    guard (try? await Task.sleep(until: due, clock: .continuous)) != nil, let root else { return }
                    await root.readings.read(all: false, of: root)
                }
            }
        }
    }

    /// Captures every large file that waits now, in the state that it has now or later.
    func captureWaiting(of root: WatchedRoot) async {
        var retry = root.firstRetry
        while !root.service.shouldStop, !files.waiting.isEmpty {
            if await read(all: true, of: root), !files.isAnyLeft { return }
            await root.pause(retry)
            retry = min(retry * 2, root.lastRetry)
            // What was in the way may have to be captured first.
            guard let flush = await root.watch.flush() else { return }
            await root.captured.wait(for: flush)
        }
    }

    /// Waits for the reading that is under way, and lets no other begin.
    func end() async {
        alarm.withLock { $0?.cancel() }
        _ = await readings.withLock { $0 }?.value
    }

    /// Reads the files that are due, or all that wait, behind what is being read now.
    ///
    /// - Returns: whether they are captured.
    @discardableResult
    private func read(all: Bool, of root: WatchedRoot) async -> Bool {
        let task = readings.withLock { latest in
            let former = latest
            let task = Task { [self] in
                _ = await former?.value
                let isDone = await readWaiting(all: all, of: root)
                follow(root)
                return isDone
            }
            latest = task
            return task
        }
        return await task.value
    }

    private func readWaiting(all: Bool, of root: WatchedRoot) async -> Bool {
        let service = root.service
        var passed: Set<RelativePath> = []
        var isDone = true
        while !service.shouldStop, let next = files.begin(all: all, passed: passed) {
            passed.insert(next)
            let start = ContinuousClock.now
            let outcome = await capture(next, of: root)
            let took = service.options.hooks.readingTime(next) ?? (ContinuousClock.now - start)
            files.end(next, outcome, began: start, took: took, retryAfter: root.firstRetry)
            if outcome != .captured { isDone = false }
            // What looked at it last has to look again: it is not as it is in the archive.
            if outcome == .superseded { root.watch.markDirty([.entry(next)]) }
        }
        return isDone
    }

    /// Reads one file, and commits it on top of the latest snapshot.
    private func capture(_ file: RelativePath, of root: WatchedRoot) async -> LargeFiles.Outcome {
        let (path, journal, service) = (root.path, root.journal, root.service)
        do throws(ArchiverError) {
            let result = try await Blocking.run { [self] () throws(ArchiverError) in
                try facing { try captureBlocking(file, of: root) }
            }
            guard let result else { return .superseded }
            journal.captureEnded(of: file, result, at: .now)
            if let snapshot = result.snapshot { root.announce(snapshot) }
            root.reportProblems(result)
            return .captured
        } catch {
            if error.code == .noSuchDirectory, (try? RootDirectory.open(path)) == nil { return .superseded }
            // At the end, the last capture has the file, and tells if it has not. The same again is no news.
            if !service.shouldStop, journal.captureFailed(error) { service.report(.error(root: path, error)) }
            _ = await root.makesRoom(after: error)
            return .failed
        }
    }

    private func captureBlocking(_ file: RelativePath, of root: WatchedRoot) throws -> CaptureResult? {
        let service = root.service
        let opened = try service.archive.current()
        let (archive, number) = (opened.archive, opened.number)
        let directory = try RootDirectory.open(root.path)
        try root.checkIdentity(of: directory)
        service.options.hooks.beforeReading(file)
        let options = CaptureOptions(cause: .watch, exclusions: root.rules, setsExclusions: true)
        var capture = Capture(into: archive.nodes, options)
        (capture.linkIndex, capture.proofs, capture.largeFiles) = (root.linkIndex, root.proofs, files)
        let result = try capture.captureApart(
            directory, file,
            locking: {
                service.options.hooks.afterReading(file)
                return try RootLock.capturing(directory.path, in: archive.store.layout) { service.mustStop }
            },
            mayCommit: {
                // Whatever was captured into another archive, or of another directory, is captured anew first.
                try root.archiveNumber.withLock { $0 } == number && directory.isInPlace
                    && service.archive.current().number == number
            },
            directories: { root.journal.deferredDirectories.union([file.parent ?? .root]) },
            lastLook: { root.lastLook.withLock { $0 } },
            committed: { record, parent in
                root.lastLook.withLock { look in
                    if let former = look, former.snapshot == parent.id { look = LastLook(former, with: record) }
                }
            })
        try service.archive.check(opened)
        root.touchLock()
        return result
    }
}

extension RootDirectory {
    /// Whether it is still what is at its path.
    fileprivate var isInPlace: Bool {
        (try? RootDirectory.open(path))?.status.isSameObject(as: status) ?? false
    }
}
