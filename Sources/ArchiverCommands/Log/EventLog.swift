// The log of a process that lasts: one line per event or request, to the journal, to a file and into memory.

internal import ArchiveFormat
internal import ArchiverKit
internal import FileIO
internal import Glibc
internal import Logging
internal import SystemPackage
internal import Threading
internal import WatchControl

/// Logs the events of a watch service, what it is asked, and what it says besides; or the requests of a page.
final class EventLog: Sendable {
    /// Whether the journal reads stderr, so that the events need no other form.
    let isForJournal: Bool
    private let lines: LogLines
    let logger: Logger

    init(_ settings: EventSettings, _ console: Console) {
        let isForJournal = EventLog.journalReadsErrors && !console.isJSON
        self.isForJournal = isForJournal
        let lines = LogLines(settings, console)
        self.lines = lines
        let level: Logger.Level = console.isVerbose ? .debug : console.isQuiet ? .warning : .info
        let privacy = PrivateFields()
        let present: @Sendable () -> PrivateFields? = { lines.isPrivate ? privacy : nil }
        var handlers: [any LogHandler] = [
            LineLogHandler(.file, from: .info, privacy: { privacy }, write: lines.remember),
            LineLogHandler(.file, from: level, privacy: present, write: lines.append),
        ]
        if isForJournal {
            handlers.append(LineLogHandler(.journal, from: level, privacy: present) { console.warn($0) })
        }
        let all = handlers
        logger = Logger(label: "archiver", factory: { _ in MultiplexLogHandler(all) })
    }

    /// Whether systemd's journal reads stderr (systemd.exec(5), "$JOURNAL_STREAM").
    private static var journalReadsErrors: Bool {
        guard let value = getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard fstat(STDERR_FILENO, &status) == 0 else { return false }
        return String(cString: value) == "\(status.st_dev):\(status.st_ino)"
    }

    /// The latest lines, without names.
    var recent: [String] { lines.recent }

    /// Writes as these settings say from now on.
    func change(to settings: EventSettings) { lines.change(to: settings) }

    func add(_ event: WatchService.Event) {
        let json = WatchEventJSON(event)
        logger.log(level: EventLog.level(event), "\(json.name)", metadata: LogFields(json).all)
    }

    /// Logs what the service says outside of events.
    ///
    /// - Parameters:
    ///   - name: what has happened, in one word that holds no name.
    ///   - text: may hold names.
    func say(_ level: Logger.Level, _ name: String, _ text: String) {
        logger.log(level: level, "\(name)", metadata: ["text": .string(text)])
    }

    /// Logs a request of another process.
    func add(_ request: AnsweredRequest) {
        var fields = LogFields.of(request.time)
        fields["root"] = .string(Escaping.text(request.root.bytes))
        add(request.action, failure: request.failure, fields)
    }

    /// Logs a request to the service as a whole.
    func add(_ action: ControlRequest.Action, failure: String?, _ fields: Logger.Metadata = [:]) {
        var fields = fields
        fields["action"] = .string(action.rawValue)
        if let failure { fields["text"] = .string(failure) }
        let level: Logger.Level =
            switch action {
            case .status, .sync, .subscribe, .log: .debug
            case .audit, .mark, .note, .configure, .reload: .info
            }
        logger.log(level: failure == nil ? level : .warning, "asked", metadata: fields)
    }

    private static func level(_ event: WatchService.Event) -> Logger.Level {
        switch event {
        case .audited(_, let result): result.found + result.repaired > 0 ? .notice : .debug
        case .starting, .watching, .waiting, .covered, .snapshot, .largeFile, .available, .stopped: .info
        case .maintained(let result): result.isShort ? .warning : .info
        case .gap, .fallback, .unavailable, .problems, .related, .wrongClock, .dropped: .warning
        case .error, .notMaintained: .error
        case .replicaFailed: .warning
        case .replicaComplete: .notice
        }
    }
}

/// The log file, and the latest lines in memory.
private final class LogLines: Sendable {
    private struct State {
        var settings: EventSettings
        /// The latest lines, without names: for reports.
        var recent: [String] = []
        /// How many lines the log file has not got since the last one that it got.
        var lost = 0
    }

    private let state: Locked<State>
    private let console: Console

    private static let mostRecent = 200

    init(_ settings: EventSettings, _ console: Console) {
        state = Locked(State(settings: settings))
        self.console = console
    }

    var isPrivate: Bool { state.withLock { $0.settings.isPrivate } }
    var recent: [String] { state.withLock { $0.recent } }

    func change(to settings: EventSettings) { state.withLock { $0.settings = settings } }

    func remember(_ line: String) {
        state.withLock { state in
            if state.recent.count == LogLines.mostRecent { state.recent.removeFirst() }
            state.recent.append(line)
        }
    }

    /// Appends to the log file; a failure is said once, and the next success says how many lines are missing.
    func append(_ line: String) {
        let (path, lost) = state.withLock { ($0.settings.logFile, $0.lost) }
        guard let path else { return }
        do throws(FileError) {
            let file = LogFile(path: path)
            if lost > 0 { try file.append("\(Timestamp.now.rfc3339) warning lost lines=\(lost)") }
            try file.append(line)
            state.withLock { $0.lost = 0 }
        } catch {
            state.withLock { $0.lost += 1 }
            if lost == 0 { console.warn("archiver: " + WatchText.timed("\(error); watching continues")) }
        }
    }
}
