// Marks in a watched tree: how long the caller waits.

internal import Glibc
internal import SystemPackage
internal import TestSupport

struct Marks: Line {
    let corpus: Corpus

    init(_ corpus: Corpus) { self.corpus = corpus }

    var name: String { "marks" }
    var summary: String { "watching \(corpus.description): archiver mark right behind a save, start to end" }
    var diskBytes: Int { 8 << 30 }

    func run(in workshop: Workshop) throws -> [Row] {
        let tree = try workshop.tree(of: corpus)
        let store = try workshop.store(of: workshop.archiver, with: corpus)
        let files = SmallFiles(fanOut: workshop.scale.fanOut)
        let watching = try WatchingArchiver(workshop.archiver, tree, store: store)
        try watching.wait(for: "watching")
        sync()
        var random = SeededGenerator(seed: 2)
        var runs: [Measurement] = []
        for number in 0..<(workshop.scale.saves / 4) {
            let file = tree.pushing(FilePath(files.path(random.below(files.count))))
            try TextFile.write("before mark \(number)\n", to: file, appending: true)
            let mark = workshop.archiver.command("mark", "--root", tree.string, "mark \(number)", store: store)
            runs.append(try mark.run())
        }
        _ = try watching.end()
        let sorted = runs.sorted { $0.seconds < $1.seconds }
        let note = "of \(Figure.count(runs.count)) marks"
        func row(_ program: String, _ share: Double, _ goals: [Goal]) -> Row {
            let run = sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
            return Row(name, summary, program, [run], goals: workshop.relevant(goals), note: note)
        }
        return [
            row("archiver, median", 0.5, [.seconds(0.050)]), row("archiver, 99th percentile", 0.99, [.seconds(0.050)]),
            row("archiver, longest", 1, [.seconds(0.200)]),
        ]
    }
}
