// What a watcher tells about one root.

internal import Capturing
internal import FileIO
internal import FileWatching
internal import Glibc
internal import Threading

extension WatchedRoot {
    /// How long an answer may wait for what changed just before the question.
    private static let probeLimit = Duration.seconds(10)
    /// The most large files that are told of.
    private static let toldFiles = 20

    /// How the watching stands.
    ///
    /// The proof that it is alive and complete is the answer itself: everything that the kernel had queued when the
    /// question came was read, and captured if it could be within a moment.
    func status() async -> WatcherStatus {
        let start = ContinuousClock.now
        let isCurrent = await isSettled(withLargeFiles: false)
        let kernel = await watch.status()
        let stats = kernel?.stats
        var status = WatcherStatus(
            process: getpid(), phase: journal.phase, backend: WatchedRoot.backends(stats), since: journal.since,
            isCurrent: isCurrent, probeSeconds: (ContinuousClock.now - start).seconds, lastEvent: kernel?.lastEvent,
            lastCapture: nil, backlog: (kernel?.dirtyRanges ?? 0) + (kernel?.pendingCrawls ?? 0),
            directories: WatcherStatus.Directories(
                watched: stats?.watchedDirectories ?? 0, polled: stats?.polledDirectories ?? 0,
                unreadable: stats?.unreadableDirectories ?? 0, mountPoints: stats?.mountPoints ?? 0,
                leftOut: stats?.excludedDirectories ?? 0),
            problemCount: 0, problems: [],
            largeFiles: largeFiles.waiting.prefix(WatchedRoot.toldFiles).map { WatcherStatus.LargeFile($0) },
            openGaps: (kernel?.openGaps ?? [:]).map { WatcherStatus.OpenGap(cause: $0.recorded, start: $1) }
                .sorted { $0.start < $1.start },
            lastAudit: nil, failure: nil, degradations: [])
        journal.fill(&status)
        return status
    }

    /// Whether everything that changed before the call is captured, after a wait of at most `probeLimit`.
    ///
    /// - Parameter withLargeFiles: whether those that are captured less often count.
    func isSettled(withLargeFiles: Bool) async -> Bool {
        guard journal.phase == .watching else { return false }
        let isDone = await FirstAnswer.isDone(within: WatchedRoot.probeLimit) {
            await self.settle(withLargeFiles: withLargeFiles)
        }
        // The end of the watching ends the wait as well.
        return isDone && !service.shouldStop
    }

    /// How the directories are watched, in one word.
    private static func backends(_ stats: WatchStats?) -> String {
        guard let stats else { return "none" }
        let used = [
            ("inotify", stats.inotifyDirectories), ("fanotify", stats.fanotifyDirectories),
            ("poll", stats.polledDirectories),
        ].filter { $0.1 > 0 }
        return used.isEmpty ? "none" : used.map(\.0).joined(separator: "+")
    }
}
