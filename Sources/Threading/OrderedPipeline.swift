// Work done by several threads, with the results consumed in the order of submission.

internal import Dispatch

/// Runs `transform` on several inputs in parallel and passes the outputs to `consume` in the inputs' order.
///
/// One thread owns the pipeline: it submits inputs, and consumes outputs while it submits or finishes. The number of
/// inputs in progress is bounded, so a slow transform slows the submitter down instead of filling memory.
package final class OrderedPipeline<Input: Sendable, Output: Sendable> {
    /// Where one output arrives.
    private final class Slot: Sendable {
        private let output = Locked<Result<Output, any Error>?>(nil)
        private let isFilled = DispatchSemaphore(value: 0)

        func fill(_ result: sending Result<Output, any Error>) {
            output.withLock { $0 = result }
            isFilled.signal()
        }

        func take() throws -> Output? {
            isFilled.wait()
            return try output.withLock { $0 }?.get()
        }
    }

    private let width: Int
    /// Of the usual priority: for a higher one libdispatch asks the system, which refuses it to most users and logs that.
    private let queue = DispatchQueue(label: "archiver.pipeline", qos: .default, attributes: .concurrent)
    private let transform: @Sendable (Input) throws -> Output
    private let consume: (Output) throws -> Void
    private var slots: [Slot] = []

    /// - Parameters:
    ///   - width: the most inputs in progress at a time.
    ///   - transform: runs on other threads.
    ///   - consume: runs on the owner's thread.
    package init(
        width: Int, transform: @escaping @Sendable (Input) throws -> Output,
        consume: @escaping (Output) throws -> Void
    ) {
        self.width = width
        self.transform = transform
        self.consume = consume
    }

    deinit {
        // Wait for all work: the owner is about to release objects that the work uses.
        for slot in slots { _ = try? slot.take() }
    }

    /// Submits the next input; first consumes an output if too many are in progress.
    package func submit(_ input: Input) throws {
        if slots.count >= width { try consumeFirst() }
        let slot = Slot()
        slots.append(slot)
        queue.async { [transform] in slot.fill(Result { try transform(input) }) }
    }

    /// Submits the last input and transforms it on the owner's thread, so a single input wakes no other thread.
    package func finish(with input: Input) throws {
        while !slots.isEmpty { try consumeFirst() }
        try consume(transform(input))
    }

    private func consumeFirst() throws {
        if let output = try slots.removeFirst().take() { try consume(output) }
    }
}

/// A pool of reusable values: each is used by one thread at a time, and a new one is made when none is free.
package final class Pool<Value: Sendable>: Sendable {
    private let free = Locked<[Value]>([])
    private let make: @Sendable () throws -> Value

    package init(_ make: @escaping @Sendable () throws -> Value) {
        self.make = make
    }

    package func with<Result>(_ body: (Value) throws -> Result) throws -> Result {
        let value = try free.withLock { $0.popLast() } ?? make()
        defer { free.withLock { $0.append(value) } }
        return try body(value)
    }
}
