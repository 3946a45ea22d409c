// A replica with many snapshots in many segments, on a machine that has nothing of it.

internal import SystemPackage

struct ReplicatedHistory: Line {
    let name = "replicated-history"
    let summary = "list and cat in a replica with many snapshots in many segments, with nothing cached"
    let diskBytes = 2 << 30

    /// Where segments are sealed: some 1,000 of them for 100,000 snapshots.
    private static let segmentBytes = 64 << 10

    func run(in workshop: Workshop) throws -> [Row] {
        let count = workshop.scale.snapshots
        let store = workshop.place("store")
        workshop.say("\(name): making an archive of \(Figure.count(count)) snapshots")
        var making = try Helper.command("history", store.string, String(count)).words
        making += ["--segment-bytes", String(ReplicatedHistory.segmentBytes)]
        try Command(making).run()
        defer { workshop.remove(store) }
        let key = try ReplicaKey(workshop)
        return try ReplicaPlace.Kind.all.flatMap { kind in
            let place = try ReplicaPlace(kind, workshop)
            func command(_ words: String..., in archive: String) -> Command {
                Command(
                    [workshop.archiver.binary] + words + ["--quiet", "--archive", archive],
                    environment: place.environment)
            }
            try command("replica", "add", "many", place.url, "--recipient", key.recipient, in: store.string).run()
            try command("replica", "sync", "many", in: store.string).run()
            let objects = try ReplicaPlace.size(command("fleet", place.url, "--json", in: store.string).text())
            try command("replica", "remove", "many", in: store.string).run()
            let root = ["--root", LongHistory.root.string]
            let asked: [(String, [String])] = [
                ("list all", ["list"] + root), ("list --limit 100", ["list", "--reverse", "--limit", "100"] + root),
                ("cat latest:FILE", ["cat", "latest:\(LongHistory.file)"] + root),
                ("cat latest~\(count / 2):FILE", ["cat", "latest~\(count / 2):\(LongHistory.file)"] + root),
            ]
            return try asked.flatMap { what, words in
                var reading = Command(
                    [workshop.archiver.binary] + words + ["--archive", place.url, "--identity", key.file])
                reading.environment = place.environment
                var rows = try workshop.contest(
                    name, "\(Figure.count(count)) snapshots \(kind.name): \(what)",
                    [Contender(workshop.archiver.name) { _ in try reading.measured() }], goals: [.seconds(2)])
                rows[0].note = objects
                return rows
            }
        }
    }
}
