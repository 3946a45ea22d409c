// Runs blocking calls from async code.

internal import Dispatch
internal import FileIO
package import Roots
internal import Threading

/// Runs blocking work on other threads, off Swift's cooperative pool.
///
/// There are as many threads as there is work, up to 24; they end when they are idle. If all of them wait for something,
/// more are started, so that work never waits for ever behind work that it is waited for by.
public enum Blocking {
    private static let threads = BlockingThreads(usualLimit: 24)

    /// Runs `body` on another thread and suspends until it returns.
    ///
    /// It runs to its end even if the task is cancelled, also if it has to wait for a thread.
    ///
    /// - Throws: any error of `body`.
    public static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            threads.run { continuation.resume(returning: Result { () throws(Failure) in try body() }) }
        }
        return try result.get()
    }

    /// Runs `body` on another thread and suspends until it returns, unless the task is cancelled first.
    ///
    /// - Throws: `cancelled` if the task is cancelled before a thread is free for `body`. Once begun, it runs to its end.
    package static func run<Value: Sendable, Failure: Error>(
        orThrow cancelled: Failure, _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await run(on: threads, orThrow: cancelled, body)
    }

    static func run<Value: Sendable, Failure: Error>(
        on threads: BlockingThreads, orThrow cancelled: Failure,
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let number = threads.nextNumber()
        let result: Result<Value, Failure> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                threads.run(number, unlessCancelled: { continuation.resume(returning: .failure(cancelled)) }) {
                    continuation.resume(returning: Result { () throws(Failure) in try body() })
                }
            }
        } onCancel: {
            threads.cancel(number)
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

/// Threads for blocking work; a new one is started whenever all are busy, above the usual limit only if all are stuck.
///
/// Dispatch's own threads are few, and more are added only after a second in which all were blocked.
final class BlockingThreads: Sendable {
    private struct Work {
        /// Identifies work that may be cancelled while it waits.
        var number: Int?
        var isCancelled: @Sendable () -> Void = {}
        let body: @Sendable () -> Void
    }

    private struct State {
        var queue: [Work] = []
        var lastNumber = 0
        var threads = 0
        var busy = 0
        /// The number of works that threads have begun.
        var begun = 0
        /// Whether a look at the queue is due.
        var isObserved = false
    }

    /// How long an idle thread waits for work, in seconds.
    private static let idleTime = 10.0

    private let usualLimit: Int
    /// How long no work may begin before a thread is added above the usual limit, in seconds.
    private let patience: Double
    private let state = Locked(State())
    private let hasWork = DispatchSemaphore(value: 0)

    init(usualLimit: Int, patience: Double = 0.1) {
        self.usualLimit = usualLimit
        self.patience = patience
    }

    /// How many works wait for a thread.
    var waitingCount: Int { state.withLock { $0.queue.count } }

    /// Runs `body` as soon as a thread is free.
    func run(_ body: @escaping @Sendable () -> Void) { add(Work(body: body)) }

    /// Runs `body` as soon as a thread is free, or `isCancelled` if the present task is cancelled first.
    func run(
        _ number: Int, unlessCancelled isCancelled: @escaping @Sendable () -> Void,
        _ body: @escaping @Sendable () -> Void
    ) {
        add(Work(number: number, isCancelled: isCancelled, body: body))
    }

    /// A number for work that may be cancelled.
    func nextNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Cancels the work with `number`, unless it has begun.
    func cancel(_ number: Int) {
        let work = state.withLock { state in
            state.queue.firstIndex { $0.number == number }.map { state.queue.remove(at: $0) }
        }
        work?.isCancelled()
    }

    private func add(_ work: Work) {
        let needsThread: Bool? = state.withLock { state in
            // The task's handler has run already, and found no work.
            if work.number != nil, Task.isCancelled { return nil }
            state.queue.append(work)
            guard state.queue.count > state.threads - state.busy, state.threads < usualLimit else { return false }
            state.threads += 1
            return true
        }
        guard let needsThread else { return work.isCancelled() }
        hasWork.signal()
        if needsThread { startThread() } else { observe() }
    }

    /// Looks at the queue a little later, again and again until it is empty, and starts a thread if nothing has begun.
    private func observe() {
        let begun = state.withLock { state -> Int? in
            guard !state.isObserved, !state.queue.isEmpty, state.threads >= usualLimit else { return nil }
            state.isObserved = true
            return state.begun
        }
        guard let begun else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + patience) {
            let isStuck = self.state.withLock { state in
                state.isObserved = false
                guard !state.queue.isEmpty, state.begun == begun, state.busy == state.threads else { return false }
                state.threads += 1
                return true
            }
            if isStuck { self.startThread() }
            self.observe()
        }
    }

    private func startThread() {
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
            state.begun += 1
            if isBusy { state.busy += 1 }
            return state.queue.removeFirst().body
        }
    }
}
