// Rows in columns: aligned for a person, separated by tabs for a program.

/// Rows of cells.
struct TextTable {
    enum Alignment { case left, right }

    struct Column {
        let title: String
        var alignment = Alignment.left
        var mark: Style.Mark?
    }

    /// Cells, or a line that is none of them.
    private enum Row {
        case cells([String])
        case note(String)
    }

    let columns: [Column]
    private var rows: [Row] = []

    init(_ columns: [Column]) { self.columns = columns }

    mutating func add(_ cells: [String]) { rows.append(.cells(cells)) }

    /// Adds a line that goes across the columns.
    mutating func add(note: String) { rows.append(.note(note)) }

    /// A header and aligned columns; the last one is as wide as it likes.
    func aligned(_ style: Style) -> [String] {
        let widths = columns.indices.map { index in
            rows.reduce(DisplayWidth.of(columns[index].title)) { width, row in
                if case .cells(let cells) = row { max(width, DisplayWidth.of(cells[index])) } else { width }
            }
        }
        let header = line(columns.map(\.title), widths) { _, text in style(.dim, text) }
        return [header]
            + rows.map { row in
                switch row {
                case .note(let text): style(.dim, text)
                case .cells(let cells):
                    line(cells, widths) { column, text in column.mark.map { style($0, text) } ?? text }
                }
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
