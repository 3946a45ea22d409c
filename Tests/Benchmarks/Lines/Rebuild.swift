// The first command on an archive that has lost its catalogue.

internal import ArchiveStorage
internal import SystemPackage

struct Rebuild: Line {
    let name = "rebuild"
    let summary = "the first command with many chunks and no catalogue"
    let diskBytes = 1 << 29

    func run(in workshop: Workshop) throws -> [Row] {
        let count = workshop.scale.chunks
        return try workshop.withPlace("chunks") { store in
            workshop.say("making an archive of \(Figure.count(count)) chunks")
            try Helper.command("chunks", store.string, String(count)).run()
            let command = workshop.archiver.command("list", "--all", store: store)
            let reported = try command.text()
            let contender = Contender(workshop.archiver.name) { _ in
                Catalogue.delete(at: store.appending("catalogue.sqlite"))
                let run = try command.measured()
                guard try command.text() == reported else { throw BenchmarkError("another list than before") }
                return run
            }
            return try workshop.contest(
                name, "\(Figure.count(count)) chunks, no catalogue: list", [contender], goals: [.seconds(3)])
        }
    }
}
