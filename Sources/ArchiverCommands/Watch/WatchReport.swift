// The output of `watch`: an observer of the watch service that writes each event as a line.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import Dispatch
internal import FileIO
internal import Logging
internal import SystemPackage
internal import Threading

/// Writes the events of a watch service as they occur.
final class WatchReport: Sendable {
    private struct State {
        /// The number of roots whose first capture is not done.
        var starting: Int
        /// Whether the reader of stdout has closed it.
        var isClosed = false
        /// The number of events that could not be written to stdout since the last one that could.
        var unwritten = 0
        /// The gaps of each root since its latest snapshot.
        var gaps: [[UInt8]: [GapRecord]] = [:]
    }

    private let console: Console
    private let showsRoot: Bool
    private let progress: ProgressLine
    private let status: @Sendable () -> String
    private let words: @Sendable (ListedSnapshot) -> String
    private let log: EventLog
    private let hook: EventHook
    private let state: Locked<State>

    /// - Parameters:
    ///   - roots: the number of watched roots.
    ///   - showsRoot: whether each snapshot names its root; nil to name it if there are several.
    ///   - progress: the progress line of the first captures, which ends with them.
    ///   - status: returns the text to print on SIGUSR1.
    ///   - words: says what a snapshot changed.
    ///   - log: gets each event, too, and is the only output if the journal reads it.
    ///   - command: is run for events; nil for none.
    init(
        _ console: Console, roots: Int, showsRoot: Bool? = nil, _ progress: ProgressLine, _ log: EventLog,
        command: [UInt8]?,
        status: @escaping @Sendable () -> String,
        words: @escaping @Sendable (ListedSnapshot) -> String = { _ in "" }
    ) {
        self.console = console
        self.showsRoot = showsRoot ?? (roots > 1)
        self.progress = progress
        self.status = status
        self.words = words
        self.log = log
        hook = EventHook(command) { [log, console] text in
            log.say(.warning, "on-event", text)
            if !log.isForJournal { console.warn("archiver: " + WatchText.timed(Escaping.text(text))) }
        }
        state = Locked(State(starting: roots))
    }

    /// Writes the line of `event`, preceded by the line of the snapshot that a first capture made.
    func add(_ event: WatchService.Event) {
        if case .watching(_, _, let snapshot, isNew: true) = event { add(.snapshot(snapshot)) }
        record(event)
        hook.add(event)
        // Programs wait for this output; the log may come later.
        if !log.isForJournal { progress.aside { write(event) } }
        log.add(event)
    }

    /// Logs to other places and runs another command from now on.
    func change(to settings: EventSettings) {
        log.change(to: settings)
        hook.change(to: settings.command)
    }

    /// Logs a remark, and prints it on stderr.
    ///
    /// Never waits for the terminal, because signals must still be handled.
    func remark(_ text: String) {
        log.say(.info, "remark", text)
        if log.isForJournal { return }
        try? DetachedThread.start(for: "a word") { [progress, console] in
            progress.aside { console.remark(text) }
        }
    }

    /// Logs a problem, and prints it on stderr with its time; never waits for the terminal.
    func warn(_ text: String) {
        log.say(.warning, "warning", text)
        if log.isForJournal { return }
        try? DetachedThread.start(for: "a word") { [progress, console] in
            progress.aside { console.warn("archiver: " + WatchText.timed(Escaping.text(text))) }
        }
    }

    /// Erases the progress line; if the terminal blocks, later output is discarded.
    func end() {
        hook.end()
        let isDone = DispatchSemaphore(value: 0)
        try? DetachedThread.start(for: "the last words") { [progress] in
            progress.end()
            isDone.signal()
        }
        _ = isDone.wait(timeout: .now() + .seconds(1))
        Output.standard.giveUpIfStuck()
        Output.error.giveUpIfStuck()
    }

    /// Counts the roots that have started, and records gaps for the next snapshot.
    private func record(_ event: WatchService.Event) {
        let isStarted = state.withLock { state in
            switch event {
            case .watching:
                state.starting -= 1
                return state.starting == 0
            case .covered, .waiting:
                // This root has no first capture to wait for.
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

    /// Writes an event; if that fails, watching continues.
    private func write(_ event: WatchService.Event) {
        let (isClosed, unwritten) = state.withLock { ($0.isClosed, $0.unwritten) }
        if !console.isJSON || isClosed, reportWarning(event) { return }
        if isClosed { return }
        let missed = WatchService.Event.dropped(events: unwritten, warnings: 0)
        do {
            if console.isJSON, unwritten > 0 { try writeOne(missed) }
            try writeOne(event)
            if !console.isJSON, unwritten > 0 { _ = reportWarning(missed) }
            state.withLock { $0.unwritten = 0 }
        } catch {
            state.withLock { state in
                state.isClosed = error is ClosedPipe
                state.unwritten += 1
            }
            guard unwritten == 0 else { return }
            let reason = (error as? FileError).map { "\($0)" } ?? "stdout was closed"
            console.warn("archiver: " + WatchText.timed("\(reason); watching continues"))
        }
    }

    /// Writes the event to stderr if it reports a problem.
    ///
    /// - Returns: whether it does.
    private func reportWarning(_ event: WatchService.Event) -> Bool {
        if case .problems(_, let problems, let count) = event {
            console.warn(problems, count: count) { WatchText.timed($0.text) }
            return true
        }
        guard let text = WatchText.warning(event) else { return false }
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

    /// Removes and returns the gaps before the snapshot of `event`.
    private func takeGaps(_ event: WatchService.Event) -> [GapRecord] {
        guard case .snapshot(let snapshot) = event else { return [] }
        return state.withLock { $0.gaps.removeValue(forKey: snapshot.rootPath) ?? [] }
    }

    /// Writes snapshots and normal events to stdout, problems to stderr.
    private func writeText(_ event: WatchService.Event) throws {
        switch event {
        case .snapshot(let snapshot):
            if console.isQuiet { return }
            try put(
                console.isForPerson
                    ? WatchText.snapshot(snapshot, showsRoot: showsRoot, words: words(snapshot))
                    : SnapshotList.plain(snapshot))
        case .audited(_, let result) where result.found == 0 && result.repaired == 0 && !console.isVerbose:
            break
        case .maintained(let result) where result.isShort:
            _ = reportWarning(event)
        case .starting, .watching, .stopped, .waiting, .covered, .audited, .largeFile, .maintained:
            if !console.isQuiet, let text = WatchText.course(event) { try put(WatchText.timed(text)) }
        case .problems, .gap, .fallback, .unavailable, .available, .related, .wrongClock, .error, .notMaintained,
            .replicaFailed, .replicaComplete, .dropped:
            _ = reportWarning(event)
        }
    }

    private func put(_ line: String) throws {
        try console.output.line(line)
        try console.output.flush()
    }
}
