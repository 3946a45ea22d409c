// The lines of the benchmark: named pieces of work.

/// A piece of work at which programs are measured.
protocol Line {
    /// The name for `--only`; the part before a hyphen selects several lines.
    var name: String { get }
    /// A short description of what is measured.
    var summary: String { get }
    /// The most bytes that the line needs on disk, including its corpora and stores.
    var diskBytes: Int { get }
    func run(in workshop: Workshop) throws -> [Row]
}

/// All lines.
enum Lines {
    /// Returns all lines in the order of execution; later lines use what earlier ones leave behind.
    static func all(_ scale: Scale, tree: Corpus) -> [any Line] {
        let million = Corpus.million(scale)
        let lines: [any Line] = [
            FirstCapture(tree, .ofTree), OneFileChanged(tree, .ofTree), RestoreToEmpty(tree, .ofTree),
            FirstCapture(million, .ofMillion), OneFileChanged(million, .ofMillion), Saves(million),
            SavesBesidePruning(), Marks(million), Arming(million),
            RestoreToEmpty(million, .ofMillion), RestoreInPlace(million), DiffOfTwo(million),
            GitReplay(), SpaceGivenBack(), HistoryQuestions(), GrowthOfFiles(), GrowthOfSnapshots(), ManySnapshots(),
            LongHistoryQuestions(), LargeVersionsQuestions(), Rebuild(.chunks, seconds: 3),
            Rebuild(.labels, seconds: 1), Rebuild(.gaps, seconds: 1),
            StateSaves(), StartUp(), StatusOfRoots(),
            SparseFile(), DenseFile(), ByteInserted(), LinesAppended(), PagesChanged(), CoreLoops(),
            InstructionCounts(), Replication(tree), ReplicatedHistory(), SavesBesideReplicating(),
        ]
        return lines
    }

    /// Returns the lines that `names` select, by full name or by the part before a hyphen.
    ///
    /// - Parameter names: separated by commas; nil for all.
    /// - Throws: `BenchmarkError` if a name selects no line.
    static func chosen(_ names: String?, of lines: [any Line]) throws -> [any Line] {
        guard let names else { return lines }
        let wanted = names.split(separator: ",")
        func fits(_ line: any Line, _ name: Substring) -> Bool { line.name == name || line.name.hasPrefix(name + "-") }
        for name in wanted where !lines.contains(where: { fits($0, name) }) {
            let known = lines.map(\.name).joined(separator: ", ")
            throw BenchmarkError("there is no line '\(name)'; the lines are: \(known)")
        }
        return lines.filter { line in wanted.contains { fits(line, $0) } }
    }
}
