// Splits a file's bytes into lines.

/// Lines of a text, without their line feeds.
package struct TextLines {
    package let lines: [ArraySlice<UInt8>]
    /// Whether the last line ends with a line feed; true for an empty text.
    package let isTerminated: Bool

    private static let lineFeed = UInt8(ascii: "\n")
    /// The number of leading bytes searched for a NUL, as in git.
    private static let sniffedBytes = 8000

    package init(_ bytes: [UInt8]) {
        var lines = bytes.split(separator: TextLines.lineFeed, omittingEmptySubsequences: false)
        isTerminated = lines.last?.isEmpty ?? true
        if isTerminated { lines.removeLast() }
        self.lines = lines
    }

    /// Whether `bytes` are binary data, not text.
    package static func isBinary(_ bytes: [UInt8]) -> Bool { bytes.prefix(sniffedBytes).contains(0) }

    /// Numbers the lines of two texts so that two lines have the same number exactly if they are equal.
    package static func numbers(_ left: TextLines, _ right: TextLines) -> (left: [Int], right: [Int]) {
        var numbers: [ArraySlice<UInt8>: Int] = [:]
        func number(_ text: TextLines) -> [Int] {
            text.lines.indices.map { index in
                let line = text.lines[index]
                let next = numbers.count
                let number = numbers[line, default: next]
                if number == next { numbers[line] = next }
                // A last line without a line feed differs from the same line with one.
                let isOpen = !text.isTerminated && index == text.lines.count - 1
                return isOpen ? -1 - number : number
            }
        }
        return (number(left), number(right))
    }
}
