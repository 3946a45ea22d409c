// A value that a thread of its own makes meanwhile.

internal import Dispatch
internal import Threading

/// A value that is on its way: for calls that wait for something else than the processor.
package final class Future<Value: Sendable>: Sendable {
    private let outcome = Locked<Result<Value, any Error>>(.failure(CancellationError()))
    private let group = DispatchGroup()

    /// Begins to make the value, on a new thread, or at once if there is none.
    ///
    /// - Parameter purpose: what the thread is for.
    package init(for purpose: String, _ body: @escaping @Sendable () throws -> Value) {
        group.enter()
        do {
            try DetachedThread.start(for: purpose) { [self] in run(body) }
        } catch { run(body) }
    }

    private func run(_ body: () throws -> Value) {
        let made = Result { try body() }
        outcome.withLock { $0 = made }
        group.leave()
    }

    /// Waits for the value.
    ///
    /// - Throws: what the body threw.
    package func value() throws -> Value {
        group.wait()
        return try outcome.withLock { $0 }.get()
    }
}
