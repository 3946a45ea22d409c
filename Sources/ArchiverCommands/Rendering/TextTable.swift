// Rows in columns: aligned for a person, separated by tabs for a program.

/// Rows of cells.
struct TextTable {
    enum Alignment { case left, right }

    struct Column {
        let title: String
        var alignment = Alignment.left
        var mark: Style.Mark?
    }

    let columns: [Column]
    private var rows: [[String]] = []

    init(_ columns: [Column]) { self.columns = columns }

    mutating func add(_ row: [String]) { rows.append(row) }

    /// A header and aligned columns; the last one is as wide as it likes.
    func aligned(_ style: Style) -> [String] {
        let widths = columns.indices.map { index in
            rows.reduce(DisplayWidth.of(columns[index].title)) { max($0, DisplayWidth.of($1[index])) }
        }
        let header = line(columns.map(\.title), widths) { _, text in style(.dim, text) }
        return [header]
            + rows.map { row in
                line(row, widths) { column, text in column.mark.map { style($0, text) } ?? text }
            }
    }

    /// Cells separated by tabs, without a header.
    static func plain(_ cells: [String]) -> String { cells.joined(separator: "\t") }

    private func line(_ cells: [String], _ widths: [Int], _ marked: (Column, String) -> String) -> String {
        // Empty cells at the end leave no blanks behind.
        guard let last = cells.lastIndex(where: { !$0.isEmpty }) else { return "" }
        return cells.indices.prefix(through: last).map { index in
            let column = columns[index]
            let blanks = String(repeating: " ", count: widths[index] - DisplayWidth.of(cells[index]))
            let text = marked(column, cells[index])
            return column.alignment == .right ? blanks + text : index == last ? text : text + blanks
        }.joined(separator: "  ")
    }
}
