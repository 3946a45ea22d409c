// What has happened to one root since its watching began: what `status` tells and the audit needs.

internal import ArchiveFormat
internal import Capturing
internal import FileIO
internal import FileWatching
internal import Roots
internal import SystemPackage
internal import Threading
internal import WatchControl

/// The memory of a watched root; any thread may use it.
final class WatchJournal: Sendable {
    fileprivate struct State {
        var phase = WatcherStatus.Phase.reading
        var lastCapture: Timestamp?
        /// Captures under way.
        var captures = 0
        var problems: [RelativePath: Problem] = [:]
        /// Where the next capture has to look too.
        var deferred: Set<PathRange> = []
        /// Names that something was written to since the last capture, and before it.
        var written = WrittenNames()
        var writtenBefore = WrittenNames()
        /// What of the problems was not told yet.
        var hasNewProblems = false
        /// How long places that gave errors are left alone, and whether that is so now.
        var pause = Duration.zero
        var isPausing = false
        var failure: WatcherStatus.Trouble?
        var degradations: [WatcherStatus.Trouble] = []
        var lastAudit: AuditResult?
        /// Where captures have looked since an audit asked for it.
        var looked: [PathRange]?
    }

    let since = Timestamp.now
    private let state = Locked(State())

    /// Paths with problems that are kept; beyond them only the latest are known.
    fileprivate static let problemsLimit = 10_000

    // MARK: Phases

    var phase: WatcherStatus.Phase { state.withLock { $0.phase } }

    func enter(_ phase: WatcherStatus.Phase) {
        state.withLock { $0.phase = phase }
    }

    func add(_ degradation: WatcherStatus.Trouble) {
        state.withLock { $0.degradations.append(degradation) }
    }

    // MARK: Captures

    /// Names that something was written to lately.
    ///
    /// Those of the batch before count too: what was there when it was captured may be gone now, and what was written to
    /// it after that has no other trace.
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

    /// Adds to `ranges` what earlier captures have left for a next one.
    ///
    /// - Returns: the ranges in walk order, not overlapping.
    func addDeferred(to ranges: [PathRange]) -> [PathRange] {
        let deferred = state.withLock { $0.deferred }
        if deferred.isEmpty { return ranges }
        return ranges.adding(Array(deferred))
    }

    /// Directories that earlier captures have left for a next one: their time alone made none.
    var deferredDirectories: Set<RelativePath> {
        state.withLock { state in
            Set(state.deferred.compactMap { if case .entry(let path) = $0 { path } else { nil } })
        }
    }

    /// Records that the root was compared with its latest snapshot within `ranges`.
    ///
    /// The names that were written to belong to the batch that a capture of the cause `watch` is of.
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

    /// - Returns: whether the capture before failed for another reason, or not at all.
    func captureFailed(_ error: ArchiverError) -> Bool {
        state.withLock { state in
            defer { state.failure = WatcherStatus.Trouble(error) }
            return state.failure?.message != error.message
        }
    }

    // MARK: Problems

    /// Whether there are problems that were not told; afterwards, there are none.
    func takeAreNew() -> Bool {
        state.withLock { state in
            defer { state.hasNewProblems = false }
            // Of more problems than are kept it is not known which are new.
            return state.hasNewProblems || state.problems.count >= WatchJournal.problemsLimit
        }
    }

    /// Begins to leave places alone that gave errors: each time for twice as long, until there are none.
    ///
    /// - Returns: for how long; nil where they are left alone already.
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

    /// Remembers from now on where captures look.
    func beginCollecting() {
        state.withLock { $0.looked = [] }
    }

    /// - Returns: where captures have looked since `beginCollecting`.
    func endCollecting() -> [PathRange] {
        state.withLock { state in
            defer { state.looked = nil }
            return state.looked ?? []
        }
    }

    func add(_ audit: AuditResult) {
        state.withLock { $0.lastAudit = audit }
    }

    // MARK: Status

    /// Puts what the journal knows into `status`.
    func fill(_ status: inout WatcherStatus) {
        state.withLock { state in
            status.phase = state.phase
            status.lastCapture = state.lastCapture
            status.backlog += state.captures
            status.problemCount = state.problems.count
            status.problems = Array(state.problems.values.sorted { $0.path < $1.path }.prefix(20))
            status.failure = state.failure
            status.degradations = state.degradations
            status.lastAudit = state.lastAudit
        }
    }
}

extension WatchJournal.State {
    /// Records the problems of a capture that looked at `ranges`.
    fileprivate mutating func record(_ problems: [Problem], within ranges: [PathRange]) {
        let known = self.problems
        if !known.isEmpty { self.problems = known.filter { path, _ in !ranges.contains { $0.covers(path) } } }
        for problem in problems where self.problems.count < WatchJournal.problemsLimit {
            self.problems[problem.path] = problem
            if known[problem.path] != problem { hasNewProblems = true }
        }
        if !self.problems.values.contains(where: \.mayPass) { pause = .zero }
        looked?.append(contentsOf: ranges)
    }
}

extension [PathRange] {
    /// These ranges and others, in walk order, not overlapping.
    func adding(_ others: [PathRange]) -> [PathRange] {
        if others.isEmpty { return self }
        if others.contains(.subtree(.root)) || contains(.subtree(.root)) { return [.subtree(.root)] }
        let rest = others.filter { range in !contains { $0.covers(range.path) } }
        return (self + rest).sorted()
    }
}

extension Problem {
    /// Whether the place may be well again although nothing changes there: a disk or a server that gives errors, unlike
    /// one that denies access.
    var mayPass: Bool {
        reason == .unreadable
            && ![Errno.permissionDenied, .notPermitted].contains { $0.description == detail }
    }
}
