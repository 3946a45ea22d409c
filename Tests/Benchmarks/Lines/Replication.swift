// A replica beside rclone and restic at the same store: sending, a save's way, reading a file, listing, restoring.

internal import SystemPackage

struct Replication: Line {
    let corpus: Corpus

    init(_ corpus: Corpus) { self.corpus = corpus }

    var name: String { "replica" }
    var summary: String { "replicas of \(corpus.description)" }
    var diskBytes: Int { 8 << 30 }

    /// How many saves are followed into the replica.
    private static let saves = 20
    private static let file = "bench/saved.txt"

    func run(in workshop: Workshop) throws -> [Row] {
        let tree = try workshop.tree(of: corpus)
        let file = tree.pushing(FilePath(Replication.file))
        try Command("mkdir", "-p", file.removingLastComponent().string).run()
        try TextFile.write("saved\n", to: file)
        let store = workshop.place("store")
        try workshop.archiver.capture(tree, into: store).forEach { try $0.run() }
        let scene = Scene(workshop: workshop, tree: tree, store: store, key: try ReplicaKey(workshop))
        return try ReplicaPlace.Kind.all.flatMap { try rows(of: $0, scene) }
    }

    /// What the works share.
    private struct Scene {
        let workshop: Workshop
        let tree: FilePath
        let store: FilePath
        let key: ReplicaKey

        /// A command of archiver on the archive.
        func archiver(_ words: String..., at place: ReplicaPlace) -> Command {
            command(words, in: store.string, place)
        }

        /// A command of archiver that reads the replica.
        func reading(_ words: String..., at place: ReplicaPlace) -> Command {
            command(words + ["--identity", key.file], in: place.url, place)
        }

        private func command(_ words: [String], in archive: String, _ place: ReplicaPlace) -> Command {
            Command(
                [workshop.archiver.binary] + words + ["--quiet", "--archive", archive], environment: place.environment)
        }
    }

