// The first capture of a tree into a new store.

internal import SystemPackage

struct FirstCapture: Line {
    let corpus: Corpus
    let terms: CorpusTerms

    init(_ corpus: Corpus, _ terms: CorpusTerms) {
        self.corpus = corpus
        self.terms = terms
    }

    var name: String { "first-\(corpus.name)" }
    var summary: String { "first capture, \(corpus.description)" }
    var diskBytes: Int { 2 * terms.corpusBytes + terms.storeBytes }

    func run(in workshop: Workshop) throws -> [Row] {
        let tree = try workshop.tree(of: corpus)
        let programs = workshop.installed([workshop.archiver] + terms.peers)
        var contenders = programs.map { program in
            Contender(program.name) { _ in
                let store = workshop.place("store")
                try program.create(store)
                var run = try program.capture(tree, into: store).measured()
                run.storedBytes = try program.storedBytes(store)
                workshop.keep(store, of: program, with: corpus)
                return run
            }
        }
        if Floors.hasZstd {
            contenders.append(
                Contender(Floors.tarName) { _ in
                    try workshop.withPlace("tar") { target in
                        var run = try Floors.tar(tree, to: target).measured()
                        run.storedBytes = try TreeSize.file(target)
                        return run
                    }
                })
        }
        contenders.append(Contender(Floors.walkName) { _ in try Floors.walk(tree).measured() })
        contenders.append(Contender(Floors.packName) { _ in try Floors.pack(tree).measured() })
        contenders.append(
            Contender(Floors.copyName) { _ in
                try workshop.withPlace("copy") { try Floors.copy(tree, to: $0).measured() }
            })
        return try workshop.contest(name, summary, contenders, yardstick: "restic", goals: terms.firstGoals)
    }
}
