// Rows in columns: aligned for a person, separated by tabs for a program.

/// Rows of cells.
struct TextTable {
    enum Alignment { case left, right }

    struct Column {
        let title: String
        var alignment = Alignment.left
        var mark: Style.Mark?
        /// The rank for dropping columns on a narrow terminal, the highest first; nil to never drop the column.
        var dispensability: Int?
        /// Whether its cells can be cut on a narrow terminal.
        var isElastic = false
    }

    /// A row of cells, or a line across all columns.
    private enum Row {
        case cells([String])
        case note(String)
    }

    private(set) var columns: [Column]
    private var rows: [Row] = []

    init(_ columns: [Column]) { self.columns = columns }

    mutating func add(_ cells: [String]) { rows.append(.cells(cells)) }

    /// Adds a line across all columns.
    mutating func add(note: String) { rows.append(.note(note)) }

    /// The header and the aligned rows; at most `width` columns wide if that is given and possible.
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

    /// The table with columns dropped, and then cells cut, until it is at most `width` wide or cannot be narrowed.
    private func fitted(to width: Int) -> TextTable {
        var table = self
        // A column without any text, such as that of labels if there are none, says nothing.
        while table.excess(over: width) > 0, let index = table.columns.indices.last(where: table.isEmptyElastic) {
            table.remove(index)
        }
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

    private func isEmptyElastic(_ index: Int) -> Bool {
        columns[index].isElastic
            && rows.allSatisfy { row in if case .cells(let cells) = row { cells[index].isEmpty } else { true } }
    }

    private static let leastElasticWidth = 10

    /// The minimum width of a column; its title is never cut.
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
            // The end of an absolute path says more than its beginning.
            cells[index] =
                cells[index].hasPrefix("/")
                ? String(DisplayWidth.cut(String(cells[index].reversed()), to: width).reversed())
                : DisplayWidth.cut(cells[index], to: width)
            return .cells(cells)
        }
    }

    /// Cells separated by tabs, without a header.
    static func plain(_ cells: [String]) -> String { cells.joined(separator: "\t") }

    private func line(_ cells: [String], _ widths: [Int], _ marked: (Column, String) -> String) -> String {
        // Empty cells at the end add no trailing blanks.
        guard let last = cells.lastIndex(where: { !$0.isEmpty }) else { return "" }
        return cells.indices.prefix(through: last).map { index in
            let column = columns[index]
            let blanks = String(repeating: " ", count: widths[index] - DisplayWidth.of(cells[index]))
            let text = marked(column, cells[index])
            return column.alignment == .right ? blanks + text : index == last ? text : text + blanks
        }.joined(separator: "  ")
    }
}
