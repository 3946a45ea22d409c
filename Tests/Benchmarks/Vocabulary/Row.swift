// One program's result at one piece of work: a row of the table.

/// The cost of one piece of work for one program.
struct Row: Codable, Equatable {
    /// The line of the benchmark that the row is part of, as `--only` names it.
    let line: String
    /// The work.
    let work: String
    /// The program that did it.
    let program: String
    /// All runs.
    let runs: [Measurement]
    /// The median wall time of the runs; nil if time was not measured.
    var seconds: Double?
    /// Processor instructions of one operation.
    var instructions: Int?
    /// The program whose time at the same work is the reference.
    var yardstick: String?
    /// The goals for this row.
    var goals: [Goal] = []
    /// A remark in the last column.
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

    /// Joins the rows of a program at the same work; the runs of all of them count.
    static func merging(_ rows: [Row]) -> [Row] {
        var merged: [Row] = []
        var times: [[Double]] = []
        for row in rows {
            if let index = merged.firstIndex(where: {
                $0.line == row.line && $0.work == row.work && $0.program == row.program
            }) {
                let former = merged[index]
                merged[index] = Row(
                    row.line, row.work, row.program, former.runs + row.runs, yardstick: former.yardstick,
                    goals: former.goals, note: former.note)
                merged[index].instructions = former.instructions ?? row.instructions
                times[index] += [row.seconds].compactMap(\.self)
            } else {
                let last = merged.lastIndex { $0.line == row.line && $0.work == row.work }
                let place = last.map { $0 + 1 } ?? merged.count
                merged.insert(row, at: place)
                times.insert([row.seconds].compactMap(\.self), at: place)
            }
        }
        // Some rows have another figure than the median of their runs.
        for index in merged.indices { merged[index].seconds = times[index].median }
        return merged
    }

    /// The median processor time of the runs; nil if it was not measured.
    var processorSeconds: Double? { runs.map(\.processorSeconds).median.flatMap { $0 > 0 ? $0 : nil } }

    /// The highest memory of all runs, in bytes; nil if it was not measured.
    var peakBytes: Int? { runs.map(\.peakBytes).max().flatMap { $0 > 0 ? $0 : nil } }

    /// The median of the stored bytes of the runs.
    var storedBytes: Int? { runs.compactMap { $0.storedBytes.map(Double.init) }.median.map { Int($0) } }

    /// This program's time as a multiple of the yardstick's.
    ///
    /// - Parameter rows: the rows that contain the yardstick.
    func ratio(among rows: [Row]) -> Double? {
        guard let yardstick, yardstick != program else { return nil }
        return ratio(to: yardstick, among: rows, \.seconds)
    }

    /// This row's figure as a multiple of another program's at the same work; nil if either is missing.
    func ratio(to program: String, among rows: [Row], _ figure: (Row) -> Double?) -> Double? {
        let other = rows.first { $0.line == line && $0.work == work && $0.program == program }
        guard let own = figure(self), let other = other.flatMap(figure), other > 0 else { return nil }
        return own / other
    }
}
