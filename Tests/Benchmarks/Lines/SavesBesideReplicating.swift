// Files saved one by one in a watched tree, while the watcher sends a large archive to a new replica.

internal import FileIO
internal import Glibc
internal import SystemPackage
internal import TestSupport

struct SavesBesideReplicating: Line {
    let name = "saves-replicating"
    let summary = "a save → durable, beyond settling, alone and while a new replica gets everything"
    let diskBytes = 8 << 30

    /// How often everything is sent to a new replica.
    private static let rounds = 8
    private static let names = 100

    func run(in workshop: Workshop) throws -> [Row] {
        let place = workshop.place("noise")
        workshop.say("\(name): making an archive of \(workshop.scale.noisySnapshots) snapshots")
        try Helper.command("noise", place.string, String(workshop.scale.noisySnapshots)).run()
        defer { workshop.remove(place) }
        let key = try ReplicaKey(workshop)
        return try ReplicaPlace.Kind.all.flatMap { try rows(of: $0, workshop, place, key) }
    }

    private func rows(
        of kind: ReplicaPlace.Kind, _ workshop: Workshop, _ place: FilePath, _ key: ReplicaKey
    ) throws -> [Row] {
        let (tree, store) = (NoisyArchive.tree(in: place), NoisyArchive.store(in: place))
        var random = SeededGenerator(seed: 3)
        func save(_ watching: WatchingArchiver) throws -> Double {
            let file = tree.appending("saved\(random.below(SavesBesideReplicating.names)).txt")
            try TextFile.write("a line of little\n", to: file, appending: true)
            let start = ContinuousClock.now
            try watching.wait(for: "snapshot")
            return (ContinuousClock.now - start).seconds - WatchingArchiver.settleSeconds
        }
        let first = try WatchingArchiver(workshop.archiver, tree, store: store)
        try first.wait(for: "watching")
        for _ in 0..<SavesBesideReplicating.names { _ = try save(first) }
        sync()
        let alone = try (0..<workshop.scale.saves).map { _ in try save(first) }
        _ = try first.end()
        var beside: [Double] = []
        for round in 0..<SavesBesideReplicating.rounds {
            let replica = try ReplicaPlace(kind, workshop)
            var add = workshop.archiver.command(
                "replica", "add", "new", replica.url, "--recipient", key.recipient, store: store)
            add.environment = replica.environment
            try add.run()
            sync()
            let watching = try WatchingArchiver(
                workshop.archiver, tree, store: store, environment: replica.environment)
            try watching.wait(for: "watching")
            // This command sends; the watcher, kept busy by saves, would begin after ten seconds.
            var sync = workshop.archiver.command("sync", tree.string, "--replicas", store: store)
            sync.environment = replica.environment
            let following = try RunningProgram(sync, output: .discarded)
            while !following.hasEnded {
                let seconds = try save(watching)
                if !following.hasEnded { beside.append(seconds) }
            }
            _ = try following.finish()
            workshop.say("\(name), round \(round + 1): \(Figure.time(watching.seconds))")
            _ = try watching.end()
            try workshop.archiver.command("replica", "remove", "new", store: store).run()
            if case .directory = kind { workshop.remove(FilePath(replica.rclone)) }
        }
        return [("median", 0.5), ("99th percentile", 0.99)].flatMap { what, share in
            [("alone", alone), ("beside replicating", beside)].map { program, seconds in
                Row(
                    name, "\(summary), \(kind.name): \(what)", program,
                    [Measurement(seconds: seconds.percentile(share) ?? 0)], yardstick: "alone",
                    goals: workshop.relevant([.time(times: 1.2, of: "alone")]),
                    note: "of \(Figure.count(seconds.count)) saves")
            }
        }
    }
}
