// The lines of the benchmark: each a piece of work with a name.

/// A piece of work that programs are measured at.
protocol Line {
    /// As `--only` names it; a part up to a hyphen names several.
    var name: String { get }
    /// What is measured, in a few words.
    var summary: String { get }
    /// Bytes that the line's work takes on disk at most, its corpora and stores included.
    var diskBytes: Int { get }
    func run(in workshop: Workshop) throws -> [Row]
}

/// All lines.
enum Lines {
    /// All lines in the order in which they are run: what one leaves behind, the next ones use.
    static func all(_ scale: Scale, tree: Corpus) -> [any Line] {
        let million = Corpus.million(scale)
        let lines: [any Line] = [
            FirstCapture(tree, .ofTree), OneFileChanged(tree, .ofTree), RestoreToEmpty(tree, .ofTree),
            FirstCapture(million, .ofMillion), OneFileChanged(million, .ofMillion), Saves(million),
            SavesBesidePruning(), Marks(million), Arming(million),
            RestoreToEmpty(million, .ofMillion), RestoreInPlace(million), DiffOfTwo(million),
            GitReplay(), SpaceGivenBack(), HistoryQuestions(), GrowthOfFiles(), GrowthOfSnapshots(), ManySnapshots(),
            LongHistoryQuestions(), LargeVersionsQuestions(), Rebuild(),
            StateSaves(), StartUp(), StatusOfRoots(),
            SparseFile(), DenseFile(), ByteInserted(), LinesAppended(), PagesChanged(), CoreLoops(),
            InstructionCounts(),
        ]
        return lines
    }

    /// Those of `lines` that `names` ask for: whole names, or what stands before a hyphen.
    ///
    /// - Parameter names: separated by commas; nil for all.
    /// - Throws: where a name fits no line.
    static func chosen(_ names: String?, of lines: [any Line]) throws -> [any Line] {
        guard let names else { return lines }
        let wanted = names.split(separator: ",")
        func fits(_ line: any Line, _ name: Substring) -> Bool { line.name == name || line.name.hasPrefix(name + "-") }
        for name in wanted where !lines.contains(where: { fits($0, name) }) {
            let known = lines.map(\.name).joined(separator: ", ")
            throw BenchmarkError("no line is called '\(name)'; there are: \(known)")
        }
        return lines.filter { line in wanted.contains { fits(line, $0) } }
    }
}
