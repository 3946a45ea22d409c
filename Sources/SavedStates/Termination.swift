// The end of the program, by itself or by a signal: what must be saved is saved first.

internal import Dispatch
internal import FileIO
internal import Glibc
internal import Synchronization
internal import Threading

/// Lets autosaves finish before the program ends: at the end of main and at `exit`, and before SIGTERM or SIGINT ends it,
/// where the program leaves these to the system.
///
/// A handler may do next to nothing (signal-safety(7)): it writes the signal's number into a pipe, and a thread that
/// reads there does the rest and lets the signal take effect.
enum Termination {
    private struct Weak: Sendable {
        weak let autosave: Autosave?
    }

    private static let waiting = Locked<[ObjectIdentifier: Weak]>([:])
    private static let pipeEnd = Atomic<CInt>(-1)
    private static let signals = [SIGTERM, SIGINT]
    /// The process that `atexit` was asked for in, or 0 before that.
    ///
    /// A child that only begins another program has none of its threads, and saves nothing.
    private static let process = Atomic<pid_t>(0)
    /// How long the end of the program waits, in seconds.
    private static let patience = 10.0

    static func register(_ autosave: Autosave) {
        waiting.withLock { waiting in
            if pipeEnd.load(ordering: .relaxed) < 0 { listen() }
            if process.load(ordering: .relaxed) == 0, atexit({ Termination.saveAtExit() }) == 0 {
                process.store(getpid(), ordering: .relaxed)
            }
            waiting[ObjectIdentifier(autosave)] = Weak(autosave: autosave)
        }
    }

    static func unregister(_ autosave: Autosave) {
        _ = waiting.withLock { $0.removeValue(forKey: ObjectIdentifier(autosave)) }
    }

    /// Takes over the signals that are left to the system; where that fails, they do what they would have done.
    private static func listen() {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let reader = ends[0]
        do { try DetachedThread.start(for: "signals") { wait(on: reader) } } catch {
            close(ends[0])
            close(ends[1])
            return
        }
        pipeEnd.store(ends[1], ordering: .relaxed)
        for signal in signals {
            var present = sigaction()
            guard sigaction(signal, nil, &present) == 0, isDefault(present) else { continue }
            var own = sigaction()
            own.__sigaction_handler.sa_handler = { signal in
                let saved = errno
                var byte = UInt8(truncatingIfNeeded: signal)
                _ = write(Termination.pipeEnd.load(ordering: .relaxed), &byte, 1)
                errno = saved
            }
            own.sa_flags = SA_RESTART
            sigaction(signal, &own, nil)
        }
    }

    private static func isDefault(_ action: sigaction) -> Bool {
        guard action.sa_flags & SA_SIGINFO == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 0
    }

    private static func wait(on reader: CInt) {
        var byte: UInt8 = 0
        while read(reader, &byte, 1) != 1 { if errno != EINTR { return } }
        save()
        // Its usual effect, so that whoever waits for the program sees what ended it.
        signal(CInt(byte), SIG_DFL)
        kill(getpid(), CInt(byte))
    }

    private static func saveAtExit() {
        if process.load(ordering: .relaxed) == getpid() { save() }
    }

    /// Lets all autosaves save what has changed, and waits for that.
    ///
    /// On a thread of its own: the one that ends the program may be in the midst of a change, with locks that are needed
    /// here. Then, as where the disk does not answer, the time runs out.
    private static func save() {
        let autosaves = waiting.withLock { $0.values.compactMap(\.autosave) }
        guard !autosaves.isEmpty else { return }
        let isDone = DispatchSemaphore(value: 0)
        do {
            try DetachedThread.start(for: "the last save") {
                for autosave in autosaves { autosave.saveAndReport() }
                isDone.signal()
            }
        } catch { return }
        _ = isDone.wait(timeout: .now() + patience)
    }
}
