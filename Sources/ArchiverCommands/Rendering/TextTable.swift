// Rows in columns: aligned for a person, separated by tabs for a program.

/// Rows of cells.
struct TextTable {
    enum Alignment { case left, right }

    struct Column {
        let title: String
        var alignment = Alignment.left
        var mark: Style.Mark?
        /// Where the terminal is too narrow, columns are left out by this, the greatest first; nil to keep it.
        var dispensability: Int?
        /// Whether its cells may be cut where the terminal is too narrow.
        var isElastic = false
    }

    /// Cells, or a line that is none of them.
    private enum Row {
        case cells([String])
        case note(String)
    }

    private(set) var columns: [Column]
    private var rows: [Row] = []

    init(_ columns: [Column]) { self.columns = columns }

    mutating func add(_ cells: [String]) { rows.append(.cells(cells)) }

    /// Adds a line that goes across the columns.
    mutating func add(note: String) { rows.append(.note(note)) }

    /// A header and aligned columns; the last one is as wide as it likes, unless the terminal's `width` is given.
    func aligned(_ style: Style, width: Int? = nil) -> [String] {
        let table = width.map(fitted) ?? self
        let widths = table.widths
        let header = table.line(table.columns.map(\.title), widths) { _, text in style(.dim, text) }
        return [header]
            + table.rows.map { row in
                switch row {
                case .note(let text): style(.dim, text)
                case .cells(let cells):
                    table.line(cells, widths) { column, text in column.mark.map { style($0, text) } ?? text }
                }
            }
    }

    private var widths: [Int] {
        columns.indices.map { index in
            rows.reduce(DisplayWidth.of(columns[index].title)) { width, row in
                if case .cells(let cells) = row { max(width, DisplayWidth.of(cells[index])) } else { width }
            }
        }
    }

    /// The table with columns left out, and then cells cut, until it is at most `width` wide, as far as that can be.
    private func fitted(to width: Int) -> TextTable {
        var table = self
        while table.excess(over: width) > 0,
            let index = table.columns.indices.filter({ table.columns[$0].dispensability != nil })
                .max(by: { (table.columns[$0].dispensability ?? 0) < (table.columns[$1].dispensability ?? 0) })
        {
            table.remove(index)
        }
        while case let excess = table.excess(over: width), excess > 0 {
            let widths = table.widths
            let elastic = table.columns.indices.filter {
                table.columns[$0].isElastic && widths[$0] > table.leastWidth($0)
            }
            guard let widest = elastic.max(by: { widths[$0] < widths[$1] }) else { break }
            table.cut(widest, to: max(table.leastWidth(widest), widths[widest] - excess))
        }
        return table
    }

    private static let leastElasticWidth = 10

    /// How narrow a column may become: its title stays whole.
    private func leastWidth(_ index: Int) -> Int {
        max(TextTable.leastElasticWidth, DisplayWidth.of(columns[index].title))
    }

    private func excess(over width: Int) -> Int { widths.reduce(2 * (columns.count - 1), +) - width }

    private mutating func remove(_ index: Int) {
        columns.remove(at: index)
        rows = rows.map { row in
            guard case .cells(var cells) = row else { return row }
            cells.remove(at: index)
            return .cells(cells)
        }
    }

    private mutating func cut(_ index: Int, to width: Int) {
        rows = rows.map { row in
            guard case .cells(var cells) = row else { return row }
            cells[index] = DisplayWidth.cut(cells[index], to: width)
            return .cells(cells)
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
