// The cost of one changed file as the number of files, or of snapshots, grows.

internal import SystemPackage
internal import TestSupport

/// One changed file in watched trees of more and more files.
struct GrowthOfFiles: Line {
    let name = "growth-files"
    let summary = "watching: a save → durable, with more and more files"
    let diskBytes = 9 << 30

    func run(in workshop: Workshop) throws -> [Row] {
        let largest = SmallFiles(fanOut: workshop.scale.fanOut).count
        return try sequence(first: 1_000) { $0 * 10 }.prefix { $0 <= largest }.flatMap { count in
            let isLargest = count == largest
            let corpus =
                isLargest
                ? Corpus.million(workshop.scale)
                : Corpus.smallFiles(directories: count / SmallFiles.filesPerDirectory)
            let files =
                isLargest
                ? SmallFiles(fanOut: workshop.scale.fanOut)
                : SmallFiles(outer: 1, inner: count / SmallFiles.filesPerDirectory)
            let tree = try workshop.tree(of: corpus)
            let store = try workshop.store(of: workshop.archiver, with: corpus)
            let found = try Saves.measure(
                workshop, tree, store: store, count: 100, path: { files.path($0.below(files.count)) })
            let work = "\(Figure.count(count)) files watched: a save → durable, beyond settling"
            return Saves.rows(name, work, workshop, found)
        }
    }
}

/// One changed file in archives of more and more snapshots.
struct GrowthOfSnapshots: Line {
    let name = "growth-snapshots"
    let summary = "one-shot capture of one changed file, with more and more snapshots"
    let diskBytes = 2 << 30

    func run(in workshop: Workshop) throws -> [Row] {
        try sequence(first: 100) { $0 * 10 }.prefix { $0 <= workshop.scale.snapshots }.flatMap { count in
            let place = try workshop.snapshots(count)
            let store = ManySnapshotsArchive.store(in: place)
            let tree = ManySnapshotsArchive.tree(in: place)
            let file = tree.appending(ManySnapshotsArchive.file)
            let contender = Contender(workshop.archiver.name) { round in
                var runs: [Measurement] = []
                for start in 0..<workshop.scale.starts {
                    try TextFile.write("capture \(round) \(start) with \(count)\n", to: file)
                    let before = try TreeSize.bytes(store)
                    var run = try workshop.archiver.capture(tree, into: store).measured()
                    run.storedBytes = try TreeSize.bytes(store) - before
                    runs.append(run)
                }
                runs.sort { $0.seconds < $1.seconds }
                return runs[runs.count / 2]
            }
            return try workshop.contest(
                name, "\(Figure.count(count)) snapshots: one-shot capture of one changed file", [contender])
        }
    }
}
