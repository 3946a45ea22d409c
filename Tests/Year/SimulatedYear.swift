// `simulated-year`: how large an archive grows in a year of work, with everything kept and with old snapshots thinned out.
// `make year` builds and runs it.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Glibc
internal import SimulatedClock
internal import SystemPackage

@main
struct SimulatedYear: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulated-year",
        abstract: "Let two archives grow for a year of working hours, by a clock that is set ahead.")

    @Argument(help: "Where to work: a directory that is not there yet, or is empty.")
    var place: String

    @Option(help: ArgumentHelp("Weeks of five working days of eight hours.", valueName: "count"))
    var weeks = 52

    @Option(help: ArgumentHelp("Seconds between two changes.", valueName: "seconds"))
    var interval = 5

    @Option(help: ArgumentHelp("Write a picture of the sizes to this file (SVG).", valueName: "file"))
    var picture: String?

    func validate() throws {
        if weeks < 1 || interval < 1 { throw ValidationError("--weeks and --interval must be at least 1") }
    }

    func run() throws {
        let place = FilePath(place)
        try Directory.create(place, permissions: 0o755, durable: false)
        var years: [Year] = []
        for (name, policy) in [("everything kept", RetentionPolicy.everything), ("thinned out", .usual)] {
            let folder = place.appending(policy == .everything ? "kept" : "thinned")
            try Directory.create(folder, permissions: 0o755, durable: false)
            let year = try Year(name, policy, in: folder)
            try year.run(weeks: weeks, secondsBetweenChanges: interval)
            years.append(year)
        }
        print(Year.table(years))
        if let picture {
            let text = SizeChart(years.map { SizeChart.Line(name: $0.name, bytes: $0.samples.map(\.bytes)) }).svg
            let file = try Descriptor.open(FilePath(picture), O_WRONLY | O_CREAT | O_TRUNC, permissions: 0o644)
            let bytes = Array(text.utf8)
            guard write(file.number, bytes, bytes.count) == bytes.count else {
                throw YearError("\(picture): \(Errno(rawValue: errno))")
            }
        }
    }
}
