// Runs blocking work on several threads, as it must not block Swift's own.

import Foundation
import Threading

/// Calls `body` with 0, 1, …, each on its own thread, and waits for all.
///
/// - Returns: the results, in the order of the numbers.
func onThreads<Value: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws -> Value
) throws -> [Value] {
    let results = SharedResults<Value>()
    let group = DispatchGroup()
    for number in 0..<count {
        group.enter()
        Thread.detachNewThread {
            let result = Result { try body(number) }
            results.table.withLock { $0[number] = result }
            group.leave()
        }
    }
    group.wait()
    let table = results.table.withLock { $0 }
    return try (0..<count).compactMap { try table[$0]?.get() }
}

private final class SharedResults<Value: Sendable>: Sendable {
    let table = Locked<[Int: Result<Value, any Error>]>([:])
}
