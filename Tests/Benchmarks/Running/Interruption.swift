// SIGINT and SIGTERM end the benchmark in order, so that its work directory is removed.

internal import Glibc
internal import Synchronization

/// Whether the benchmark was interrupted, and the child to pass the signal to.
enum Interruption {
    private static let wasAsked = Atomic<Bool>(false)
    private static let child = Atomic<pid_t>(0)

    /// Makes the signals end the running program, and then the benchmark.
    static func install() {
        for number in [SIGINT, SIGTERM] {
            signal(number) { _ in
                Interruption.wasAsked.store(true, ordering: .relaxed)
                let running = Interruption.child.load(ordering: .relaxed)
                if running > 0 { kill(running, SIGTERM) }
            }
        }
    }

    /// Sets the program that the benchmark waits for; 0 for none.
    static func waits(for program: pid_t) { child.store(program, ordering: .relaxed) }

    /// Forgets an interruption, so that clean-up is not cut short.
    static func forget() { wasAsked.store(false, ordering: .relaxed) }

    /// Checks for an interruption.
    ///
    /// - Throws: `BenchmarkError` if the benchmark was interrupted.
    static func check() throws {
        if wasAsked.load(ordering: .relaxed) { throw BenchmarkError("interrupted") }
    }
}
