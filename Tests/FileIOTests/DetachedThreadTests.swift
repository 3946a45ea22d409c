// Detached threads: that they run, and their priorities.

import Dispatch
import FileIO
import Glibc
import TestTraits
import Testing
import Threading

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

    @Test("threads that share items take each once, at most so many at a time")
    func sharing() throws {
        struct Counts {
            var running = 0
            var most = 0
            var taken: [Int] = []
        }
        final class Shared: Sendable {
            let counts = Locked(Counts())
            let all = DispatchSemaphore(value: 0)
        }
        let shared = Shared()
        try DetachedThread.forEach(Array(0..<100), upTo: 3, for: "a test") { item in
            let running = shared.counts.withLock { counts in
                counts.running += 1
                counts.most = max(counts.most, counts.running)
                counts.taken.append(item)
                return counts.running
            }
            // The first two calls wait for the third.
            if running == 3 { for _ in 0..<3 { shared.all.signal() } }
            if item < 3 { #expect(shared.all.wait(timeout: .now() + 60) == .success) }
            shared.counts.withLock { $0.running -= 1 }
        }
        let counts = shared.counts.withLock { $0 }
        #expect(counts.taken.sorted() == Array(0..<100) && counts.most == 3 && counts.running == 0)
        try DetachedThread.forEach([Int](), upTo: 3, for: "a test") { _ in Issue.record("there is no item") }
    }

    @Test("threads that share items begin no further one after an error, which is thrown when all have ended")
    func sharingWithErrors() throws {
        struct Failure: Error, Equatable { let item: Int }
        final class Shared: Sendable { let taken = Locked(0) }
        let shared = Shared()
        #expect(throws: Failure.self) {
            try DetachedThread.forEach(Array(0..<1000), upTo: 2, for: "a test") { item in
                shared.taken.withLock { $0 += 1 }
                throw Failure(item: item)
            }
        }
        #expect(shared.taken.withLock { $0 } <= 2)
    }

    /// Calls a function when it is released.
    private final class LastWords: Sendable {
        private let say: @Sendable () -> Void

        init(_ say: @escaping @Sendable () -> Void) { self.say = say }

        deinit { say() }
    }
}
