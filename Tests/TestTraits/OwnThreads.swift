// Tests that block their thread: they run programs, wait for locks, or compute for long.

internal import Foundation
public import Testing

/// Runs tests on threads of their own, so that the few of Swift's concurrency stay free for the tests that await.
public struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(BlockingThreads.shared) { try await function() }
    }
}

extension Trait where Self == OwnThreads {
    /// The tests block their thread.
    public static var blocking: Self { OwnThreads() }
}

/// A few threads, beside those of Swift's concurrency.
private final class BlockingThreads: TaskExecutor {
    static let shared = BlockingThreads()
    private let queue = OperationQueue()

    private init() { queue.maxConcurrentOperationCount = 3 }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.addOperation { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
