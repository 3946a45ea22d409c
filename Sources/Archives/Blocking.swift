// Runs blocking calls from async code.

internal import Dispatch
internal import FileIO
package import Roots

/// Runs blocking work on other threads, off Swift's cooperative pool.
public enum Blocking {
    private static let queue = DispatchQueue(label: "archiver.blocking", attributes: .concurrent)

    /// Runs `body` on another thread and suspends until it returns.
    public static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(returning: Result { () throws(Failure) in try body() })
            }
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
