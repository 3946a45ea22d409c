// The rows as a table in Markdown, for terminals and for the README.

/// A table with a header; every column is as wide as its widest cell.
struct Table {
    let header: [String]
    private(set) var rows: [[String]] = []

    init(_ header: [String]) { self.header = header }

    mutating func add(_ cells: [String]) { rows.append(cells) }

    /// The table in Markdown, one line per row.
    var markdown: String {
        let columns = header.indices
        let widths = columns.map { column in ([header] + rows).map { $0[column].count }.max() ?? 0 }
        func line(_ cells: [String]) -> String {
            let padded = columns.map { cells[$0] + String(repeating: " ", count: widths[$0] - cells[$0].count) }
            return "| " + padded.joined(separator: " | ") + " |\n"
        }
        let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|\n"
        return line(header) + rule + rows.map(line).joined()
    }
}

extension Table {
    /// The table of results: one row per program, with the work named once.
    init(of rows: [Row]) {
        self.init(["work", "program", "time", "ratio", "processor", "peak memory", "stored", "goal", "note"])
        var work = ""
        for row in rows {
            let ratio = row.ratio(among: rows).flatMap { ratio in
                row.yardstick.map { "\(Figure.number(ratio)) × \($0)" }
            }
            let time = row.instructions.map { "\(Figure.count($0)) instructions" } ?? row.seconds.map(Figure.time)
            let verdicts = row.goals.map { Table.verdict($0, row, rows) }.joined(separator: "; ")
            add([
                row.work == work ? "" : row.work, row.program, time ?? "", ratio ?? "",
                row.processorSeconds.map(Figure.time) ?? "", row.peakBytes.map(Figure.bytes) ?? "",
                row.storedBytes.map(Figure.bytes) ?? "", verdicts, row.note,
            ])
            work = row.work
        }
    }

    private static func verdict(_ goal: Goal, _ row: Row, _ rows: [Row]) -> String {
        switch goal.isReached(by: row, among: rows) {
        case true?: "\(goal): yes"
        case false?: "\(goal): **no**"
        case nil: "\(goal): ?"
        }
    }
}
