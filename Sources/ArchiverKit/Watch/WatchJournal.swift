// What has happened to one root since its watching began: what `status` tells and the audit needs.

internal import ArchiveFormat
internal import FileIO
internal import FileWatching
internal import Locking

/// The memory of a root's caretaker; any thread may use it.
final class WatchJournal: Sendable {
    private struct State {
        var phase = WatcherStatus.Phase.reading
        var lastCapture: Timestamp?
        var isCapturing = false
        var problems: [RelativePath: Problem] = [:]
        /// Where the next capture has to look too.
        var deferred: Set<PathRange> = []
        /// Names that something was written to since the last capture, and before it.
        var written = WrittenNames()
        var writtenBefore = WrittenNames()
        var failure: WatcherStatus.Trouble?
        var degradations: [WatcherStatus.Trouble] = []
        var lastAudit: AuditResult?
        /// Gaps that could not be entered into the archive yet.
        var unrecorded: [GapRecord] = []
        /// Where captures have looked since an audit asked for it.
        var looked: [PathRange]?
    }

    let since = Timestamp.now
    private let state = Locked(State())

    /// Paths with problems that are kept; beyond them only the latest are known.
    private static let problemsLimit = 10_000

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
        state.withLock { $0.isCapturing = true }
    }

    /// Adds to `ranges` what earlier captures have left for a next one.
    ///
    /// - Returns: the ranges in walk order, not overlapping.
    func addDeferred(to ranges: [PathRange]) -> [PathRange] {
        let deferred = state.withLock { $0.deferred }
        if deferred.isEmpty { return ranges }
        if deferred.contains(.subtree(.root)) || ranges.contains(.subtree(.root)) { return [.subtree(.root)] }
        let rest = deferred.filter { range in !ranges.contains { $0.covers(range.path) } }
        return (ranges + rest).sorted()
    }

    /// Takes in that the root was compared with its latest snapshot within `ranges`.
    func captureEnded(_ ranges: [PathRange], _ result: CaptureResult, at time: Timestamp) {
        state.withLock { state in
            state.isCapturing = false
            state.lastCapture = time
            state.failure = nil
            (state.writtenBefore, state.written) = (state.written.withoutClosed, WrittenNames())
            if !state.problems.isEmpty {
                state.problems = state.problems.filter { path, _ in !ranges.contains { $0.covers(path) } }
            }
            state.deferred = state.deferred.filter { range in !ranges.contains { $0.covers(range.path) } }
            state.deferred.formUnion(result.deferred)
            for problem in result.problems where state.problems.count < WatchJournal.problemsLimit {
                state.problems[problem.path] = problem
            }
            state.looked?.append(contentsOf: ranges)
        }
    }

    func captureFailed(_ error: ArchiverError) {
        state.withLock { state in
            state.isCapturing = false
            state.failure = WatcherStatus.Trouble(message: error.message, remedy: error.remedy)
        }
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

    // MARK: Gaps

    func add(_ gaps: [GapRecord]) {
        state.withLock { $0.unrecorded += gaps }
    }

    /// - Returns: the gaps to be entered into the archive; whoever fails to puts them back with `add`.
    func takeUnrecorded() -> [GapRecord] {
        state.withLock { state in
            defer { state.unrecorded = [] }
            return state.unrecorded
        }
    }

    // MARK: Telling

    /// Puts what the journal knows into `status`.
    func fill(_ status: inout WatcherStatus) {
        state.withLock { state in
            status.phase = state.phase
            status.lastCapture = state.lastCapture
            if state.isCapturing { status.backlog += 1 }
            status.problemCount = state.problems.count
            status.problems = Array(state.problems.values.sorted { $0.path < $1.path }.prefix(20))
            status.failure = state.failure
            status.degradations = state.degradations
            status.lastAudit = state.lastAudit
        }
    }
}

extension PathRange {
    /// Whether whoever looks at the range looks at `path`.
    func covers(_ path: RelativePath) -> Bool {
        switch self {
        case .entry(let own): own == path
        case .children(let own): own == path || path.parent == own
        case .subtree(let own): own.contains(path)
        }
    }
}
