// Signals as ordinary calls on a thread of their own; no code runs in a signal handler.
//
// They are blocked in every thread, so that they wait for sigwait(3), which the one thread sits in.

internal import FileIO
internal import Glibc

/// The signals that the program answers.
enum Signals {
    /// Ctrl-C, kill(1) and a terminal that is closed ask for the end; the last one not where the program was started with
    /// it ignored, as by nohup(1).
    static let termination = [SIGINT, SIGTERM] + (isIgnored(SIGHUP) ? [] : [SIGHUP])
    /// Asks how far the command is.
    static let progress = [SIGUSR1]

    /// Keeps `signals` from their usual effect; to be called before there is a second thread, as threads inherit it.
    static func block(_ signals: [CInt]) {
        var set = set(of: signals)
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Calls `handler` for each of the blocked `signals` from now on, on a thread of its own, with the count of those so
    /// far.
    ///
    /// - Throws: `FileError` where there can be no thread.
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
