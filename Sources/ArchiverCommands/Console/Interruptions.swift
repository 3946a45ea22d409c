// Signals that end a restore: the first one cleanly, the second one at once.

internal import ArchiverKit
internal import FileIO
internal import Glibc

/// Lets Ctrl-C, kill(1) and a closed terminal end a restore without leaving anything half-done.
enum Interruptions {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    /// What the first of these signals will interrupt; to be called before there is a second thread.
    static func observed() -> RestoreInterruption {
        let interruption = RestoreInterruption()
        // nohup(1) has the program ignore some.
        let signals = signals.filter { !isIgnored($0) }
        Signals.block(signals)
        try? Signals.observe(signals) { _, count in
            if count == 1, interruption.ask() { return }
            // Either nothing is being altered, or the user has waited long enough.
            _exit(ExitStatus.interrupted.rawValue)
        }
        return interruption
    }

    private static func isIgnored(_ signal: CInt) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0, action.sa_flags & SA_SIGINFO == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}
