// Detached threads: that they run, and their priorities.

import FileIO
import Glibc
import TestTraits
import Testing

@Suite(.blocking) struct DetachedThreadTests {
    /// The priorities that the kernel reports for the calling thread.
    private struct Share: Sendable, Equatable {
        /// getpriority(2): 19 is the lowest priority.
        let niceness: CInt
        /// ioprio_get(2): 3 is "idle", 0 means that the niceness decides.
        let diskClass: Int

        static func ofThisThread() throws -> Share {
            typealias SystemCall = @convention(c) (CLong, CLong, CLong) -> CLong
            let address = try #require(dlsym(nil, "syscall"))
            #if arch(arm64)
            let getPriority = 31
            #else
            let getPriority = 252
            #endif
            // IOPRIO_WHO_PROCESS is 1; the low 13 bits of the result are the priority within the class.
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

    @Test("a thread of the lowest priority gets the least share of processor and disk")
    func lowestPriority() async throws {
        #expect(try await share(.lowest) == Share(niceness: 19, diskClass: 3))
    }

    /// A priority belongs to one thread.
    @Test("lowering one thread's priority does not change other threads")
    func otherThreads() async throws {
        let usual = try await onThread { try Share.ofThisThread() }
        _ = try await share(.lowest)
        #expect(try await share(.normal) == usual)
        #expect(usual.niceness < 19)
    }

    @Test("values held by the work are released when it ends")
    func lifetime() async throws {
        await withCheckedContinuation { continuation in
            let held = LastWords { continuation.resume() }
            try? DetachedThread.start(for: "a test") { withExtendedLifetime(held) {} }
        }
    }

    /// Calls a function when it is released.
    private final class LastWords: Sendable {
        private let say: @Sendable () -> Void

        init(_ say: @escaping @Sendable () -> Void) { self.say = say }

        deinit { say() }
    }
}
