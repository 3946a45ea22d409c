// A restore in place after ten files of a captured tree have changed.

internal import SystemPackage

struct RestoreInPlace: Line {
    let corpus: Corpus

    init(_ corpus: Corpus) { self.corpus = corpus }

    var name: String { "restore-in-place" }
    var summary: String { "restore in place, 10 files differ, \(corpus.description)" }
    var diskBytes: Int { 8 << 30 }

    func run(in workshop: Workshop) throws -> [Row] {
        let tree = try workshop.tree(of: corpus)
        let archiver = workshop.archiver
        let store = try workshop.store(of: archiver, with: corpus)
        for command in archiver.capture(tree, into: store) { try command.run() }
        let files = SmallFiles(fanOut: workshop.scale.fanOut).tenPaths.map { tree.pushing(FilePath($0)) }
        let wanted = try files.map(TextFile.read)
        let id = try archiver.latest(of: tree, in: store)
        let contenders = [
            Contender(archiver.name) { round in
                for file in files { try TextFile.write("round \(round)\n", to: file, appending: true) }
                let run = try archiver.command("restore", id, "--root", tree.string, store: store).measured()
                guard try files.map(TextFile.read) == wanted else {
                    throw BenchmarkError("archiver did not restore the files of \(tree) that had changed")
                }
                return run
            },
            Contender(Floors.findName) { _ in try Floors.find(tree).measured() },
        ]
        var rows = try workshop.contest(
            name, summary, contenders, yardstick: Floors.findName,
            goals: [.time(times: 1.5, of: Floors.findName), .memory(bytes: 150 << 20)])
        rows[0].note = "the state before is captured first"
        return rows
    }
}
