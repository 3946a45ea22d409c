// One program's result at one piece of work: a row of the table.

/// What one program needed for one piece of work.
struct Row: Codable, Equatable {
    /// The line of the benchmark that the row is part of, as `--only` names it.
    let line: String
    /// What was done.
    let work: String
    /// Who did it.
    let program: String
    /// Every run.
    let runs: [Measurement]
    /// Wall time, the median of the runs; nil where time was not the question.
    var seconds: Double?
    /// Processor instructions of one operation.
    var instructions: Int?
    /// The program of the same work that times are compared with.
    var yardstick: String?
    /// What was to be reached.
    var goals: [Goal] = []
    /// What else is to be said.
    var note = ""

    init(
        _ line: String, _ work: String, _ program: String, _ runs: [Measurement], yardstick: String? = nil,
        goals: [Goal] = [], note: String = ""
    ) {
        self.line = line
        self.work = work
        self.program = program
        self.runs = runs
        self.yardstick = yardstick
        self.goals = goals
        self.note = note
        seconds = runs.map(\.seconds).median
    }

    /// Processor time, the median of the runs; nil where none was measured.
    var processorSeconds: Double? { runs.map(\.processorSeconds).median.flatMap { $0 > 0 ? $0 : nil } }

    /// The most memory of all runs, in bytes; nil where none was measured.
    var peakBytes: Int? { runs.map(\.peakBytes).max().flatMap { $0 > 0 ? $0 : nil } }

    /// Stored bytes, the median of the runs.
    var storedBytes: Int? { runs.compactMap { $0.storedBytes.map(Double.init) }.median.map { Int($0) } }

    /// How many times the yardstick's time this program needed.
    ///
    /// - Parameter rows: among which the yardstick is looked for.
    func ratio(among rows: [Row]) -> Double? {
        guard let yardstick, yardstick != program else { return nil }
        return ratio(to: yardstick, among: rows, \.seconds)
    }

    /// This row's figure in terms of that of another program at the same work; nil where either is missing.
    func ratio(to program: String, among rows: [Row], _ figure: (Row) -> Double?) -> Double? {
        let other = rows.first { $0.line == line && $0.work == work && $0.program == program }
        guard let own = figure(self), let other = other.flatMap(figure), other > 0 else { return nil }
        return own / other
    }
}
