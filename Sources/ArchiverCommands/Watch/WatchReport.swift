// What `watch` tells while it runs: an observer of the service that writes each event as a line.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import Glibc
internal import Locking
internal import SystemPackage

/// Writes the events of a watch service as they come.
final class WatchReport: Sendable {
    private struct State {
        /// Roots whose first capture is not done.
        var starting: Int
        /// Why the latest state of a root is not in the archive.
        var failures: [FilePath: ArchiverError] = [:]
        var hasReader = true
        /// Gaps of each root since its latest snapshot.
        var gaps: [[UInt8]: [GapRecord]] = [:]
    }

    private let console: Console
    private let showsRoot: Bool
    private let progress: ProgressLine
    private let onClosedPipe: @Sendable () -> Void
    private let status: @Sendable () -> String
    private let state: Locked<State>

    /// - Parameters:
    ///   - roots: how many are watched.
    ///   - progress: of the first captures; ends with them.
    ///   - onClosedPipe: called when nobody reads the lines any more.
    ///   - status: what SIGUSR1 asks for.
    init(
        _ console: Console, roots: Int, _ progress: ProgressLine, onClosedPipe: @escaping @Sendable () -> Void,
        status: @escaping @Sendable () -> String
    ) {
        self.console = console
        showsRoot = roots > 1
        self.progress = progress
        self.onClosedPipe = onClosedPipe
        self.status = status
        state = Locked(State(starting: roots))
    }

    /// Why the last state of some root could not be captured.
    var failure: Failure? {
        state.withLock { state in state.failures.min { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) } }
            .map { Failure($0.value) }
    }

    /// Writes the line of `event`, and that of the snapshot which a first capture has made.
    func add(_ event: WatchService.Event) {
        if case .watching(_, _, let snapshot, isNew: true) = event { add(.snapshot(snapshot)) }
        keep(event)
        progress.aside { write(event) }
    }

    /// A word to the person at the terminal.
    func note(_ text: String) {
        progress.aside { console.note(text) }
    }

    func end() { progress.end() }

    /// Ends the process at once.
    func leave(_ status: ExitStatus) {
        end()
        _exit(status.rawValue)
    }

    /// Remembers what the end has to know.
    private func keep(_ event: WatchService.Event) {
        let isStarted = state.withLock { state in
            switch event {
            case .watching(let root, _, _, _):
                state.starting -= 1
                state.failures[root] = nil
                return state.starting == 0
            case .covered, .waiting:
                // Its first capture is not waited for.
                state.starting -= 1
                return state.starting == 0
            case .snapshot(let record):
                state.failures[FilePath(bytes: record.rootPath)] = nil
            case .gap(let gap): state.gaps[gap.rootPath, default: []].append(gap)
            case .error(let root, let error): state.failures[root] = error
            default: break
            }
            return false
        }
        guard isStarted else { return }
        end()
        ProgressSignal.answer(status)
    }

    private func write(_ event: WatchService.Event) {
        do {
            if console.isJSON {
                try put(JSONText.of(WatchEventJSON(event, gaps: takeGaps(event))))
            } else {
                try writeText(event)
            }
        } catch {
            let isFirst = state.withLock { state in
                defer { state.hasReader = false }
                return state.hasReader
            }
            if isFirst { onClosedPipe() }
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
            try put(console.isForPerson ? WatchText.snapshot(record, showsRoot: showsRoot) : SnapshotList.plain(record))
        case .audited(_, let result) where result.found == 0 && result.repaired == 0 && !console.isVerbose:
            break
        case .starting, .watching, .stopped, .waiting, .covered, .audited:
            if !console.isQuiet, let text = WatchText.course(event) { try put(text) }
        case .problems(_, let problems, let count):
            console.warn(problems, count: count, \.text)
        case .gap, .degraded, .unavailable, .available, .error:
            if let text = WatchText.trouble(event) { console.warn("archiver: " + text) }
        }
    }

    private func put(_ line: String) throws {
        try console.output.line(line)
        try console.output.flush()
    }
}
