// Queries of an archive with many snapshots.

internal import SystemPackage

struct ManySnapshots: Line {
    let name = "list"
    let summary = "list, show, cat, diff and status with many snapshots"
    let diskBytes = 2 << 30

    func run(in workshop: Workshop) throws -> [Row] {
        let count = workshop.scale.snapshots
        let place = try workshop.snapshots(count)
        let archiver = workshop.archiver
        let store = ManySnapshotsArchive.store(in: place)
        let root = ["--root", ManySnapshotsArchive.tree(in: place).string]
        let middle = "latest~\(count / 2)"
        let cat = ["cat", "\(middle):\(ManySnapshotsArchive.file)"] + root
        let reported = try archiver.command(cat, store: store).text()
        guard reported.hasPrefix("what is noted down in state ") else {
            throw BenchmarkError("archiver cat printed something else: \(reported)")
        }
        let asked: [(String, [String])] = [
            ("list all", ["list"] + root), ("list --json", ["list", "--json"] + root),
            ("list --limit 100", ["list", "--reverse", "--limit", "100"] + root),
            ("show \(middle)", ["show", middle] + root), ("cat \(middle):file", cat),
            ("diff latest~1 latest", ["diff", "latest~1", "latest"] + root), ("status", ["status"]),
        ]
        let title = "\(Figure.count(count)) snapshots"
        return try asked.flatMap { what, words in
            var command = archiver.command(words, store: store)
            // `status` exits with 1, as nothing is watched.
            command.expected = [0, 1]
            return try workshop.contest(
                name, "\(title): \(what)", [Contender(archiver.name) { _ in try workshop.median(of: command) }],
                goals: [.seconds(0.050)])
        }
    }
}

extension Workshop {
    /// Returns a directory with an archive of at least `count` snapshots; see `ManySnapshotsArchive`.
    func snapshots(_ count: Int) throws -> FilePath {
        let place = directory.appending("snapshots")
        say("growing an archive to \(Figure.count(count)) snapshots")
        // In a process of its own, as its memory would otherwise count for every program that this one starts.
        try Helper.command("snapshots", place.string, String(count)).run()
        return place
    }

    /// Returns the run of median length among several, for programs that run for milliseconds.
    func median(of command: Command) throws -> Measurement {
        let runs = try (0..<scale.starts).map { _ in try command.run() }.sorted { $0.seconds < $1.seconds }
        return runs[runs.count / 2]
    }
}
