// A way from async code to calls that block.

internal import Dispatch

/// Runs blocking work on a thread of its own, off Swift's cooperative pool.
public enum Blocking {
    private static let queue = DispatchQueue(label: "archiver.blocking", attributes: .concurrent)

    /// Runs `body` on another thread and suspends until it has returned.
    public static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(ArchiverError) -> Value
    ) async throws(ArchiverError) -> Value {
        let result: Result<Value, ArchiverError> = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(returning: Result { () throws(ArchiverError) in try body() })
            }
        }
        return try result.get()
    }
}