    private func rows(of kind: ReplicaPlace.Kind, _ scene: Scene) throws -> [Row] {
        let (workshop, restic) = (scene.workshop, Restic())
        let hasRestic = restic.isInstalled && !workshop.isOlder
        var place = try ReplicaPlace(kind, workshop)
        let cache = workshop.place("cache")
        func resticCommand(_ words: String..., at place: ReplicaPlace) -> Command {
            restic.command(words, repository: place.restic, cache: cache, environment: place.environment)
        }
        func contest(_ work: String, _ contenders: [Contender?], yardstick: String, goals: [Goal] = []) throws -> [Row]
        {
            try workshop.contest(
                name, "\(work), \(kind.name)", contenders.compactMap { $0 }, yardstick: yardstick, goals: goals)
        }

        var sent = ""
        var rows = try contest(
            "a first copy of \(corpus.description)",
            [
                Contender(workshop.archiver.name) { round in
                    place = try ReplicaPlace(kind, workshop)
                    let name = "bench\(workshop.place("replica").lastComponent?.string.filter(\.isNumber) ?? "")"
                    let url = place.url
                    try scene.archiver("replica", "add", name, url, "--recipient", scene.key.recipient, at: place).run()
                    let run = try scene.archiver("replica", "sync", name, at: place).measured()
                    sent = try ReplicaPlace.size(scene.archiver("fleet", url, "--json", at: place).text())
                    // The last one stays, for the works that follow.
                    if round < workshop.rounds { try scene.archiver("replica", "remove", name, at: place).run() }
                    return run
                },
                Command.isInstalled("rclone")
                    ? Contender("rclone, the same files") { _ in
                        let place = try ReplicaPlace(kind, workshop)
                        return try Command(
                            ["rclone", "copy", scene.store.appending("segments").string, place.rclone],
                            environment: place.environment
                        ).measured()
                    } : nil,
                hasRestic
                    ? Contender("restic, from the tree") { _ in
                        let new = try ReplicaPlace(kind, workshop)
                        try resticCommand("init", at: new).run()
                        place.restic = new.restic
                        return try resticCommand("backup", scene.tree.string, at: new).measured()
                    } : nil,
            ], yardstick: "rclone, the same files", goals: [.time(times: 1.11, of: "rclone, the same files")])
        rows[0].note = sent
        rows += try saves(kind, scene, place, hasRestic ? resticCommand("backup", scene.tree.string, at: place) : nil)
        let file = scene.tree.pushing(FilePath(Replication.file))
        let root = ["--root", scene.tree.string]
        rows += try contest(
            "list",
            [
                Contender(workshop.archiver.name) { _ in try scene.reading("list", "--all", at: place).measured() },
                hasRestic ? Contender("restic") { _ in try resticCommand("snapshots", at: place).measured() } : nil,
            ], yardstick: "restic")
        rows += try contest(
            "read one file of the latest state",
            [
                Contender(workshop.archiver.name) { _ in
                    try scene.reading("cat", "latest:\(Replication.file)", root[0], root[1], at: place).measured()
                },
                hasRestic
                    ? Contender("restic") { _ in try resticCommand("dump", "latest", file.string, at: place).measured()
                    }
                    : nil,
            ], yardstick: "restic")
        rows += try contest(
            "restore everything without a local archive",
            [
                Contender(workshop.archiver.name) { _ in
                    try workshop.withPlace("restored") { target in
                        let run = try scene.reading(
                            "restore", "latest", root[0], root[1], "--target", target.string, at: place
                        ).measuredToDisk(target)
                        try TreeComparison.check(scene.tree, target)
                        return run
                    }
                },
                Contender("\(workshop.archiver.name), clone") { _ in
                    try workshop.withPlace("clone") { target in
                        try Command(
                            [
                                workshop.archiver.binary, "replica", "clone", place.url, target.string, "--identity",
                                scene.key.file, "--quiet",
                            ], environment: place.environment
                        ).measuredToDisk(target)
                    }
                },
                hasRestic
                    ? Contender("restic") { _ in
                        try workshop.withPlace("restored") { target in
                            try resticCommand("restore", "latest", "--target", target.string, at: place)
                                .measuredToDisk(target)
                        }
                    } : nil,
            ], yardstick: "restic", goals: [.time(times: 0.5, of: "restic")])
        return rows
    }

    /// Saves a file in the watched tree: how long after its snapshot the replica has it.
    private func saves(
        _ kind: ReplicaPlace.Kind, _ scene: Scene, _ place: ReplicaPlace, _ restic: Command?
    ) throws -> [Row] {
        let workshop = scene.workshop
        let work = "a save → in the replica, beyond its snapshot, \(kind.name)"
        let file = scene.tree.pushing(FilePath(Replication.file))
        try TextFile.write("once more\n", to: file, appending: true)
        let resticRun = try restic?.measured()
        let watching = try WatchingArchiver(
            workshop.archiver, scene.tree, store: scene.store, environment: place.environment)
        try watching.wait(for: "watching")
        try scene.archiver("sync", scene.tree.string, "--replicas", at: place).run()
        var seconds: [Double] = []
        for save in 0..<Replication.saves {
            try TextFile.write("save \(save)\n", to: file, appending: true)
            try watching.wait(for: "snapshot")
            let start = ContinuousClock.now
            try scene.archiver("sync", scene.tree.string, "--replicas", at: place).run()
            seconds.append((ContinuousClock.now - start).seconds)
        }
        let whole = try watching.end()
        let run = Measurement(
            seconds: seconds.median ?? 0, processorSeconds: whole.processorSeconds, peakBytes: whole.peakBytes)
        var rows = [
            Row(
                name, work, "archiver, median", [run], goals: workshop.relevant([.seconds(0.060)]),
                note: "of \(seconds.count) saves; with the start of 'archiver sync'")
        ]
        if let run = resticRun { rows.append(Row(name, work, "restic, one backup", [run])) }
        return rows
    }
}
