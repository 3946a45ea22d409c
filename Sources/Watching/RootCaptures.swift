// The captures of a watched root: one at a time, each with what the earlier ones have learned.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import Capturing
internal import FileIO
internal import FileWatching
internal import Glibc
internal import Roots
internal import Synchronization
internal import SystemPackage
internal import Threading

/// Captures one root repeatedly.
///
/// The root owns its captures and passes itself to each call.
final class RootCaptures: Sendable {
    let lastScan = Locked<LastScan?>(nil)
    private let linkIndex = LinkIndex()
    private let proofs = ReadProofs()
    private let largeFiles: LargeFiles
    /// The directory that was captured last; another one may appear at the path.
    private let identity = Locked<FileStatus?>(nil)
    /// Held by the capture in progress.
    private let turn = Locked(())

    init(_ largeFiles: LargeFiles) { self.largeFiles = largeFiles }

    /// Captures ranges of the root.
    ///
    /// - Parameter postpones: whether large files are left for later, each on its own; if false, postponed ones are
    ///   captured as well.
    func capture(
        _ ranges: [PathRange], of root: WatchedRoot, cause: Cause = .watch, postpones: Bool = true
    ) async throws(ArchiverError) -> CaptureResult {
        let upkeep = root.service.upkeep.withLock { $0 }
        upkeep?.captures.add(1, ordering: .relaxed)
        root.state.captureBegins()
        defer {
            root.state.captureStops()
            upkeep?.captures.subtract(1, ordering: .relaxed)
        }
        let ranges = root.state.addDeferred(to: ranges)
        let written = root.state.written
        let start = ContinuousClock.now
        let result = try await Blocking.run { [self] () throws(ArchiverError) in
            try facing { try captureBlocking(ranges, written, of: root, cause, postpones) }
        }
        root.state.captureEnded(ranges, result, of: cause, at: .now)
        largeFiles.scanned(postpones ? ranges : [.subtree(.root)], began: start)
        root.readings.follow(root)
        // The snapshot is announced even if this fails.
        await root.gaps.enter()
        return result
    }

    private func captureBlocking(
        _ ranges: [PathRange], _ written: WrittenNames, of root: WatchedRoot, _ cause: Cause, _ postpones: Bool
    ) throws -> CaptureResult {
        let service = root.service
        service.progress.reset()
        let opened: WatchedArchive.Opened
        do { opened = try service.archive.current() } catch {
            root.releaseArchive()
            throw error
        }
        let ranges = root.moveLock(to: opened) ? [.subtree(.root)] : ranges
        let directory = try openDirectory(of: root)
        var capture = prepare(for: root, cause, in: opened.archive, service.progress)
        (capture.written, capture.postponesLargeFiles) = (written, postpones)
        capture.lastScan = lastScan.withLock { $0 }
        let result = try underLock(of: root, in: opened.archive) {
            service.options.hooks.underCaptureLock(cause)
            // Under the lock, no other capture can add large files to the list.
            let waiting = largeFiles.uncaptured
            capture.waiting = waiting
            let result = try capture.runLocked(
                directory, postpones ? ranges : ranges.adding(waiting.map { .entry($0) }))
            if !postpones { largeFiles.captured(waiting) }
            lastScan.withLock { $0 = LastScan(result) }
            return result
        }
        try service.archive.check(opened)
        root.touchLock()
        return result
    }

    /// A capture with what the earlier ones have learned.
    func prepare(
        for root: WatchedRoot, _ cause: Cause, in archive: Archive, _ progress: OperationProgress? = nil
    ) -> Capture {
        let options = CaptureOptions(cause: cause, exclusions: root.rules, setsExclusions: true)
        var capture = Capture(into: archive.nodes, options, progress: progress)
        (capture.linkIndex, capture.proofs, capture.largeFiles) = (linkIndex, proofs, largeFiles)
        return capture
    }

    /// Calls `body` while this process holds the root's capture lock.
    ///
    /// After a stop it waits only seconds for a capture by another process. For one by this process, such as an audit's,
    /// it waits without limit: otherwise the last changes would be lost because of the watcher's own work.
    ///
    /// - Throws: `ArchiverError` with the code `locked` if another process keeps the lock; what `body` throws.
    func underLock<Result: Sendable>(
        of root: WatchedRoot, in archive: Archive, _ body: () throws -> Result
    ) throws -> Result {
        try turn.withLock { _ in
            let lock = try RootLock.capturing(root.path, in: archive.store.layout) { root.service.mustStop }
            defer { withExtendedLifetime(lock) {} }
            return try body()
        }
    }

    /// Opens the root's directory.
    ///
    /// - Throws: `ArchiverError` with the code `noSuchDirectory` if the root was unmounted and only its empty mount point
    ///   is left, which is not a new state of the root; `otherRoot`, with the other path, if a link leads elsewhere.
    func openDirectory(of root: WatchedRoot) throws -> RootDirectory {
        let directory = try RootDirectory.open(root.path)
        if directory.path != root.path {
            throw ArchiverError(
                .otherRoot, "\(root.path) leads to \(directory.path) now", remedy: "watch that directory",
                path: directory.path)
        }
        let known = identity.withLock { $0 }
        if let known, !known.isSameObject(as: directory.status), known.device != directory.status.device {
            let listed = try Descriptor.open(directory.path, O_RDONLY | O_DIRECTORY)
            if try DirectoryReader.list(listed, path: .root).isEmpty {
                throw ArchiverError(
                    .noSuchDirectory, "\(root.path) is no longer mounted", remedy: "mount it again", path: root.path)
            }
        }
        identity.withLock { $0 = directory.status }
        return directory
    }
}
