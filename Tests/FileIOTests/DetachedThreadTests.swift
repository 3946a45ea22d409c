// Threads of our own: that they run, and how much of the machine they get.

import FileIO
import Glibc
import TestTraits
import Testing

@Suite(.blocking) struct DetachedThreadTests {
    /// What the kernel says of the calling thread.
    private struct Share: Sendable, Equatable {
        /// getpriority(2): 19 is the least.
        let niceness: CInt
        /// ioprio_get(2): 3 is "idle", 0 stands for "as the niceness says".
        let diskClass: Int

        static func ofThisThread() throws -> Share {
            typealias SystemCall = @convention(c) (CLong, CLong, CLong) -> CLong
            let address = try #require(dlsym(nil, "syscall"))
            #if arch(arm64)
            let getPriority = 31
            #else
            let getPriority = 252
            #endif
            // IOPRIO_WHO_PROCESS is 1; of the answer the low 13 bits are the priority within the class.
            let answer = unsafeBitCast(address, to: SystemCall.self)(getPriority, 1, 0)
            return Share(niceness: getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0), diskClass: answer >> 13)
        }
    }

    private func share(_ priority: DetachedThread.Priority) async throws -> Share {
        try await withCheckedThrowingContinuation { continuation in
            do throws(FileError) {
                try DetachedThread.start(for: "a test", priority) {
                    continuation.resume(with: Result { try Share.ofThisThread() })
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    @Test func theLowestPriorityGetsTheLeastOfTheMachine() async throws {
        #expect(try await share(.lowest) == Share(niceness: 19, diskClass: 3))
    }

    /// Priorities belong to threads: one that lowers its own leaves the others alone.
    @Test func otherThreadsKeepTheirs() async throws {
        let usual = try await onThread { try Share.ofThisThread() }
        _ = try await share(.lowest)
        #expect(try await share(.normal) == usual)
        #expect(usual.niceness < 19)
    }

    /// What the work holds must not outlive it.
    @Test func whatTheWorkHoldsIsLetGo() async throws {
        await withCheckedContinuation { continuation in
            let held = LastWords { continuation.resume() }
            try? DetachedThread.start(for: "a test") { withExtendedLifetime(held) {} }
        }
    }

    /// Says when it ends.
    private final class LastWords: Sendable {
        private let say: @Sendable () -> Void

        init(_ say: @escaping @Sendable () -> Void) { self.say = say }

        deinit { say() }
    }
}
