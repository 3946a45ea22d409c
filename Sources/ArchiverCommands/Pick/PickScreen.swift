// The screen of `archiver pick`: a list that can be filtered, and what the chosen moment changed.

/// What is on the screen, and what keys do to it.
struct PickScreen {
    /// A moment that can be chosen.
    struct Item {
        /// Its number among all.
        let index: Int
        let text: String
    }

    enum Outcome: Equatable {
        case chosen(Int)
        case givenUp
    }

    private let title: String
    private var all: [Item] = []
    private var shown: [Item] = []
    private var filter = ""
    private var position = 0
    private var rows = 24
    /// Whether `all` are all there are.
    private var isWhole = true
    /// Whether the last key asked for the end, wherever that is.
    private var isAtEnd = false

    /// - Parameters:
    ///   - texts: the moments, each in one line.
    ///   - isWhole: whether there are no others.
    init(title: String, _ texts: [String], isWhole: Bool = true) {
        self.title = title
        add(texts, isWhole: isWhole)
    }

    /// Adds moments behind those that are there.
    mutating func add(_ texts: [String], isWhole: Bool) {
        let more = texts.enumerated().map { Item(index: all.count + $0, text: $1) }
        all += more
        shown += matching(more)
        self.isWhole = isWhole
        if isAtEnd { move(by: shown.count) }
    }

    /// Whether moments that were not added yet may be what is looked for.
    var wantsMore: Bool { !isWhole && (isAtEnd || position + 2 * listRows >= shown.count) }

    /// The moment that the cursor is on; nil where the filter leaves none.
    var current: Int? { shown.isEmpty ? nil : shown[position].index }

    /// - Returns: the end, where the key brings it.
    mutating func press(_ key: Key) -> Outcome? {
        isAtEnd = key == .end
        switch key {
        case .up: move(by: -1)
        case .down: move(by: 1)
        case .pageUp: move(by: -listRows)
        case .pageDown: move(by: listRows)
        case .home: move(by: -shown.count)
        case .end: move(by: shown.count)
        case .enter: return current.map { .chosen($0) }
        case .escape:
            if filter.isEmpty { return .givenUp }
            narrow(to: "")
        case .backspace: narrow(to: String(filter.dropLast()))
        case .text(let text): narrow(to: filter + text)
        }
        return nil
    }

    private mutating func move(by count: Int) {
        position = max(0, min(shown.count - 1, position + count))
    }

    /// Shows the moments that have each word of `filter`, and stays at the current one where it is among them.
    private mutating func narrow(to filter: String) {
        let former = current
        self.filter = filter
        shown = matching(all)
        position = shown.firstIndex { $0.index == former } ?? 0
    }

    private func matching(_ items: [Item]) -> [Item] {
        let words = filter.lowercased().split(separator: " ")
        return words.isEmpty ? items : items.filter { item in words.allSatisfy(item.text.lowercased().contains) }
    }

    private var listRows: Int { max(1, (rows - 3) / 2) }

    /// The screen's lines.
    ///
    /// - Parameter preview: what the current moment changed.
    mutating func lines(rows: Int, columns: Int, _ style: Style, preview: [String]) -> [String] {
        self.rows = rows
        let width = columns - 1
        let count = min(listRows, max(1, shown.count))
        let start = max(0, min(position - count / 2, shown.count - count))
        var lines = [
            style(.bold, DisplayWidth.cut(title, to: width)),
            DisplayWidth.cut("> \(filter)", to: width - 12) + "  \(shown.count) of \(all.count)\(isWhole ? "" : "+")",
        ]
        for place in start..<min(shown.count, start + count) {
            let text = DisplayWidth.cut((place == position ? "▸ " : "  ") + shown[place].text, to: width)
            lines.append(place == position ? style(.bold, text) : text)
        }
        if shown.isEmpty {
            lines.append(
                isWhole ? "  no moment matches; Backspace takes back a letter" : "  none yet; looking further back")
        }
        lines.append(style(.dim, String(repeating: "─", count: max(1, width))))
        for line in preview.prefix(max(0, rows - lines.count)) {
            let text = DisplayWidth.cut(line, to: width)
            lines.append(PickScreen.mark(line).map { style($0, text) } ?? text)
        }
        return lines
    }

    /// Colours of a patch.
    private static func mark(_ line: String) -> Style.Mark? {
        switch line.first {
        case "+": .green
        case "-": .red
        case "@": .cyan
        case "~": .yellow
        default: nil
        }
    }
}
