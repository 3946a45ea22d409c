// Wraps paragraphs and lists to the width of the terminal.

/// Wraps text at blanks.
enum TextWrap {
    /// `text` with lines of at most `columns`; only longer words exceed that.
    ///
    /// A line that begins with a blank is a list item: a term, at least two blanks, and a description, which is wrapped
    /// below itself.
    static func wrapped(_ text: String, to columns: Int) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { line in
                if DisplayWidth.of(String(line)) <= columns { return String(line) }
                return line.hasPrefix(" ") ? item(line, columns) : paragraph(line, columns).joined(separator: "\n")
            }
            .joined(separator: "\n")
    }

    private static func item(_ line: Substring, _ columns: Int) -> String {
        guard let gap = line.dropFirst(2).ranges(of: "  ").last?.upperBound else {
            return "  " + paragraph(line, columns - 4).joined(separator: "\n    ")
        }
        // The gap may have an odd number of blanks.
        let start = line[gap...].firstIndex { $0 != " " } ?? gap
        let column = line.distance(from: line.startIndex, to: start)
        let lines = paragraph(line[start...], max(columns - column, 16))
        return line[..<start] + lines.joined(separator: "\n" + String(repeating: " ", count: column))
    }

    private static func paragraph(_ text: Substring, _ columns: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, DisplayWidth.of(line) + 1 + DisplayWidth.of(String(word)) > columns {
                lines.append(line)
                line = String(word)
            } else {
                line += (line.isEmpty ? "" : " ") + word
            }
        }
        return lines + [line]
    }
}
