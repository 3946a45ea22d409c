// Splits a file of patterns into lines, as git's dir.c does.

/// The pattern lines of a file, without comments, empty lines, line endings and trailing blanks.
enum PatternLines {
    /// Splits `text` into pattern lines.
    ///
    /// Ignored are a UTF-8 byte order mark at the beginning, a CR before an LF, a line's unescaped trailing blanks, and
    /// anything after a NUL in a line. `#` begins a comment only at the beginning of a line.
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

    /// `line` without its trailing spaces; a space after a backslash stays.
    private static func withoutTrailingBlanks(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var end = line.startIndex
        var index = line.startIndex
        while index < line.endIndex {
            switch line[index] {
            case UInt8(ascii: " "): index += 1
            case UInt8(ascii: "\\"):
                // With a backslash at the very end the pattern is invalid, with or without spaces.
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
