// SIGINT and SIGTERM end the benchmark in order, so that its work directory goes with it.

internal import Glibc
internal import Synchronization

/// Whether the benchmark was asked to end, and which program is then to be told.
enum Interruption {
    private static let wasAsked = Atomic<Bool>(false)
    private static let child = Atomic<pid_t>(0)

    /// From now on the signals end the running program, and then the benchmark.
    static func install() {
        for number in [SIGINT, SIGTERM] {
            signal(number) { _ in
                Interruption.wasAsked.store(true, ordering: .relaxed)
                let running = Interruption.child.load(ordering: .relaxed)
                if running > 0 { kill(running, SIGTERM) }
            }
        }
    }

    /// The program that is waited for; 0 for none.
    static func waits(for program: pid_t) { child.store(program, ordering: .relaxed) }

    /// What comes now is tidying up, and is not cut short.
    static func forget() { wasAsked.store(false, ordering: .relaxed) }

    /// - Throws: where the benchmark was asked to end.
    static func check() throws {
        if wasAsked.load(ordering: .relaxed) { throw BenchmarkError("interrupted") }
    }
}
