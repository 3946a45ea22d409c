// The first command on an archive that has lost its catalogue.

internal import ArchiveStorage
internal import SystemPackage

struct Rebuild: Line {
    /// What the archive has many of.
    enum Content: String {
        case chunks, labels, gaps
    }

    let content: Content
    /// The goal, in seconds.
    let seconds: Double
    let diskBytes = 1 << 29

    init(_ content: Content, seconds: Double) {
        self.content = content
        self.seconds = seconds
    }

    var name: String { "rebuild-\(content)" }
    var summary: String { "the first command with many \(content) and no catalogue" }

    func run(in workshop: Workshop) throws -> [Row] {
        let count = content == .chunks ? workshop.scale.chunks : workshop.scale.records
        return try workshop.withPlace("\(content)") { store in
            workshop.say("making an archive of \(Figure.count(count)) \(content)")
            try Helper.command("\(content)", store.string, String(count)).run()
            let command = workshop.archiver.command("list", "--all", store: store)
            let reported = try command.text()
            let contender = Contender(workshop.archiver.name) { _ in
                Catalogue.delete(at: store.appending("catalogue.sqlite"))
                let run = try command.measured()
                guard try command.text() == reported else { throw BenchmarkError("another list than before") }
                return run
            }
            return try workshop.contest(
                name, "\(Figure.count(count)) \(content), no catalogue: list", [contender], goals: [.seconds(seconds)])
        }
    }
}
