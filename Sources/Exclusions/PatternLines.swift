// A file of patterns cut into lines, as git's dir.c cuts it.

/// The pattern lines of a file: no comments, no empty lines, no line ends, no blanks at the end.
enum PatternLines {
    /// Cuts `text` into pattern lines.
    ///
    /// A UTF-8 byte order mark at the beginning, a CR before an LF and a line's unescaped blanks at its end do not count;
    /// what follows a NUL in a line does not either. `#` begins a comment at the beginning of a line only.
    static func split(_ text: [UInt8]) -> [ArraySlice<UInt8>] {
        let body = text.starts(with: byteOrderMark) ? text.dropFirst(byteOrderMark.count) : text[...]
        return body.split(separator: UInt8(ascii: "\n")).compactMap { line in
            if line.first == UInt8(ascii: "#") { return nil }
            let whole = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            let pattern = withoutTrailingBlanks(whole.prefix { $0 != 0 })
            return pattern.isEmpty ? nil : pattern
        }
    }

    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    /// `line` without the spaces at its end; a space behind a backslash stays.
    private static func withoutTrailingBlanks(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var end = line.startIndex
        var index = line.startIndex
        while index < line.endIndex {
            switch line[index] {
            case UInt8(ascii: " "): index += 1
            case UInt8(ascii: "\\"):
                // A backslash at the very end: the pattern is invalid, spaces or not.
                index += 2
                if index > line.endIndex { return line }
                end = index
            default:
                index += 1
                end = index
            }
        }
        return line[..<end]
    }
}
