// The difference of two snapshots of a large tree.

internal import SystemPackage

struct DiffOfTwo: Line {
    let corpus: Corpus

    init(_ corpus: Corpus) { self.corpus = corpus }

    var name: String { "diff" }
    var summary: String { "diff of two snapshots with 10 files changed, \(corpus.description)" }
    var diskBytes: Int { 8 << 30 }

    func run(in workshop: Workshop) throws -> [Row] {
        let tree = try workshop.tree(of: corpus)
        let files = SmallFiles(fanOut: workshop.scale.fanOut).tenPaths
        let restic = Restic()
        let programs = workshop.installed([workshop.archiver, restic])
        let stores = try programs.map { try workshop.store(of: $0, with: corpus) }
        func captureAll() throws {
            for (program, store) in zip(programs, stores) {
                for command in program.capture(tree, into: store) { try command.run() }
            }
        }
        try captureAll()
        for file in files { try TextFile.write("once more\n", to: tree.pushing(FilePath(file)), appending: true) }
        try captureAll()
        let archiver = workshop.archiver
        let words = archiver.command("diff", "latest~1", "latest", "--root", tree.string, store: stores[0])
        let reported = try words.text()
        guard files.allSatisfy({ reported.contains($0) }) else {
            throw BenchmarkError("archiver diff does not report all changes:\n\(reported)")
        }
        var contenders = [Contender(archiver.name) { _ in try words.measured() }]
        if programs.count > 1 {
            contenders.append(Contender(restic.name) { _ in try restic.diff(stores[1]).measured() })
        }
        return try workshop.contest(name, summary, contenders, yardstick: restic.name, goals: [.seconds(0.030)])
    }
}

extension SmallFiles {
    /// Ten paths spread over the files.
    var tenPaths: [String] { (0..<10).map { path($0 * count / 10 + 7) } }
}
