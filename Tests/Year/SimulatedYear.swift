// `simulated-year`: measures an archive's growth over a year of work, with all snapshots kept or old ones thinned.
// `make year` builds and runs it.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import FoundationEssentials
internal import SystemPackage

@main
struct SimulatedYear: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulated-year",
        abstract: "Measure the growth of an archive over a simulated year of working hours.",
        subcommands: [GrowCommand.self, ShowCommand.self])
}

/// Whether old snapshots are thinned.
enum Habit: String, ExpressibleByArgument, Codable {
    case kept
    case thinned

    var policy: RetentionPolicy { self == .kept ? .everything : .usual }
    var name: String { self == .kept ? "everything kept" : "thinned out" }
}

struct GrowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grow", abstract: "Simulate work on an archive and write its sizes to a file.")

    @Argument(help: "The retention policy: kept or thinned.")
    var habit: Habit

    @Argument(help: "The directory to work in; it must be empty or not exist.")
    var place: String

    @Argument(help: "The file to write the sizes to.")
    var sizes: String

    @Option(help: ArgumentHelp("Number of weeks, each of five working days of eight hours.", valueName: "count"))
    var weeks = 52

    @Option(help: ArgumentHelp("Seconds between two changes.", valueName: "seconds"))
    var interval = 5

    func validate() throws {
        if weeks < 1 || interval < 1 { throw ValidationError("--weeks and --interval must be at least 1") }
    }

    func run() throws {
        let place = FilePath(place)
        try Directory.create(place, permissions: 0o755, durable: false)
        let year = try Year(habit, in: place)
        try year.run(weeks: weeks, secondsBetweenChanges: interval)
        try JSONEncoder().encode(year.history).write(to: URL(filePath: sizes))
    }
}

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the growth of archives as a table and as a picture.")

    @Argument(help: "Files written by 'grow'.")
    var sizes: [String]

    @Option(help: ArgumentHelp("Write a picture to this file (SVG).", valueName: "file"))
    var picture: String?

    func run() throws {
        let all = try sizes.map { try JSONDecoder().decode(Growth.self, from: Data(contentsOf: URL(filePath: $0))) }
        print(Growth.table(all))
        if let picture {
            let lines = all.map { SizeChart.Line(name: $0.habit.name, bytes: $0.samples.map(\.bytes)) }
            try Data(SizeChart(lines).svg.utf8).write(to: URL(filePath: picture))
        }
    }
}
