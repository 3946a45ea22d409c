// Work done by several threads, with the results consumed in the order of submission.

internal import Dispatch
internal import Glibc

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
    private let queues: [DispatchQueue]
    private var submitted = 0
    private let transform: @Sendable (Input) throws -> Output
    private let consume: (Output) throws -> Void
    private var slots: [Slot] = []

    /// - Parameters:
    ///   - width: the most inputs in progress at a time.
    ///   - ownThreads: whether each input in progress has a thread of its own, as `transform` waits for a network. Otherwise
    ///     there are about as many threads as processors, also while all of them wait.
    ///   - transform: runs on other threads.
    ///   - consume: runs on the owner's thread.
    package init(
        width: Int, ownThreads: Bool = false, transform: @escaping @Sendable (Input) throws -> Output,
        consume: @escaping (Output) throws -> Void
    ) {
        self.width = width
        let label = "archiver.pipeline"
        queues =
            ownThreads
            ? (0..<width).map { _ in DispatchQueue(label: label, qos: .default) }
            : [DispatchQueue(label: label, qos: .default, attributes: .concurrent)]
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
        // Before an input is submitted, the one that is `width` before it was consumed: the queue that it had is free.
        let queue = queues[submitted % queues.count]
        submitted += 1
        queue.async { [transform] in slot.fill(Result { try transform(input) }) }
    }

    /// Transforms the last input on the owner's thread, so a single input wakes no other thread, and consumes what is left.
    package func finish(with input: Input) throws {
        let last = Result { try transform(input) }
        while !slots.isEmpty { try consumeFirst() }
        try consume(last.get())
    }

    private func consumeFirst() throws {
        if let output = try slots.removeFirst().take() { try consume(output) }
    }
}

extension Sequence where Element: Sendable {
    /// Calls `body` with the outputs of `transform` in the order of the elements, until it returns false.
    ///
    /// Other threads make outputs ahead. Each takes a run of neighbours, which share most of what has to be read for them.
    /// A large output is not made ahead.
    ///
    /// - Parameters:
    ///   - byteCount: the memory of an element's output.
    ///   - waits: whether `transform` waits for a network.
    ///   - ownThreads: whether the threads are not those of other pipelines, as the caller may be in one and occupy them.
    package func forEachAhead<Output: Sendable>(
        byteCount: (Element) -> UInt64, waits: Bool = false, ownThreads: Bool = false,
        _ transform: @escaping @Sendable (Element) throws -> Output,
        _ body: (Output) throws -> Bool
    ) throws {
        try withoutActuallyEscaping(body) { body in
            var isWanted = true
            let pipeline = OrderedPipeline<[Element], [Result<Output, any Error>]>(
                width: waits ? RunLimit.ahead : Swift.min(Processors.count + 1, RunLimit.ahead),
                ownThreads: waits || ownThreads,
                transform: { run in run.map { element in Result { try transform(element) } } },
                consume: { outputs in
                    // What fails after the last one that is wanted does not matter.
                    for output in outputs where isWanted { isWanted = try body(output.get()) }
                })
            var (run, bytes, most) = ([Element](), UInt64(0), RunLimit.elements.lowerBound)
            for element in self {
                let next = byteCount(element)
                if next >= RunLimit.bytes {
                    try pipeline.finish(with: run)
                    if isWanted { try pipeline.finish(with: [element]) }
                    (run, bytes) = ([], 0)
                } else {
                    run.append(element)
                    bytes += next
                    if run.count < most, bytes < RunLimit.bytes { continue }
                    try pipeline.submit(run)
                    (run, bytes, most) = ([], 0, Swift.min(2 * most, RunLimit.elements.upperBound))
                }
                if !isWanted { return }
            }
            if isWanted { try pipeline.finish(with: run) }
        }
    }
}

/// What is made ahead.
private enum RunLimit {
    /// The neighbours of a run that one thread works on; the first runs are short, so that all threads soon work.
    static let elements = 4...16
    /// The bytes of a run, and of a large output.
    static let bytes: UInt64 = 2 << 20
    /// The runs.
    static let ahead = 9
}

/// The processors of this machine.
package enum Processors {
    /// How many threads can run at the same time.
    package static let count = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
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
