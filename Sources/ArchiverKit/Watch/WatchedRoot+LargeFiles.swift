// Large files of a root that change all the time: read one after another, while everything else is captured as ever.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Capturing
internal import FileIO
internal import FileWatching
internal import Roots
internal import SystemPackage
internal import Threading

extension WatchedRoot {
    /// Tells of files that are captured less often from now on, and sees to it that those that wait are read in time.
    func followLargeFiles() {
        for file in largeFiles.takeUntold() { service.tell(.largeFile(root: path, WatcherStatus.LargeFile(file))) }
        readingAlarm.withLock { alarm in
            alarm?.cancel()
            // Asked for in here: of two who follow, the later one knows all.
            let due = service.shouldStop ? nil : largeFiles.nextDue
            alarm = due.map { due in
                Task { [weak self] in
                    guard (try? await Task.sleep(until: due, clock: .continuous)) != nil else { return }
                    await self?.read(all: false)
                }
            }
        }
    }

    /// Captures every large file that waits now, in the state that it has now or later.
    func captureWaitingFiles() async {
        var retry = firstRetry
        while !service.shouldStop, !largeFiles.waiting.isEmpty {
            if await read(all: true), !largeFiles.isAnyLeft { return }
            await pause(retry)
            retry = min(retry * 2, lastRetry)
            // What was in the way may have to be captured first.
            guard let flush = await watch.flush() else { return }
            await captured.wait(for: flush)
        }
    }

    /// Waits for the reading that is under way, and lets no other begin.
    func endReadings() async {
        readingAlarm.withLock { $0?.cancel() }
        _ = await readings.withLock { $0 }?.value
    }

    /// Reads the files that are due, or all that wait, behind what is being read now.
    ///
    /// - Returns: whether they are captured.
    @discardableResult
    private func read(all: Bool) async -> Bool {
        let task = readings.withLock { latest in
            let former = latest
            let task = Task { [self] in
                _ = await former?.value
                let isDone = await readWaiting(all: all)
                followLargeFiles()
                return isDone
            }
            latest = task
            return task
        }
        return await task.value
    }

    private func readWaiting(all: Bool) async -> Bool {
        var passed: Set<RelativePath> = []
        var isDone = true
        while !service.shouldStop, let next = largeFiles.begin(all: all, passed: passed) {
            passed.insert(next)
            let start = ContinuousClock.now
            let outcome = await captureApart(next)
            let took = service.options.hooks.readingTime(next) ?? (ContinuousClock.now - start)
            largeFiles.end(next, outcome, began: start, took: took, retryAfter: firstRetry)
            if outcome != .captured { isDone = false }
            // What looked at it last has to look again: it is not as it is in the archive.
            if outcome == .superseded { watch.markDirty([.entry(next)]) }
        }
        return isDone
    }

    /// Reads one file, and commits it on top of the latest snapshot.
    private func captureApart(_ file: RelativePath) async -> LargeFiles.Outcome {
        do throws(ArchiverError) {
            let result = try await Blocking.run { [self] () throws(ArchiverError) in
                try facing { try captureBlocking(file) }
            }
            guard let result else { return .superseded }
            journal.captureEnded(of: file, result, at: .now)
            if let snapshot = result.snapshot { announce(snapshot) }
            tellProblems(result)
            return .captured
        } catch {
            if error.code == .noSuchDirectory, (try? RootDirectory.open(path)) == nil { return .superseded }
            // At the end, the last capture has the file, and tells if it has not. The same again is no news.
            if !service.shouldStop, journal.captureFailed(error) { service.tell(.error(root: path, error)) }
            _ = await makesRoom(after: error)
            return .failed
        }
    }

    private func captureBlocking(_ file: RelativePath) throws -> CaptureResult? {
        let opened = try service.archive.current()
        let (archive, number) = (opened.archive, opened.number)
        let root = try RootDirectory.open(path)
        try checkIdentity(of: root)
        service.options.hooks.beforeReading(file)
        let options = CaptureOptions(cause: .watch, exclusions: rules, setsExclusions: true)
        var capture = Capture(into: archive.nodes, options)
        (capture.linkIndex, capture.proofs, capture.largeFiles) = (linkIndex, proofs, largeFiles)
        let result = try capture.captureApart(
            root, file,
            locking: {
                service.options.hooks.afterReading(file)
                return try RootLock.capturing(root.path, in: archive.store.layout) { self.service.mustStop }
            },
            mayCommit: {
                // Whatever was captured into another archive, or of another directory, is captured anew first.
                try archiveNumber.withLock { $0 } == number && root.isInPlace
                    && service.archive.current().number == number
            },
            directories: { journal.deferredDirectories.union([file.parent ?? .root]) },
            lastLook: { lastLook.withLock { $0 } },
            committed: { record, parent in
                lastLook.withLock { look in
                    if let former = look, former.snapshot == parent.id { look = LastLook(former, with: record) }
                }
            })
        try service.archive.check(opened)
        touchLock()
        return result
    }
}

extension RootDirectory {
    /// Whether it is still what is at its path.
    fileprivate var isInPlace: Bool {
        (try? RootDirectory.open(path))?.status.isSameObject(as: status) ?? false
    }
}
