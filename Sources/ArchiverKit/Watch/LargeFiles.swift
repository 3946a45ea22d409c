// Large files of a watched root: each is read on its own, and the less often the longer that takes.

internal import ArchiveFormat
internal import FileIO
internal import FileWatching
internal import Locking

/// When a large file is read.
struct LargeFileRule: Sendable, Hashable {
    /// Files of this many bytes and more are large; nil where none is.
    var smallest: UInt64?
    /// How long after a change a large file is captured at the latest.
    var longestDelay: Duration

    /// Reading one takes at most one part in so many of the time.
    static let share = 10

    init(_ settings: WatchSettings) {
        smallest = settings.usedLargeFile == 0 ? nil : settings.usedLargeFile
        longestDelay = settings.usedLargeFileDelay
    }

    /// Whether `status` is of a file whose reading may wait.
    ///
    /// Holes cost nothing. A file with several names is captured with all of them at a time.
    func isLarge(_ status: FileStatus) -> Bool {
        guard let smallest, status.kind == .file, status.links == 1 else { return false }
        return min(status.size, status.allocatedBytes) >= smallest
    }

    /// How long after the end of a reading that took `took` the next one begins at the earliest.
    func rest(after took: Duration) -> Duration { min(took * (LargeFileRule.share - 1), longestDelay) }

    /// When a file that changed is to be read.
    ///
    /// - Parameter last: when its last reading ended, and how long that took; nil where it was not read yet.
    func due(
        changed: ContinuousClock.Instant, last: (end: ContinuousClock.Instant, took: Duration)?
    ) -> ContinuousClock.Instant {
        guard let last else { return changed }
        return min(max(changed, last.end + rest(after: last.took)), changed + longestDelay)
    }
}

/// The large files of one root that have changed and are not captured yet, and how long reading each took last.
///
/// Any thread may use it.
final class LargeFiles: Sendable {
    /// How a reading ended.
    enum Outcome {
        /// What was read is in the archive, or nothing had changed.
        case captured
        /// Something else has to be captured first: the file is looked at with the next batch.
        case superseded
        case failed
    }

    fileprivate struct File {
        var bytes: UInt64
        /// When it changed first since it was captured; nil where it is captured as it is.
        var changed: (instant: ContinuousClock.Instant, time: Timestamp)?
        var last: (end: ContinuousClock.Instant, took: Duration, time: Timestamp)?
        /// When a reading that failed is tried again.
        var retry: ContinuousClock.Instant?
        /// Whether somebody was told that it is captured less often.
        var isTold = false
        var isReading = false
    }

    fileprivate struct State {
        var rule: LargeFileRule
        var files: [RelativePath: File] = [:]
    }

    private let state: Locked<State>

    /// Files that are remembered; those beyond are read with everything else.
    private static let limit = 4096

    init(_ rule: LargeFileRule) { state = Locked(State(rule: rule)) }

    var rule: LargeFileRule {
        get { state.withLock { $0.rule } }
        set { state.withLock { $0.rule = newValue } }
    }

    // MARK: What a capture comes upon

    /// Whether the reading of a file that may have changed is put off: it waits from now on.
    ///
    /// A file that the archive has nothing of at this path is not: until it is read, nothing of it would be anywhere.
    func postpones(_ path: RelativePath, _ status: FileStatus, _ old: Entry) -> Bool {
        state.withLock { state in
            let isPostponed =
                old.kind == .file && old.linkGroup == nil && state.rule.isLarge(status)
                && (state.files[path] != nil || state.files.count < LargeFiles.limit)
            guard isPostponed else {
                state.files[path] = nil
                return false
            }
            var file = state.files[path] ?? File(bytes: status.size)
            file.bytes = status.size
            if file.changed == nil { file.changed = (.now, .now) }
            state.files[path] = file
            return true
        }
    }

    /// Takes in that nothing is at `path` any more.
    func forget(_ path: RelativePath) { state.withLock { $0.files[path] = nil } }

