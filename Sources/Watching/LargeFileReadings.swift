// Large files of a root that change constantly: read one after another, while everything else is captured as usual.

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

/// Captures the postponed large files of one root, each on its own.
///
/// The root owns its readings and passes itself to each call, so that only a reading in progress holds the root.
final class LargeFileReadings: Sendable {
    private let files: LargeFiles
    /// The latest reading; each waits for the previous one.
    private let readings = Locked<Task<Bool, Never>?>(nil)
    /// The timer that starts the next reading.
    private let alarm = Locked<Task<Void, Never>?>(nil)

    /// - Parameter files: the root's, which captures add to.
    init(_ files: LargeFiles) { self.files = files }

    /// Reports files that are captured less often from now on, and schedules the next reading.
    func follow(_ root: WatchedRoot) {
        let service = root.service
        for file in files.takeUnreported() {
            service.report(.largeFile(root: root.path, WatcherStatus.LargeFile(file)))
        }
        alarm.withLock { alarm in
            alarm?.cancel()
            // Read inside the lock: of two concurrent calls, the later one then sees all files.
            let due = root.shouldStop ? nil : files.nextDue
            alarm = due.map { due in
                Task { [weak root] in
                    guard (try? await Task.sleep(until: due, clock: .continuous)) != nil, let root else { return }
                    await root.readings.read(all: false, of: root)
                }
            }
        }
    }

    /// Captures every postponed large file, in its current state or a later one.
    func captureWaiting(of root: WatchedRoot) async {
        var retries = root.retries
        while !root.shouldStop, !files.waiting.isEmpty {
            if await read(all: true, of: root), !files.isAnyLeft { return }
            await root.ending.pause(retries.next())
            // A change that prevented the commit may have to be captured first.
            guard let flush = await root.watch.flush() else { return }
            await root.captured.wait(for: flush)
        }
    }

    /// Waits for the reading in progress, and cancels the timer of the next.
    func end() async {
        alarm.withLock { $0?.cancel() }
        _ = await readings.withLock { $0 }?.value
    }

    /// Reads the files that are due, or all postponed ones, after the reading in progress.
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
        while !root.shouldStop, let next = files.begin(all: all, passed: passed) {
            passed.insert(next)
            let start = ContinuousClock.now
            let outcome = await capture(next, of: root)
            let took = service.options.hooks.readingTime(next) ?? (ContinuousClock.now - start)
            files.end(next, outcome, began: start, took: took, retryAfter: root.retries.first)
            if outcome != .captured { isDone = false }
            // The main capture must visit the file again: it differs from the archive's version.
            if outcome == .superseded { root.watch.markDirty([.entry(next)]) }
        }
        return isDone
    }

    /// Reads one file, and commits it into a snapshot based on the latest one.
    private func capture(_ file: RelativePath, of root: WatchedRoot) async -> LargeFiles.Outcome {
        let (path, state, service) = (root.path, root.state, root.service)
        do throws(ArchiverError) {
            let result = try await Blocking.run { [self] () throws(ArchiverError) in
                try facing { try captureBlocking(file, of: root) }
            }
            guard let result else { return .superseded }
            state.captureEnded(of: file, result, at: .now)
            if let snapshot = result.snapshot { root.announce(snapshot) }
            root.reportProblems(result)
            return .captured
        } catch {
            if error.code == .noSuchDirectory, (try? RootDirectory.open(path)) == nil { return .superseded }
            // At the end, the last capture includes the file, and reports errors itself. Repeated errors are not
            // reported.
            if !root.shouldStop, state.captureFailed(error) { service.report(.error(root: path, error)) }
            _ = await root.makesRoom(after: error)
            return .failed
        }
    }

    private func captureBlocking(_ file: RelativePath, of root: WatchedRoot) throws -> CaptureResult? {
        let service = root.service
        let opened = try service.archive.current()
        let (archive, number) = (opened.archive, opened.number)
        let directory = try root.captures.openDirectory(of: root)
        service.options.hooks.beforeReading(file)
        let capture = root.captures.prepare(for: root, .watch, in: archive)
        let result: CaptureResult?
        do {
            guard let reading = try LargeFileReading(file, of: directory, for: capture) else { return nil }
            service.options.hooks.afterReading(file)
            result = try root.captures.underLock(of: root, in: archive) {
                // If the archive or the directory was replaced, a full capture must come first.
                guard root.archiveNumber.withLock({ $0 }) == number, directory.isInPlace,
                    try service.archive.current().number == number
                else { return nil }
                return try commit(reading, of: root)
            }
        } catch let error as StorageError {
            // A capture of the path meets the same damage, and stores the lost chunks again.
            guard error.code == .damaged else { throw error }
            return nil
        }
        try service.archive.check(opened)
        root.touchLock()
        return result
    }

    private func commit(_ reading: LargeFileReading, of root: WatchedRoot) throws -> CaptureResult? {
        let directories = root.state.deferredDirectories.union([reading.path.parent ?? .root])
        let result = try reading.commit(directories: directories, lastScan: root.captures.lastScan.withLock { $0 })
        if let listed = result?.snapshot {
            root.captures.lastScan.withLock { scan in
                if let former = scan, former.snapshot == listed.parent { scan = LastScan(former, with: listed) }
            }
        }
        return result
    }
}

extension RootDirectory {
    /// Whether the directory is still the one at its path.
    fileprivate var isInPlace: Bool {
        (try? RootDirectory.open(path))?.status.isSameObject(as: status) ?? false
    }
}
