// Signals that end what takes long: the first one cleanly, the second one at once.

internal import ArchiverKit
internal import FileIO
internal import Glibc
internal import Synchronization

/// Lets Ctrl-C, kill(1) and a closed terminal end an operation without leaving anything half-done.
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

    /// Whether one of these signals came, for what may end between any two steps; the second one ends the program at once.
    ///
    /// To be called before there is a second thread.
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

/// Something that happens once.
private final class Flag: Sendable {
    private let state = Atomic(false)

    var isSet: Bool { state.load(ordering: .relaxed) }

    func set() { state.store(true, ordering: .relaxed) }
}
