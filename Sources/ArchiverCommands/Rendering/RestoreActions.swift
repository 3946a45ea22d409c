// The steps of a restore, reported as they happen.

internal import ArchiverKit
internal import Threading

/// Reports the steps of a restore immediately, or collects them for the JSON at the end.
final class RestoreActions: Sendable {
    private let console: Console
    private let isKept: Bool
    private let isDryRun: Bool
    private let line: ProgressLine
    private let actions = Locked([RestoreAction]())

    init(_ console: Console, isKept: Bool, isDryRun: Bool, _ line: ProgressLine) {
        self.console = console
        self.isKept = isKept
        self.isDryRun = isDryRun
        self.line = line
    }

    var kept: [RestoreAction] { actions.withLock { $0 } }

    func add(_ action: RestoreAction) {
        if isKept {
            actions.withLock { $0.append(action) }
        } else if isDryRun {
            // A closed pipe is reported again, and handled, when the summary is written.
            line.aside { try? console.output.line(RestoreSummary.line(action)) }
        } else if console.isVerbose {
            line.aside { console.warn(RestoreSummary.line(action)) }
        }
    }
}
