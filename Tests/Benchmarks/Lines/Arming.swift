// Starting a watcher of a tree whose current state is in the archive.

internal import SystemPackage

struct Arming: Line {
    let corpus: Corpus

    init(_ corpus: Corpus) { self.corpus = corpus }

    var name: String { "arming" }
    var summary: String { "arming the watch, nothing changed, \(corpus.description)" }
    var diskBytes: Int { 8 << 30 }

    func run(in workshop: Workshop) throws -> [Row] {
        let tree = try workshop.tree(of: corpus)
        let store = try workshop.store(of: workshop.archiver, with: corpus)
        for command in workshop.archiver.capture(tree, into: store) { try command.run() }
        var contenders = [
            Contender(workshop.archiver.name) { _ in
                let watching = try WatchingArchiver(workshop.archiver, tree, store: store)
                try watching.wait(for: "watching")
                let seconds = watching.seconds
                let whole = try watching.end()
                return Measurement(
                    seconds: seconds, processorSeconds: whole.processorSeconds, peakBytes: whole.peakBytes)
            }
        ]
        if Watchman.isInstalled {
            contenders.append(
                Contender(Watchman.name) { _ in
                    try workshop.withPlace("watchman") { try Watchman.arm(tree, place: $0) }
                })
        } else {
            workshop.say("no watchman here: left out")
        }
        contenders.append(Contender(Floors.findName) { _ in try Floors.find(tree).measured() })
        var rows = try workshop.contest(
            name, summary, contenders, yardstick: Watchman.name,
            goals: [.time(times: 0.5, of: Watchman.name), .memory(bytes: 100 << 20)])
        rows[0].note = "every file compared with the latest snapshot"
        return rows
    }
}
