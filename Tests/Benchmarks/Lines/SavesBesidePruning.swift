// Files saved one by one in a watched tree, while another process prunes the archive.

internal import ArchiverKit
internal import FileIO
internal import FoundationEssentials
internal import Glibc
internal import SystemPackage
internal import TestSupport

struct SavesBesidePruning: Line {
    let name = "saves-pruning"
    let summary = "a save → durable, beyond settling, alone and while space is given back"
    let diskBytes = 4 << 30

    /// How often a part of the snapshots is forgotten and pruned.
    private static let rounds = 8
    private static let names = 100

    func run(in workshop: Workshop) throws -> [Row] {
        let place = workshop.place("noise")
        workshop.say("\(name): making an archive of \(workshop.scale.noisySnapshots) snapshots")
        try Helper.command("noise", place.string, String(workshop.scale.noisySnapshots)).run()
        defer { workshop.remove(place) }
        let (tree, store) = (NoisyArchive.tree(in: place), NoisyArchive.store(in: place))
        let ids = try snapshots(workshop.archiver, store)
        let watching = try WatchingArchiver(workshop.archiver, tree, store: store)
        try watching.wait(for: "watching")
        var random = SeededGenerator(seed: 3)
        func save() throws -> Double {
            let file = tree.appending("saved\(random.below(SavesBesidePruning.names)).txt")
            try TextFile.write("a line of little\n", to: file, appending: true)
            let start = ContinuousClock.now
            try watching.wait(for: "snapshot")
            return (ContinuousClock.now - start).seconds - WatchingArchiver.settleSeconds
        }
        for _ in 0..<SavesBesidePruning.names { _ = try save() }
        sync()
        let alone = try (0..<workshop.scale.saves).map { _ in try save() }
        var beside: [Double] = []
        var pruned: [Measurement] = []
        for round in 0..<SavesBesidePruning.rounds {
            // Spread over the whole history, so that pruning must move the rest.
            let going = ids.indices.filter { $0 % (SavesBesidePruning.rounds + 1) == round }.map { ids[$0] }
            try workshop.archiver.command(["forget"] + going, store: store).run()
            let prune = try RunningProgram(
                workshop.archiver.command("prune", "--now", store: store), output: .discarded)
            while !prune.hasEnded {
                let seconds = try save()
                if !prune.hasEnded { beside.append(seconds) }
            }
            pruned.append(try prune.finish().measurement)
            workshop.say("\(name): round \(round + 1), \(Figure.time(pruned.last?.seconds ?? 0))")
        }
        _ = try watching.end()
        return rows(workshop, alone, beside)
    }

    private func rows(_ workshop: Workshop, _ alone: [Double], _ beside: [Double]) -> [Row] {
        [("median", 0.5), ("99th percentile", 0.99)].flatMap { what, share in
            [("alone", alone), ("beside archiver prune", beside)].map { program, seconds in
                Row(
                    name, "\(summary): \(what)", program, [Measurement(seconds: seconds.percentile(share) ?? 0)],
                    yardstick: "alone", goals: workshop.relevant([.time(times: 1.5, of: "alone")]),
                    note: "of \(Figure.count(seconds.count)) saves")
            }
        }
    }

    private func snapshots(_ archiver: Archiver, _ store: FilePath) throws -> [String] {
        struct Listed: Decodable { let id: String }
        let json = try archiver.command("list", "--all", "--json", store: store).text()
        return try JSONDecoder().decode([Listed].self, from: Data(json.utf8)).map { String($0.id.prefix(16)) }
    }
}

/// An archive whose snapshots share nothing: each has a different large file.
enum NoisyArchive {
    private static let fileBytes = 256 << 10

    static func tree(in place: FilePath) -> FilePath { place.appending("tree") }
    static func store(in place: FilePath) -> FilePath { place.appending("archive") }

    /// Creates the tree and the archive in `place`.
    static func make(in place: FilePath, snapshots: Int) throws {
        let tree = tree(in: place)
        try Directory.create(tree, permissions: 0o755, durable: false)
        let archive = try Archive.open(store(in: place), creating: true)
        var random = SeededGenerator(seed: 4)
        for _ in 0..<snapshots {
            try Interruption.check()
            let path = tree.appending("noise")
            let file = try Descriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC, permissions: 0o644)
            let noise = random.noise(fileBytes)
            guard write(file.number, noise, noise.count) == noise.count else {
                throw BenchmarkError("\(path): \(Errno(rawValue: errno))")
            }
            _ = try archive.capture(tree)
        }
    }
}
