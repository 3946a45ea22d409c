// Signals that end long operations: the first one cleanly, the second one immediately.

internal import ArchiverKit
internal import FileIO
internal import Glibc
internal import Synchronization

/// Lets Ctrl-C, kill(1) and a closed terminal end an operation cleanly.
enum Interruptions {
    /// Starts to handle the signals and returns the interruption that the first one requests.
    ///
    /// Call it before the first additional thread starts.
    static func observed() -> RestoreInterruption {
        let interruption = RestoreInterruption()
        Signals.block(Signals.termination)
        try? Signals.observe(Signals.termination) { _, count in
            if count == 1, interruption.ask() { return }
            // Either nothing is being changed, or the user sent a second signal.
            _exit(ExitStatus.interrupted.rawValue)
        }
        return interruption
    }

    /// Starts to handle the signals and returns a function that reports whether one arrived.
    ///
    /// For operations that can end between any two steps. A second signal ends the program immediately. Call it before
    /// the first additional thread starts.
    static func flag() -> @Sendable () -> Bool {
        let flag = Flag()
        Signals.block(Signals.termination)
        try? Signals.observe(Signals.termination) { _, count in
            if count == 1 { return flag.set() }
            _exit(ExitStatus.interrupted.rawValue)
        }
        return { flag.isSet }
    }
}

/// A flag that is set once and never cleared.
private final class Flag: Sendable {
    private let state = Atomic(false)

    var isSet: Bool { state.load(ordering: .relaxed) }

    func set() { state.store(true, ordering: .relaxed) }
}
