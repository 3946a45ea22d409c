// A trait for tests that block their thread: they run programs, change files, wait for locks, or compute for long.

internal import Foundation
public import Testing
internal import Threading

/// Runs a limited number of tests at the same time, on separate threads.
///
/// Swift Testing starts all tests together, on as many threads as there are cores. Tests that block these threads delay
/// the tasks of other tests for minutes, so that every timeout of a few seconds expires.
public struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
    public var isRecursive: Bool { true }

    /// Whether an enclosing suite already has a place.
    @TaskLocal private static var hasPlace = false

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        if OwnThreads.hasPlace { return try await function() }
        await Places.shared.take()
        defer { Places.shared.giveBack() }
        let start = ContinuousClock.now
        try await OwnThreads.$hasPlace.withValue(true) {
            try await withTaskExecutorPreference(BlockingThreads.shared) { try await function() }
        }
        // The times that Swift Testing prints include the wait for a place.
        let time = ContinuousClock.now - start
        if time > .seconds(5) {
            print("took \(time.components.seconds) s: \(test.name) \(test.id.nameComponents.first ?? "")")
        }
    }
}

extension Trait where Self == OwnThreads {
    /// The tests block their thread.
    public static var blocking: Self { OwnThreads() }
}

/// The places for tests that run at the same time; a test that waits for a place occupies no thread.
private final class Places: Sendable {
    static let shared = Places()
    private let state = Locked((free: 6, waiting: [CheckedContinuation<Void, Never>]()))

    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.free > 0 {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func giveBack() {
        let next = state.withLock { state in
            if !state.waiting.isEmpty { return Optional(state.waiting.removeFirst()) }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}

/// Threads apart from Swift's cooperative pool; there are more than places, because a test may wait for its own tasks.
private final class BlockingThreads: TaskExecutor {
    static let shared = BlockingThreads()
    private let queue = OperationQueue()

    private init() { queue.maxConcurrentOperationCount = 24 }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.addOperation { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
