// A restore of a captured tree into an empty directory.

internal import SystemPackage

struct RestoreToEmpty: Line {
    let corpus: Corpus
    let terms: CorpusTerms

    init(_ corpus: Corpus, _ terms: CorpusTerms) {
        self.corpus = corpus
        self.terms = terms
    }

    var name: String { "restore-\(corpus.name)" }
    var summary: String { "restore to an empty directory, \(corpus.description)" }
    var diskBytes: Int { 2 * terms.corpusBytes + terms.storeBytes }

    func run(in workshop: Workshop) throws -> [Row] {
        let tree = try workshop.tree(of: corpus)
        let restic = Restic()
        let programs = workshop.installed([workshop.archiver, restic]).compactMap { $0 as? any RestoringProgram }
        var contenders = try programs.map { program in
            let store = try workshop.store(of: program, with: corpus)
            // Other lines may have changed the tree since.
            for command in program.capture(tree, into: store) { try command.run() }
            return Contender(program.name) { _ in
                try workshop.withPlace("restored") { target in
                    let run = try program.restoreLatest(of: tree, from: store, to: target).measuredToDisk(target)
                    try TreeComparison.check(tree, program.restored(tree, in: target))
                    return run
                }
            }
        }
        contenders.append(
            Contender(Floors.copyName) { _ in
                try workshop.withPlace("copy") { try Floors.copy(tree, to: $0).measuredToDisk($0) }
            })
        return try workshop.contest(name, summary, contenders, yardstick: restic.name, goals: terms.restoreGoals)
    }
}
