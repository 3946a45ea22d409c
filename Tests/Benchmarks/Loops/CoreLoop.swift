// The loops in which archiver spends its time, measured one by one.

/// A loop of one operation.
struct CoreLoop: Sendable {
    let name: String
    /// What one operation does, for the table.
    let operation: String
    /// How many bytes one operation processes; nil if bytes are not the measure.
    var bytes: Int?
    /// Prepares the loop and returns a function that runs the operation a given number of times.
    let prepare: @Sendable () throws -> (Int) throws -> Void

    /// All loops.
    static var all: [CoreLoop] {
        [.nodeEncoding, .nodeDecoding, .treeEdit, .chunking, .hashing, .deflating, .inflating]
            + [.catalogueLookup, .catalogueInsertion]
    }

    /// The loops whose instructions are counted.
    static var counted: [CoreLoop] { [.nodeEncoding, .treeEdit, .chunking] }

    static func named(_ name: String) throws -> CoreLoop {
        guard let loop = all.first(where: { $0.name == name }) else { throw BenchmarkError("no loop '\(name)'") }
        return loop
    }

    /// Returns the seconds of one operation: the median of several runs of at least 0.1 s each.
    func secondsPerOperation(rounds: Int) throws -> Double {
        let run = try prepare()
        func seconds(_ count: Int) throws -> Double {
            let start = ContinuousClock.now
            try run(count)
            return (ContinuousClock.now - start).seconds
        }
        var count = 1
        while try seconds(count) < 0.1 { count *= 2 }
        return try (0..<rounds).map { _ in try seconds(count) / Double(count) }.median ?? 0
    }
}

/// Keeps the optimiser from removing work whose result is unused.
@inline(never)
func consume<Value>(_ value: Value) {
    withExtendedLifetime(value) {}
}
