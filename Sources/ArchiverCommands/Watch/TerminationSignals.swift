// SIGINT and SIGTERM as ordinary calls on a thread of their own; no code runs in a signal handler.
//
// Both are blocked in every thread, so that they wait for sigwait(3), which the one thread sits in.

internal import FileIO
internal import Glibc
internal import SystemPackage

/// The requests to end that come as signals.
enum TerminationSignals {
    enum Signal: CInt, Sendable {
        case interrupt = 2
        case terminate = 15
    }

    /// Keeps the signals from ending the process; to be called before there is a second thread, as threads inherit it.
    static func block() {
        var signals = signals
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Calls `handler` for each signal from now on, on a thread of its own, with the count of those so far.
    ///
    /// - Throws: `FileError` where there can be no thread.
    static func observe(_ handler: @escaping @Sendable (Signal, _ count: Int) -> Void) throws(FileError) {
        var thread = pthread_t()
        let box = Unmanaged.passRetained(Box(handler))
        let result = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                TerminationSignals.wait(Unmanaged<Box>.fromOpaque(context).takeRetainedValue().handler)
                return nil
            }, box.toOpaque())
        if result != 0 {
            box.release()
            throw FileError("start", FilePath("thread"), Errno(rawValue: result))
        }
        pthread_detach(thread)
    }

    private final class Box {
        let handler: @Sendable (Signal, Int) -> Void
        init(_ handler: @escaping @Sendable (Signal, Int) -> Void) { self.handler = handler }
    }

    private static func wait(_ handler: (Signal, Int) -> Void) {
        var signals = signals
        var count = 0
        var number: CInt = 0
        while sigwait(&signals, &number) == 0 {
            guard let signal = Signal(rawValue: number) else { continue }
            count += 1
            handler(signal, count)
        }
    }

    private static var signals: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, Signal.interrupt.rawValue)
        sigaddset(&signals, Signal.terminate.rawValue)
        return signals
    }
}
