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
        let result: Result<Value, ArchiverError> = await withCheckedContinuation { continuation in
            do throws(FileError) {
                try DetachedThread.start(for: "an audit", .lowest) {
                    continuation.resume(returning: Result { () throws(ArchiverError) in try body() })
                }
            } catch {
                continuation.resume(returning: .failure(ArchiverError(error)))
            }
        }
        return try result.get()
    }
}
