// A program that saves its state repeatedly: the cost of a save, and of loading the latest and the first state.

internal import ArchiveFormat
internal import ArchiverKit
internal import SystemPackage
internal import TestSupport

/// Saves a state of about 12 KB in which a few numbers change.
struct StateSaves: Line {
    let name = "states"
    let summary = "saves of a program's state of 12 KB, a few numbers changed each time"
    let diskBytes = 1 << 30

    private static let title = "state"

    /// The saved state.
    private struct State: Codable, Sendable, Equatable {
        struct Item: Codable, Sendable, Equatable {
            var name: String
            var count: Int
            var price: Double
        }

        var counter = 0
        var items: [Item]
    }

    func run(in workshop: Workshop) throws -> [Row] {
        try workshop.withPlace(name) { place in
            var random = SeededGenerator(seed: 1)
            var state = State(
                items: (0..<220).map { number in
                    State.Item(
                        name: "item number \(number) \(random.below(1 << 30))", count: random.below(100_000),
                        price: Double(random.below(1 << 30)) / 7)
                })
            let first = state
            let archive = try Archive.open(place, creating: true)
            var seconds: [Double] = []
            var stored: [Double] = []
            for number in 1...workshop.scale.snapshots {
                try Interruption.check()
                state.counter = number
                state.items[number % state.items.count].count += 1
                let (time, memento) = try StateSaves.time {
                    try archive.save(number == 1 ? first : state, as: StateSaves.title)
                }
                seconds.append(time)
                stored.append(Double(memento.storedBytes))
            }
            let oldest = try archive.history(of: StateSaves.title)[0].id.hex
            let (newestTime, newest) = try StateSaves.load(place, "latest")
            let (oldestTime, old) = try StateSaves.load(place, oldest)
            guard newest == state, old == first else { throw BenchmarkError("a loaded state is not the saved one") }
            let whole = stored.reduce(0, +)
            return [
                row("a save, median", seconds.median, stored: Int(whole) / stored.count, seconds.count),
                row("a save, 99th percentile", seconds.percentile(0.99), stored: nil, seconds.count),
                row("all saves", seconds.reduce(0, +), stored: Int(whole), seconds.count),
                row("loading the latest", newestTime, stored: nil, seconds.count),
                row("loading the first", oldestTime, stored: nil, seconds.count),
            ]
        }
    }

    private func row(_ what: String, _ seconds: Double?, stored: Int?, _ count: Int) -> Row {
        let run = Measurement(seconds: seconds ?? 0, storedBytes: stored)
        return Row(name, summary, what, [run], note: "of \(Figure.count(count)) states")
    }

    /// Loads a state through a newly opened archive.
    private static func load(_ place: FilePath, _ selector: String) throws -> (Double, State) {
        let archive = try Archive.open(place)
        return try time { try archive.load(State.self, as: title, at: SnapshotSelector(selector)) }
    }

    private static func time<Result>(_ body: () throws -> Result) throws -> (Double, Result) {
        let start = ContinuousClock.now
        let result = try body()
        return ((ContinuousClock.now - start).seconds, result)
    }
}
