// The state of one root since its watching began, for `status`, captures and audits.

internal import ArchiveFormat
internal import Capturing
internal import FileIO
internal import FileWatching
internal import Roots
internal import SystemPackage
internal import Threading
internal import WatchControl

/// What is known of a watched root; any thread may use it.
final class RootState: Sendable {
    fileprivate struct Values {
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
        /// The pauses before failed places are retried, nil if none fails; and whether one is running.
        var retries: Backoff?
        var isPausing = false
        var failure: Finding?
        var fallbacks: [Finding] = []
        var lastAudit: AuditResult?
        /// The ranges captured since an audit began to collect them; nil if none does.
        var scanned: [PathRange]?
    }

    let since = Timestamp.now
    private let values = Locked(Values())

    /// How many problems are stored; further ones are dropped.
    fileprivate static let problemsLimit = 10_000

    // MARK: Phases

    var phase: WatcherStatus.Phase { values.withLock { $0.phase } }

    func enter(_ phase: WatcherStatus.Phase) {
        values.withLock { $0.phase = phase }
    }

    func add(_ fallback: Finding) {
        values.withLock { $0.fallbacks.append(fallback) }
    }

    // MARK: Captures

    /// Names written to recently.
    ///
    /// Those of the previous batch count too: a file captured then may be gone now, and later writes to it leave no
    /// other trace.
    var written: WrittenNames {
        values.withLock { values in
            var names = values.written
            names.formUnion(values.writtenBefore)
            return names
        }
    }

    func add(_ written: WrittenNames) {
        values.withLock { $0.written.formUnion(written) }
    }

    func captureBegins() {
        values.withLock { $0.captures += 1 }
    }

    func captureStops() {
        values.withLock { $0.captures -= 1 }
    }

    /// Adds to `ranges` those that earlier captures deferred.
    ///
    /// - Returns: the ranges, in walk order and without overlap.
    func addDeferred(to ranges: [PathRange]) -> [PathRange] {
        let deferred = values.withLock { $0.deferred }
        if deferred.isEmpty { return ranges }
        return ranges.adding(Array(deferred))
    }

    /// Directories that earlier captures deferred, because only their time had changed.
    var deferredDirectories: Set<RelativePath> {
        values.withLock { values in
            Set(values.deferred.compactMap { if case .entry(let path) = $0 { path } else { nil } })
        }
    }

    /// Records that a capture has compared the root with its latest snapshot within `ranges`.
    ///
    /// A capture with the cause `watch` ends a batch, and so starts new written names.
    func captureEnded(_ ranges: [PathRange], _ result: CaptureResult, of cause: Cause, at time: Timestamp) {
        values.withLock { values in
            values.lastCapture = time
            values.failure = nil
            if cause == .watch {
                (values.writtenBefore, values.written) = (values.written.withoutClosed, WrittenNames())
            }
            values.deferred = values.deferred.filter { range in !ranges.contains { $0.covers(range.path) } }
            values.deferred.formUnion(result.deferred)
            values.record(result.problems, within: ranges)
        }
    }

    /// Records that the large file at `path` was captured on its own.
    func captureEnded(of path: RelativePath, _ result: CaptureResult, at time: Timestamp) {
        values.withLock { values in
            values.lastCapture = time
            values.failure = nil
            values.record(result.problems, within: [.entry(path)])
        }
    }

    /// - Returns: whether the error is new: the previous capture succeeded, or failed for another reason.
    func captureFailed(_ error: ArchiverError) -> Bool {
        values.withLock { values in
            defer { values.failure = Finding(error) }
            return values.failure?.message != error.message
        }
    }

    // MARK: Problems

    /// Returns whether there are unreported problems, and marks them as reported.
    func takeAreNew() -> Bool {
        values.withLock { values in
            defer { values.hasNewProblems = false }
            // Beyond the limit, it is unknown which problems are new.
            return values.hasNewProblems || values.problems.count >= RootState.problemsLimit
        }
    }

    /// Starts the pause before failed places are retried.
    ///
    /// - Parameter retries: the pauses of places that did not fail before.
    /// - Returns: the length of the pause; nil if one is already running.
    func beginPause(_ retries: Backoff) -> Duration? {
        values.withLock { values in
            if values.isPausing { return nil }
            values.isPausing = true
            var known = values.retries ?? retries
            defer { values.retries = known }
            return known.next()
        }
    }

    func endPause() {
        values.withLock { $0.isPausing = false }
    }

    // MARK: Audits

    /// Collects the captured ranges from now on.
    func beginCollecting() {
        values.withLock { $0.scanned = [] }
    }

    /// - Returns: the ranges captured since `beginCollecting`.
    func endCollecting() -> [PathRange] {
        values.withLock { values in
            defer { values.scanned = nil }
            return values.scanned ?? []
        }
    }

    func add(_ audit: AuditResult) {
        values.withLock { $0.lastAudit = audit }
    }

    // MARK: Status

    /// Fills `status`.
    func fill(_ status: inout WatcherStatus) {
        values.withLock { values in
            status.phase = values.phase
            status.lastCapture = values.lastCapture
            status.backlog += values.captures
            status.problemCount = values.problems.count
            status.problems = Array(values.problems.values.sorted { $0.path < $1.path }.prefix(20))
            status.failure = values.failure
            status.fallbacks = values.fallbacks
            status.lastAudit = values.lastAudit
        }
    }
}

extension RootState.Values {
    /// Records the problems of a capture of `ranges`.
    fileprivate mutating func record(_ problems: [Problem], within ranges: [PathRange]) {
        let known = self.problems
        if !known.isEmpty { self.problems = known.filter { path, _ in !ranges.contains { $0.covers(path) } } }
        for problem in problems where self.problems.count < RootState.problemsLimit {
            self.problems[problem.path] = problem
            if known[problem.path] != problem { hasNewProblems = true }
        }
        if !self.problems.values.contains(where: \.mayPass) { retries = nil }
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
