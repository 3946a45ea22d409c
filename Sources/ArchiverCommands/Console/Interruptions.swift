// Signals that end a restore: the first one cleanly, the second one at once.

internal import ArchiverKit
internal import FileIO
internal import Glibc

/// Lets Ctrl-C, kill(1) and a closed terminal end a restore without leaving anything half-done.
enum Interruptions {
    /// What the first of these signals will interrupt; to be called before there is a second thread.
    static func observed() -> RestoreInterruption {
        let interruption = RestoreInterruption()
        Signals.block(Signals.termination)
        try? Signals.observe(Signals.termination) { _, count in
            if count == 1, interruption.ask() { return }
            // Either nothing is being altered, or the user has waited long enough.
            _exit(ExitStatus.interrupted.rawValue)
        }
        return interruption
    }
}
