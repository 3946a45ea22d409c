// What `watch` tells while it runs: an observer of the service that writes each event as a line.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import Dispatch
internal import FileIO
internal import SystemPackage
internal import Threading

/// Writes the events of a watch service as they come.
final class WatchReport: Sendable {
    private struct State {
        /// Roots whose first capture is not done.
        var starting: Int
        /// Whether nobody reads stdout any more.
        var isClosed = false
        /// Events that could not be written to stdout since the last that could.
        var unwritten = 0
        /// Gaps of each root since its latest snapshot.
        var gaps: [[UInt8]: [GapRecord]] = [:]
    }

    private let console: Console
    private let showsRoot: Bool
    private let progress: ProgressLine
    private let status: @Sendable () -> String
    private let state: Locked<State>

    /// - Parameters:
    ///   - roots: how many are watched.
    ///   - progress: of the first captures; ends with them.
    ///   - status: what SIGUSR1 asks for.
    init(
        _ console: Console, roots: Int, _ progress: ProgressLine, status: @escaping @Sendable () -> String
    ) {
        self.console = console
        showsRoot = roots > 1
        self.progress = progress
        self.status = status
        state = Locked(State(starting: roots))
    }

    /// Writes the line of `event`, and that of the snapshot which a first capture has made.
    func add(_ event: WatchService.Event) {
        if case .watching(_, _, let snapshot, isNew: true) = event { add(.snapshot(snapshot)) }
        record(event)
        progress.aside { write(event) }
    }

    /// A word to the person at the terminal.
    ///
    /// Never waits for a terminal that does not read: signals are to be heard.
    func remark(_ text: String) {
        try? DetachedThread.start(for: "a word") { [progress, console] in
            progress.aside { console.remark(text) }
        }
    }

    /// Wipes the progress line; where a terminal that does not read keeps it from that, nothing more is written.
    func end() {
        let isDone = DispatchSemaphore(value: 0)
        try? DetachedThread.start(for: "the last words") { [progress] in
            progress.end()
            isDone.signal()
        }
        _ = isDone.wait(timeout: .now() + .seconds(1))
        Output.standard.giveUpIfStuck()
        Output.error.giveUpIfStuck()
    }

    /// Records how far the roots are, and the gaps for the snapshots after them.
    private func record(_ event: WatchService.Event) {
        let isStarted = state.withLock { state in
            switch event {
            case .watching:
                state.starting -= 1
                return state.starting == 0
            case .covered, .waiting:
                // Its first capture is not waited for.
                state.starting -= 1
                return state.starting == 0
            case .gap(let gap): state.gaps[gap.rootPath, default: []].append(gap)
            default: break
            }
            return false
        }
        guard isStarted else { return }
        progress.end()
        ProgressSignal.answer(status)
    }

    /// Writes an event; where that is not possible, watching goes on all the same.
    private func write(_ event: WatchService.Event) {
        let (isClosed, unwritten) = state.withLock { ($0.isClosed, $0.unwritten) }
        if !console.isJSON || isClosed, reportTrouble(event) { return }
        if isClosed { return }
        let missed = WatchService.Event.dropped(events: unwritten, troubles: 0)
        do {
            if console.isJSON, unwritten > 0 { try writeOne(missed) }
            try writeOne(event)
            if !console.isJSON, unwritten > 0 { _ = reportTrouble(missed) }
            state.withLock { $0.unwritten = 0 }
        } catch {
            state.withLock { state in
                state.isClosed = error is ClosedPipe
                state.unwritten += 1
            }
            guard unwritten == 0 else { return }
            let reason = (error as? FileError).map { "\($0)" } ?? "nobody reads stdout any more"
            console.warn("archiver: " + WatchText.timed("\(reason); watching goes on all the same"))
        }
    }

    /// Writes to stderr where the event tells of something that is not as it should be.
    ///
    /// - Returns: whether it does.
    private func reportTrouble(_ event: WatchService.Event) -> Bool {
        if case .problems(_, let problems, let count) = event {
            console.warn(problems, count: count) { WatchText.timed($0.text) }
            return true
        }
        guard let text = WatchText.trouble(event) else { return false }
        console.warn("archiver: " + WatchText.timed(text))
        return true
    }

    private func writeOne(_ event: WatchService.Event) throws {
        if console.isJSON {
            try put(JSONText.of(WatchEventJSON(event, gaps: takeGaps(event))))
        } else {
            try writeText(event)
        }
    }

    /// The gaps before the snapshot that `event` tells of.
    private func takeGaps(_ event: WatchService.Event) -> [GapRecord] {
        guard case .snapshot(let record) = event else { return [] }
        return state.withLock { $0.gaps.removeValue(forKey: record.rootPath) ?? [] }
    }

    /// Data and the course of things go to stdout, problems to stderr.
    private func writeText(_ event: WatchService.Event) throws {
        switch event {
        case .snapshot(let record):
            if console.isQuiet { return }
            try put(console.isForPerson ? WatchText.snapshot(record, showsRoot: showsRoot) : SnapshotList.plain(record))
        case .audited(_, let result) where result.found == 0 && result.repaired == 0 && !console.isVerbose:
            break
        case .maintained(let result) where result.room.isShort:
            _ = reportTrouble(event)
        case .starting, .watching, .stopped, .waiting, .covered, .audited, .largeFile, .maintained:
            if !console.isQuiet, let text = WatchText.course(event) { try put(WatchText.timed(text)) }
        case .problems, .gap, .degraded, .unavailable, .available, .error, .notMaintained, .dropped:
            _ = reportTrouble(event)
        }
    }

    private func put(_ line: String) throws {
        try console.output.line(line)
        try console.output.flush()
    }
}
