// Runs blocking calls from async code.

internal import Dispatch
internal import FileIO
package import Roots
internal import Threading

/// Runs blocking work on other threads, off Swift's cooperative pool.
///
/// There are as many threads as there is work, up to 24; they end when they are idle. Work that waits for something,
/// such as an answer, is better waited for without a thread.
public enum Blocking {
    private static let threads = BlockingThreads(limit: 24)

    /// Runs `body` on another thread and suspends until it returns.
    ///
    /// It runs to its end even if the task is cancelled.
    public static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            threads.run { continuation.resume(returning: Result { () throws(Failure) in try body() }) }
        }
        return try result.get()
    }

    /// Runs `body` on a thread of the lowest priority, for work that may wait until others leave it time.
    package static func runInBackground<Value: Sendable>(
        _ body: @escaping @Sendable () throws(ArchiverError) -> Value
    ) async throws(ArchiverError) -> Value {
        try await onNewThread(for: "an audit", .lowest, body) { ArchiverError($0) }
    }

    /// Runs `body` on a thread of its own, so that it never waits until other work leaves it one.
    package static func runApart<Value: Sendable>(
        for purpose: String, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await onNewThread(for: purpose, .normal, body) { ArchiverError($0) }
    }

    /// Runs `body` on a new thread and suspends until it returns.
    ///
    /// - Parameter failure: the error to throw if no thread can be created.
    private static func onNewThread<Value: Sendable, Failure: Error>(
        for purpose: String, _ priority: DetachedThread.Priority,
        _ body: @escaping @Sendable () throws(Failure) -> Value, failure: (FileError) -> Failure
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            do throws(FileError) {
                try DetachedThread.start(for: purpose, priority) {
                    continuation.resume(returning: Result { () throws(Failure) in try body() })
                }
            } catch {
                continuation.resume(returning: .failure(failure(error)))
            }
        }
        return try result.get()
    }
}

/// Threads for blocking work; a new one is started whenever all are busy.
///
/// Dispatch's own threads are few, and more are added only after a second in which all were blocked.
private final class BlockingThreads: Sendable {
    private struct State {
        var queue: [@Sendable () -> Void] = []
        var threads = 0
        var busy = 0
    }

    /// How long an idle thread waits for work, in seconds.
    private static let idleTime = 10.0

    private let limit: Int
    private let state = Locked(State())
    private let hasWork = DispatchSemaphore(value: 0)

    init(limit: Int) {
        self.limit = limit
    }

    /// Runs `work` as soon as a thread is free.
    func run(_ work: @escaping @Sendable () -> Void) {
        let needsThread = state.withLock { state in
            state.queue.append(work)
            guard state.queue.count > state.threads - state.busy, state.threads < limit else { return false }
            state.threads += 1
            return true
        }
        hasWork.signal()
        guard needsThread else { return }
        do { try DetachedThread.start(for: "blocking calls") { self.work() } } catch {
            // The system has no thread left: the others do the work, or Dispatch does if there are none.
            let isAlone = state.withLock { state in
                state.threads -= 1
                return state.threads == 0
            }
            if isAlone { DispatchQueue.global().async { self.takeOne()?() } }
        }
    }

    private func work() {
        while true {
            if hasWork.wait(timeout: .now() + BlockingThreads.idleTime) == .timedOut {
                let isSuperfluous = state.withLock { state in
                    guard state.queue.isEmpty else { return false }
                    state.threads -= 1
                    return true
                }
                if isSuperfluous { return } else { continue }
            }
            guard let work = takeOne(isBusy: true) else { continue }
            work()
            state.withLock { $0.busy -= 1 }
        }
    }

    private func takeOne(isBusy: Bool = false) -> (@Sendable () -> Void)? {
        state.withLock { state in
            if state.queue.isEmpty { return nil }
            if isBusy { state.busy += 1 }
            return state.queue.removeFirst()
        }
    }
}
