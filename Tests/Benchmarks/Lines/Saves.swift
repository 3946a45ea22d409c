// Files saved one by one in a watched tree: how soon each save is durable.

internal import Glibc
internal import SystemPackage
internal import TestSupport

struct Saves: Line {
    let corpus: Corpus

    init(_ corpus: Corpus) { self.corpus = corpus }

    var name: String { "saves" }
    var summary: String { "watching \(corpus.description): a save → durable, beyond settling" }
    var diskBytes: Int { 8 << 30 }

    func run(in workshop: Workshop) throws -> [Row] {
        let tree = try workshop.tree(of: corpus)
        let store = try workshop.store(of: workshop.archiver, with: corpus)
        let files = SmallFiles(fanOut: workshop.scale.fanOut)
        let found = try Saves.measure(
            workshop, tree, store: store, count: workshop.scale.saves, path: { files.path($0.below(files.count)) })
        let floor = try Floors.twoSyncs(in: store, count: workshop.scale.saves)
        return Saves.rows(
            name, summary, workshop, found, goals: [.seconds(0.003)], slowGoals: [.seconds(0.010)])
            + [("median", 0.5), ("99th percentile", 0.99)].map { what, share in
                Row(
                    name, summary, "\(Floors.twoSyncsName), \(what)",
                    [Measurement(seconds: floor.percentile(share) ?? 0)])
            }
    }

    /// The cost of many saves.
    struct Found {
        /// The time of each save, minus the settle time.
        var seconds: [Double] = []
        var storedBytes: [Double] = []
        /// The cost of the watching program, from start to end.
        var whole: Measurement
    }

    /// Saves `count` files of `tree` one after another, each after the previous one is durable.
    ///
    /// - Parameter path: chooses a file, relative to the tree.
    static func measure(
        _ workshop: Workshop, _ tree: FilePath, store: FilePath, count: Int,
        path: (inout SeededGenerator) -> String
    ) throws -> Found {
        let watching = try WatchingArchiver(workshop.archiver, tree, store: store)
        try watching.wait(for: "watching")
        // The corpus itself may not be on disk yet.
        sync()
        var random = SeededGenerator(seed: 1)
        var seconds: [Double] = []
        var stored: [Double] = []
        for save in 0..<count {
            let file = tree.pushing(FilePath(path(&random)))
            try TextFile.write("save \(save) of a file that holds little\n", to: file, appending: true)
            let start = ContinuousClock.now
            stored.append(Double(try watching.wait(for: "snapshot")))
            seconds.append((ContinuousClock.now - start).seconds - WatchingArchiver.settleSeconds)
        }
        return Found(seconds: seconds, storedBytes: stored, whole: try watching.end())
    }

    static func rows(
        _ line: String, _ work: String, _ workshop: Workshop, _ found: Found, goals: [Goal] = [],
        slowGoals: [Goal] = []
    ) -> [Row] {
        let stored = found.storedBytes.median.map { Int($0) }
        func row(_ program: String, _ seconds: Double?, _ goals: [Goal]) -> Row {
            let run = Measurement(
                seconds: seconds ?? 0, processorSeconds: found.whole.processorSeconds,
                peakBytes: found.whole.peakBytes, storedBytes: stored)
            return Row(
                line, work, program, [run], goals: workshop.relevant(goals),
                note: "of \(Figure.count(found.seconds.count)) saves")
        }
        return [
            row("archiver, median", found.seconds.median, goals),
            row("archiver, 99th percentile", found.seconds.percentile(0.99), slowGoals),
        ]
    }
}
