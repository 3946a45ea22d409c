// Handles signals on a separate thread; no code runs in a signal handler.
//
// The signals are blocked in every thread, and the separate thread receives them with sigwait(3).

internal import FileIO
internal import Glibc

/// The signals that the program handles.
enum Signals {
    /// The signals of Ctrl-C, kill(1) and a closed terminal; not SIGHUP if that was ignored at the start (nohup(1)).
    static let termination = [SIGINT, SIGTERM] + (isIgnored(SIGHUP) ? [] : [SIGHUP])
    /// The signal that asks for the progress.
    static let progress = [SIGUSR1]

    /// Blocks `signals`; call it before the first additional thread starts, because threads inherit the mask.
    static func block(_ signals: [CInt]) {
        var set = set(of: signals)
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Runs `body` while `signals` wait; a signal that came has its effect afterwards.
    static func holding<Result, Failure: Error>(
        _ signals: [CInt], _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var set = set(of: signals)
        var former = sigset_t()
        pthread_sigmask(SIG_BLOCK, &set, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        return try body()
    }

    /// Whether one of the blocked `signals` came and waits.
    static func isWaiting(_ signals: [CInt]) -> Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return signals.contains { sigismember(&pending, $0) == 1 }
    }

    /// Calls `handler` on a separate thread for each of the blocked `signals`, with the number received so far.
    ///
    /// - Throws: `FileError` if no thread can be started.
    static func observe(
        _ signals: [CInt], _ handler: @escaping @Sendable (_ signal: CInt, _ count: Int) -> Void
    ) throws(FileError) {
        try DetachedThread.start(for: "signals") { wait(signals, handler) }
    }

    private static func wait(_ signals: [CInt], _ handler: (CInt, Int) -> Void) {
        var set = set(of: signals)
        var count = 0
        var signal: CInt = 0
        while sigwait(&set, &signal) == 0 {
            count += 1
            handler(signal, count)
        }
    }

    private static func isIgnored(_ signal: CInt) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private static func set(of signals: [CInt]) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        return set
    }
}
