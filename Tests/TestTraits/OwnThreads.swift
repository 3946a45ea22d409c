// A trait for tests that block their thread: they run programs, change files, wait for locks, or compute for long.

internal import Dispatch
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
///
/// They are not Dispatch's either, whose number depends on what the others do.
private final class BlockingThreads: TaskExecutor {
    static let shared = BlockingThreads()

    private struct State {
        var jobs: [UnownedJob] = []
        var idle = 0
        var threads = 0
    }

    private static let limit = 48
    private let state = Locked(State())
    private let hasJob = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            guard state.jobs.count > state.idle, state.threads < BlockingThreads.limit else { return false }
            state.threads += 1
            state.idle += 1
            return true
        }
        if needsThread { Thread.detachNewThread { self.work() } }
        hasJob.signal()
    }

    private func work() {
        while true {
            hasJob.wait()
            let job = state.withLock { state in
                state.idle -= 1
                return state.jobs.removeFirst()
            }
            job.runSynchronously(on: asUnownedTaskExecutor())
            state.withLock { $0.idle += 1 }
        }
    }
}
