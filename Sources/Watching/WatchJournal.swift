// The state of one root since its watching began, for `status`, captures and audits.

internal import ArchiveFormat
internal import Capturing
internal import FileIO
internal import FileWatching
internal import Roots
internal import SystemPackage
internal import Threading
internal import WatchControl

/// The journal of a watched root; any thread may use it.
final class WatchJournal: Sendable {
    fileprivate struct State {
        var phase = WatcherStatus.Phase.reading
        var lastCapture: Timestamp?
        /// The number of captures in progress.
        var captures = 0
        var problems: [RelativePath: Problem] = [:]
        /// Ranges that the next capture must visit as well.
        var deferred: Set<PathRange> = []
        /// Names written to since the last capture, and in the batch before it.
        var written = WrittenNames()
        var writtenBefore = WrittenNames()
        /// Whether there are problems that have not been reported yet.
        var hasNewProblems = false
        /// The pause before failed places are retried, and whether it is running.
        var pause = Duration.zero
        var isPausing = false
        var failure: Finding?
        var fallbacks: [Finding] = []
        var lastAudit: AuditResult?
        /// The ranges captured since an audit began to collect them; nil if none does.
        var scanned: [PathRange]?
    }

    let since = Timestamp.now
    private let state = Locked(State())

    /// How many problems are stored; further ones are dropped.
    fileprivate static let problemsLimit = 10_000

    // MARK: Phases

    var phase: WatcherStatus.Phase { state.withLock { $0.phase } }

    func enter(_ phase: WatcherStatus.Phase) {
        state.withLock { $0.phase = phase }
    }

    func add(_ fallback: Finding) {
        state.withLock { $0.fallbacks.append(fallback) }
    }

    // MARK: Captures

    /// Names written to recently.
    ///
    /// Those of the previous batch count too: a file captured then may be gone now, and later writes to it leave no
    /// other trace.
    var written: WrittenNames {
        state.withLock { state in
            var names = state.written
            names.formUnion(state.writtenBefore)
            return names
        }
    }

    func add(_ written: WrittenNames) {
        state.withLock { $0.written.formUnion(written) }
    }

    func captureBegins() {
        state.withLock { $0.captures += 1 }
    }

    func captureStops() {
        state.withLock { $0.captures -= 1 }
    }

    /// Adds to `ranges` those that earlier captures deferred.
    ///
    /// - Returns: the ranges, in walk order and without overlap.
    func addDeferred(to ranges: [PathRange]) -> [PathRange] {
        let deferred = state.withLock { $0.deferred }
        if deferred.isEmpty { return ranges }
        return ranges.adding(Array(deferred))
    }

    /// Directories that earlier captures deferred, because only their time had changed.
    var deferredDirectories: Set<RelativePath> {
        state.withLock { state in
            Set(state.deferred.compactMap { if case .entry(let path) = $0 { path } else { nil } })
        }
    }

    /// Records that a capture has compared the root with its latest snapshot within `ranges`.
    ///
    /// A capture with the cause `watch` ends a batch, and so starts new written names.
    func captureEnded(_ ranges: [PathRange], _ result: CaptureResult, of cause: Cause, at time: Timestamp) {
        state.withLock { state in
            state.lastCapture = time
            state.failure = nil
            if cause == .watch { (state.writtenBefore, state.written) = (state.written.withoutClosed, WrittenNames()) }
            state.deferred = state.deferred.filter { range in !ranges.contains { $0.covers(range.path) } }
            state.deferred.formUnion(result.deferred)
            state.record(result.problems, within: ranges)
        }
    }

    /// Records that the large file at `path` was captured on its own.
    func captureEnded(of path: RelativePath, _ result: CaptureResult, at time: Timestamp) {
        state.withLock { state in
            state.lastCapture = time
            state.failure = nil
            state.record(result.problems, within: [.entry(path)])
        }
    }

    /// - Returns: whether the error is new: the previous capture succeeded, or failed for another reason.
    func captureFailed(_ error: ArchiverError) -> Bool {
        state.withLock { state in
            defer { state.failure = Finding(error) }
            return state.failure?.message != error.message
        }
    }

    // MARK: Problems

    /// Returns whether there are unreported problems, and marks them as reported.
    func takeAreNew() -> Bool {
        state.withLock { state in
            defer { state.hasNewProblems = false }
            // Beyond the limit, it is unknown which problems are new.
            return state.hasNewProblems || state.problems.count >= WatchJournal.problemsLimit
        }
    }

    /// Starts the pause before failed places are retried; it doubles each time until no place fails.
    ///
    /// - Returns: the length of the pause; nil if one is already running.
    func beginPause(_ first: Duration, atMost longest: Duration) -> Duration? {
        state.withLock { state in
            if state.isPausing { return nil }
            state.isPausing = true
            state.pause = min(max(state.pause * 2, first), longest)
            return state.pause
        }
    }

    func endPause() {
        state.withLock { $0.isPausing = false }
    }

    // MARK: Audits

    /// Collects the captured ranges from now on.
    func beginCollecting() {
        state.withLock { $0.scanned = [] }
    }

    /// - Returns: the ranges captured since `beginCollecting`.
    func endCollecting() -> [PathRange] {
        state.withLock { state in
            defer { state.scanned = nil }
            return state.scanned ?? []
        }
    }

    func add(_ audit: AuditResult) {
        state.withLock { $0.lastAudit = audit }
    }

    // MARK: Status

    /// Fills `status` with the journal's data.
    func fill(_ status: inout WatcherStatus) {
        state.withLock { state in
            status.phase = state.phase
            status.lastCapture = state.lastCapture
            status.backlog += state.captures
            status.problemCount = state.problems.count
            status.problems = Array(state.problems.values.sorted { $0.path < $1.path }.prefix(20))
            status.failure = state.failure
            status.fallbacks = state.fallbacks
            status.lastAudit = state.lastAudit
        }
    }
}

extension WatchJournal.State {
    /// Records the problems of a capture of `ranges`.
    fileprivate mutating func record(_ problems: [Problem], within ranges: [PathRange]) {
        let known = self.problems
        if !known.isEmpty { self.problems = known.filter { path, _ in !ranges.contains { $0.covers(path) } } }
        for problem in problems where self.problems.count < WatchJournal.problemsLimit {
            self.problems[problem.path] = problem
            if known[problem.path] != problem { hasNewProblems = true }
        }
        if !self.problems.values.contains(where: \.mayPass) { pause = .zero }
        scanned?.append(contentsOf: ranges)
    }
}

extension [PathRange] {
    /// These ranges and others, in walk order and without overlap.
    func adding(_ others: [PathRange]) -> [PathRange] {
        if others.isEmpty { return self }
        if others.contains(.subtree(.root)) || contains(.subtree(.root)) { return [.subtree(.root)] }
        let rest = others.filter { range in !contains { $0.covers(range.path) } }
        return (self + rest).sorted()
    }
}

extension Problem {
    /// Whether the problem may pass without any event: an I/O error of a disk or a server, unlike denied access.
    var mayPass: Bool {
        reason == .unreadable
            && ![Errno.permissionDenied, .notPermitted].contains { $0.description == detail }
    }
}
