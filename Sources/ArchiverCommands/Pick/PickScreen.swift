// The screen of `archiver pick`: a list that can be filtered, and the changes of the selected moment.

/// The state of the screen and its reaction to keys.
struct PickScreen {
    /// A moment that can be chosen.
    struct Item {
        /// Its position among all moments.
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
    /// Whether `all` contains every moment.
    private var isWhole = true
    /// Whether the last key was End, so that the cursor follows moments that are added.
    private var isAtEnd = false

    /// - Parameters:
    ///   - texts: one line for each moment.
    ///   - isWhole: whether these are all moments.
    init(title: String, _ texts: [String], isWhole: Bool = true) {
        self.title = title
        add(texts, isWhole: isWhole)
    }

    /// Appends moments.
    mutating func add(_ texts: [String], isWhole: Bool) {
        let more = texts.enumerated().map { Item(index: all.count + $0, text: $1) }
        all += more
        shown += matching(more)
        self.isWhole = isWhole
        if isAtEnd { move(by: shown.count) }
    }

    /// Whether more moments should be read: the cursor is near the end of the list.
    var wantsMore: Bool { !isWhole && (isAtEnd || position + 2 * listRows >= shown.count) }

    /// The selected moment; nil if none matches the filter.
    var current: Int? { shown.isEmpty ? nil : shown[position].index }

    /// Handles a key.
    ///
    /// - Returns: the outcome if the key ends the selection.
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

    /// Shows the moments that contain each word of `filter`, and keeps the selected one if it is among them.
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
    /// - Parameter preview: the changes of the selected moment.
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
                isWhole ? "  no snapshot matches; Backspace deletes a letter" : "  none yet; searching further back")
        }
        lines.append(style(.dim, String(repeating: "─", count: max(1, width))))
        for line in preview.prefix(max(0, rows - lines.count)) {
            let text = DisplayWidth.cut(line, to: width)
            lines.append(PickScreen.mark(line).map { style($0, text) } ?? text)
        }
        return lines
    }

    /// The colour of a line of a patch.
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
