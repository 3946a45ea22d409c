// `simulated-year`: how large an archive grows in a year of work, with everything kept and with old snapshots thinned out.
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
        abstract: "Let an archive grow for a year of working hours, by a clock that is set ahead.",
        subcommands: [GrowCommand.self, ShowCommand.self])
}

/// Whether old snapshots go.
enum Habit: String, ExpressibleByArgument, Codable {
    case kept
    case thinned

    var policy: RetentionPolicy { self == .kept ? .everything : .usual }
    var name: String { self == .kept ? "everything kept" : "thinned out" }
}

struct GrowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grow", abstract: "Let an archive grow, and write its sizes to a file.")

    @Argument(help: "kept or thinned.")
    var habit: Habit

    @Argument(help: "Where to work: a directory that is not there yet, or is empty.")
    var place: String

    @Argument(help: "The file for the sizes.")
    var sizes: String

    @Option(help: ArgumentHelp("Weeks of five working days of eight hours.", valueName: "count"))
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
        commandName: "show", abstract: "Show how archives have grown, as a table and as a picture.")

    @Argument(help: "Files that 'grow' has written.")
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
