// A capture after one file has changed, without a watcher.

internal import SystemPackage

struct OneFileChanged: Line {
    let corpus: Corpus
    let terms: CorpusTerms

    init(_ corpus: Corpus, _ terms: CorpusTerms) {
        self.corpus = corpus
        self.terms = terms
    }

    var name: String { "change-\(corpus.name)" }
    var summary: String { "one file changed, one-shot capture, \(corpus.description)" }
    var diskBytes: Int { terms.corpusBytes + terms.storeBytes }

    func run(in workshop: Workshop) throws -> [Row] {
        let tree = try workshop.tree(of: corpus)
        let file = try TreeSize.firstFile(below: tree, ofAtLeast: 100)
        let programs = workshop.installed([workshop.archiver] + terms.peers)
        // First capture the current tree with all programs, so that each then finds one change.
        for program in programs {
            let store = try workshop.store(of: program, with: corpus)
            for command in program.capture(tree, into: store) { try command.run() }
        }
        var contenders = try programs.map { program in
            let store = try workshop.store(of: program, with: corpus)
            return Contender(program.name) { round in
                try TextFile.write("\(program.name), round \(round)\n", to: file, appending: true)
                let before = try program.storedBytes(store)
                var run = try program.capture(tree, into: store).measured()
                run.storedBytes = try program.storedBytes(store) - before
                return run
            }
        }
        contenders.append(Contender(Floors.findName) { _ in try Floors.find(tree).measured() })
        return try workshop.contest(name, summary, contenders, yardstick: Floors.findName, goals: terms.changeGoals)
    }
}
