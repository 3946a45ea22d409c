// Splits a file's bytes into lines.

internal import Glibc

/// Lines of a text, without their line feeds.
package struct TextLines: Sendable {
    package let lines: Lines
    /// Whether the last line ends with a line feed; true for an empty text.
    package let isTerminated: Bool

    private static let lineFeed = UInt8(ascii: "\n")
    /// The number of leading bytes searched for a NUL, as in git.
    private static let sniffedBytes = 8000

    package init(_ bytes: [UInt8]) {
        lines = Lines(bytes)
        isTerminated = bytes.last.map { $0 == TextLines.lineFeed } ?? true
    }

    /// Whether `bytes` are binary data, not text.
    package static func isBinary(_ bytes: [UInt8]) -> Bool { bytes.prefix(sniffedBytes).contains(0) }

    /// The edits that turn the lines of `old` into those of `new`, in order.
    ///
    /// A last line without a line feed differs from the same line with one.
    package static func edits(from old: TextLines, to new: TextLines) -> [LineEdit] {
        if old.lines.bytes == new.lines.bytes { return [] }
        // Most versions of a text differ in a few lines: only those between the common beginning and end are numbered.
        let head = Lines.commonHead(old.lines, new.lines)
        let tail = Lines.commonTail(old.lines, new.lines, after: head)
        var numbers: [ArraySlice<UInt8>: Int] = [:]
        func numbered(_ text: TextLines) -> [Int] {
            (head..<(text.lines.count - tail)).map { index in
                let next = numbers.count
                let number = numbers[text.lines[index], default: next]
                if number == next { numbers[text.lines[index]] = next }
                let isOpen = !text.isTerminated && index == text.lines.count - 1
                return isOpen ? -1 - number : number
            }
        }
        return LineDiff.edits(from: numbered(old), to: numbered(new)).map { edit in
            LineEdit(
                left: (edit.left.lowerBound + head)..<(edit.left.upperBound + head),
                right: (edit.right.lowerBound + head)..<(edit.right.upperBound + head))
        }
    }

    /// The lines as a collection that holds the text once, and a number for each line.
    package struct Lines: RandomAccessCollection, Sendable {
        fileprivate let bytes: [UInt8]
        /// Where each line starts, and where a line after the last one would.
        private let starts: [Int]

        fileprivate init(_ bytes: [UInt8]) {
            self.bytes = bytes
            var starts = [0]
            bytes.withUnsafeBytes { text in
                guard let base = text.baseAddress else { return }
                var start = 0
                while start < text.count {
                    guard let feed = memchr(base + start, CInt(TextLines.lineFeed), text.count - start) else {
                        // As if there were a line feed.
                        return starts.append(text.count + 1)
                    }
                    start = UnsafeRawPointer(feed) - base + 1
                    starts.append(start)
                }
            }
            self.starts = starts
        }

        package var startIndex: Int { 0 }
        package var endIndex: Int { starts.count - 1 }

        package subscript(index: Int) -> ArraySlice<UInt8> { bytes[starts[index]..<(starts[index + 1] - 1)] }

        /// The number of equal lines at the beginning of two different texts.
        fileprivate static func commonHead(_ old: Lines, _ new: Lines) -> Int {
            let equal = old.bytes.withUnsafeBytes { left in
                new.bytes.withUnsafeBytes { right in
                    let most = Swift.min(left.count, right.count)
                    var place = 0
                    while place + block <= most, areEqual(left, place, right, place) { place += block }
                    while place < most, left[place] == right[place] { place += 1 }
                    return place
                }
            }
            // A line belongs to it if its line feed does.
            return firstIndex(in: old.starts) { $0 > equal } - 1
        }

        /// The number of equal lines at the end of two different texts, of which the first `head` lines are equal.
        fileprivate static func commonTail(_ old: Lines, _ new: Lines, after head: Int) -> Int {
            let most = Swift.min(old.bytes.count - old.starts[head], new.bytes.count - new.starts[head])
            let equal = old.bytes.withUnsafeBytes { left in
                new.bytes.withUnsafeBytes { right in
                    var count = 0
                    while count + block <= most,
                        areEqual(left, left.count - count - block, right, right.count - count - block)
                    {
                        count += block
                    }
                    while count < most, left[left.count - count - 1] == right[right.count - count - 1] { count += 1 }
                    return count
                }
            }
            // A line belongs to it if the line feed before it does, too.
            let first = firstIndex(in: old.starts) { $0 > old.bytes.count - equal }
            return Swift.max(0, old.count - first)
        }

        /// The number of bytes compared at once.
        private static let block = 1024

        private static func areEqual(
            _ left: UnsafeRawBufferPointer, _ leftStart: Int, _ right: UnsafeRawBufferPointer, _ rightStart: Int
        ) -> Bool {
            guard let left = left.baseAddress, let right = right.baseAddress else { return false }
            return memcmp(left + leftStart, right + rightStart, block) == 0
        }

        /// The first index whose number matches, in a sorted array of which all numbers after a match match, too.
        private static func firstIndex(in sorted: [Int], where matches: (Int) -> Bool) -> Int {
            var (low, high) = (0, sorted.count)
            while low < high {
                let middle = (low + high) / 2
                if matches(sorted[middle]) { high = middle } else { low = middle + 1 }
            }
            return low
        }
    }
}
