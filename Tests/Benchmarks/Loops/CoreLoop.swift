// The loops in which archiver spends its time, each alone.

/// A loop of one operation.
struct CoreLoop: Sendable {
    let name: String
    /// What one operation works on, for the table.
    let operation: String
    /// Bytes that one operation goes through; nil where bytes are not the measure.
    var bytes: Int?
    /// Prepares the loop and gives it: a call does the operation so many times.
    let prepare: @Sendable () throws -> (Int) throws -> Void

    /// All loops.
    static var all: [CoreLoop] {
        [.nodeEncoding, .nodeDecoding, .treeEdit, .chunking, .hashing, .deflating, .inflating]
            + [.catalogueLookup, .catalogueInsertion]
    }

    /// Those whose instructions are counted.
    static var counted: [CoreLoop] { [.nodeEncoding, .treeEdit, .chunking] }

    static func named(_ name: String) throws -> CoreLoop {
        guard let loop = all.first(where: { $0.name == name }) else { throw BenchmarkError("no loop '\(name)'") }
        return loop
    }

    /// Seconds of one operation: the median of several times some tenths of a second.
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

/// Keeps the optimiser from leaving out work whose result nobody uses.
@inline(never)
func consume<Value>(_ value: Value) {
    withExtendedLifetime(value) {}
}
