// The time and the instructions of the core loops, one by one.

internal import FoundationEssentials
internal import Glibc
internal import SystemPackage

/// The time of each core loop.
struct CoreLoops: Line {
    let name = "micro"
    let summary = "core loops, one thread"
    let diskBytes = 1 << 28

    func run(in workshop: Workshop) throws -> [Row] {
        try CoreLoop.all.map { loop in
            let text = try Helper.command("time", loop.name, String(workshop.rounds)).text()
            guard let seconds = Double(text.prefix { $0 != "\n" }) else {
                throw BenchmarkError("the loop \(loop.name) reported no time: \(text)")
            }
            workshop.say("\(loop.name): \(Figure.time(seconds))")
            let rate = loop.bytes.map { "\(Figure.number(Double($0) / seconds / 1e6)) MB/s" } ?? ""
            return Row(name, loop.operation, loop.name, [Measurement(seconds: seconds)], note: rate)
        }
    }
}

/// The instructions of some core loops, which do not depend on the machine's load.
struct InstructionCounts: Line {
    let name = "instructions"
    let summary = "instructions of core loops, by callgrind"
    let diskBytes = 1 << 28

    func run(in workshop: Workshop) throws -> [Row] {
        guard Command.isInstalled("valgrind") else {
            workshop.say("no valgrind here: \(name) left out")
            return []
        }
        return try CoreLoop.counted.map { loop in
            // Both counts include start and preparation, which the difference cancels.
            let few = 4
            let many = 24
            let instructions = try count(loop, many, workshop) - count(loop, few, workshop)
            var row = Row(name, loop.operation, loop.name, [])
            row.instructions = instructions / (many - few)
            workshop.say("\(loop.name): \(Figure.count(row.instructions ?? 0)) instructions")
            return row
        }
    }

    /// Returns the instructions of a process that runs the loop's operation `times` times.
    private func count(_ loop: CoreLoop, _ times: Int, _ workshop: Workshop) throws -> Int {
        try workshop.withPlace("callgrind") { log in
            let helper = try Helper.command("repeat", loop.name, String(times))
            try Command(
                ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-file=\(log)"] + helper.words
            ).run()
            let text = try TextFile.read(log)
            guard let count = InstructionCounts.collected(in: text) else {
                throw BenchmarkError("callgrind reported no count: \(text)")
            }
            return count
        }
    }

    /// The count in callgrind's log: `==123== Collected : 4567`.
    static func collected(in log: String) -> Int? {
        let line = log.split(separator: "\n").first { $0.contains("Collected :") }
        return line.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
    }
}
