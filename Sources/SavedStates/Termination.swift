// Saves unsaved states when the program ends normally or by a signal.

internal import Dispatch
internal import FileIO
internal import Glibc
internal import Synchronization
internal import Threading

/// Lets autosaves finish before the program ends: at the end of main, at `exit`, and before SIGTERM, SIGINT or
/// SIGHUP ends it.
///
/// A signal that the program handles itself is left to it. A signal handler may do very little (signal-safety(7)): it
/// writes the signal's number into a pipe, and a thread that reads the pipe saves and then lets the signal take effect.
enum Termination {
    private struct Weak: Sendable {
        weak let autosave: Autosave?
    }

    private static let waiting = Locked<[ObjectIdentifier: Weak]>([:])
    private static let pipeEnd = Atomic<CInt>(-1)
    private static let signals = [SIGTERM, SIGINT, SIGHUP]
    /// The process that registered with `atexit`; 0 before that.
    ///
    /// A forked child that only executes another program has none of these threads, and must save nothing.
    private static let process = Atomic<pid_t>(0)
    /// How long the end of the program waits for autosaves, in seconds.
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

    /// Handles the signals that have their default action; if that fails, they keep it.
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
        // Then the signal takes its default effect, so that the parent process sees what ended the program.
        signal(CInt(byte), SIG_DFL)
        kill(getpid(), CInt(byte))
    }

    private static func saveAtExit() {
        if process.load(ordering: .relaxed) == getpid() { save() }
    }

    /// Saves the changes of all autosaves, and waits until they are saved.
    ///
    /// Runs on a thread of its own: the thread that ends the program may hold locks that saving needs. In that case, or
    /// if the disk does not answer, the wait times out.
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