    /// Says of the files that wait, or are being read, that a snapshot made now has an earlier state of them.
    func problems(besides path: RelativePath? = nil) -> [Problem] {
        state.withLock { state in
            state.files.compactMap { other, file in
                guard other != path, file.changed != nil || file.isReading else { return nil }
                let state = file.last.map { "as it was at \($0.time.rfc3339)" } ?? "as it was before"
                return Problem(path: other, reason: .postponed, detail: "\(state): a large file, captured less often")
            }
        }
    }

    /// The paths that wait, for a capture that leaves none out.
    var waitingRanges: [PathRange] {
        state.withLock { state in state.files.filter { $0.value.changed != nil }.map { .entry($0.key) } }
    }

    /// Takes in that everything was captured that waited: to be called while nobody else captures the root.
    func capturedAll() {
        state.withLock { state in for path in state.files.keys { state.files[path]?.changed = nil } }
    }

    // MARK: Reading

    /// When the next file is to be read; nil where none waits.
    var nextDue: ContinuousClock.Instant? {
        state.withLock { state in state.files.values.compactMap { state.rule.due($0) }.min() }
    }

    /// Begins the reading of a file that waits: of those that are due, or of all, that which has waited longest.
    ///
    /// - Parameters:
    ///   - passed: files that are not to be read again by this caller.
    /// - Returns: nil where there is none.
    func begin(all: Bool, passed: Set<RelativePath>, now: ContinuousClock.Instant = .now) -> RelativePath? {
        state.withLock { state in
            let ready = state.files.filter { path, file in
                guard !file.isReading, !passed.contains(path), let due = state.rule.due(file) else { return false }
                return all || due <= now
            }
            let first = ready.min { ($0.value.changed?.instant ?? now) < ($1.value.changed?.instant ?? now) }
            guard let path = first?.key else { return nil }
            state.files[path]?.isReading = true
            // What changes from now on is another change.
            state.files[path]?.changed = nil
            return path
        }
    }

    /// Takes in how the reading of a file went that began at `start`.
    func end(
        _ path: RelativePath, _ outcome: Outcome, began start: ContinuousClock.Instant, took: Duration,
        retryAfter pause: Duration
    ) {
        state.withLock { state in
            guard var file = state.files[path] else { return }
            file.isReading = false
            file.retry = nil
            switch outcome {
            case .captured: file.last = (start + took, took, .now)
            case .superseded: break
            case .failed:
                file.changed = file.changed ?? (start, .now)
                file.retry = .now + pause
            }
            state.files[path] = file
        }
    }

    /// Files that wait because they were read not long ago, and that nobody was told of; from now on somebody is.
    func takeUntold(now: ContinuousClock.Instant = .now) -> [WatcherStatus.LargeFile] {
        state.withLock { state in
            let untold = state.files.filter { !$0.value.isTold && (state.rule.due($0.value) ?? now) > now }
            for path in untold.keys { state.files[path]?.isTold = true }
            return untold.map { State.status($0.key, $0.value, state.rule) }
        }
    }

    /// The files that wait, or are being read, by path.
    var waiting: [WatcherStatus.LargeFile] {
        state.withLock { state in
            state.files.filter { $0.value.changed != nil || $0.value.isReading }
                .map { State.status($0.key, $0.value, state.rule) }.sorted { $0.path < $1.path }
        }
    }

}

extension LargeFiles.State {
    fileprivate static func status(
        _ path: RelativePath, _ file: LargeFiles.File, _ rule: LargeFileRule
    ) -> WatcherStatus.LargeFile {
        WatcherStatus.LargeFile(
            path: path, bytes: file.bytes, changed: file.changed?.time, captured: file.last?.time,
            readSeconds: file.last?.took.seconds,
            intervalSeconds: file.last.map { (rule.rest(after: $0.took) + $0.took).seconds })
    }
}

extension LargeFileRule {
    /// When a file is to be read; nil where it need not be.
    fileprivate func due(_ file: LargeFiles.File) -> ContinuousClock.Instant? {
        guard let changed = file.changed else { return nil }
        let due = due(changed: changed.instant, last: file.last.map { ($0.end, $0.took) })
        return file.retry.map { max($0, due) } ?? due
    }
}
