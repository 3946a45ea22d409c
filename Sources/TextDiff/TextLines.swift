// Splits a file's bytes into lines.

internal import FileIO
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
    package static func isBinary(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.firstIndex(of: 0, in: 0..<min(sniffedBytes, bytes.count)) != nil
    }

    /// Whether `bytes` are binary data, not text.
    package static func isBinary(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { isBinary($0) } }

    /// The edits that turn the lines of `old` into those of `new`, in order.
    ///
    /// A last line without a line feed differs from the same line with one.
    package static func edits(from old: TextLines, to new: TextLines) -> [LineEdit] {
        if old.lines.bytes == new.lines.bytes { return [] }
        // Most versions of a text differ in a few lines: only those between the common beginning and end are numbered.
        let head = Lines.commonHead(old.lines, new.lines)
        let tail = Lines.commonTail(old.lines, new.lines, after: head)
        let middle = (old: head..<(old.lines.count - tail), new: head..<(new.lines.count - tail))
        var numbers = LineNumbers(old.lines, new.lines, count: middle.old.count + middle.new.count)
        func numbered(_ text: TextLines, _ range: Range<Int>, isNew: Bool) -> [Int] {
            range.map { index in
                let number = numbers.number(of: index, isNew: isNew)
                let isOpen = !text.isTerminated && index == text.lines.count - 1
                return isOpen ? -1 - number : number
            }
        }
        return LineDiff.edits(from: numbered(old, middle.old, isNew: false), to: numbered(new, middle.new, isNew: true))
            .map { edit in
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
                var start = 0
                while start < text.count {
                    // As if there were a line feed at the end.
                    start = (text.firstIndex(of: TextLines.lineFeed, in: start..<text.count) ?? text.count) + 1
                    starts.append(start)
                }
            }
            self.starts = starts
        }

        package var startIndex: Int { 0 }
        package var endIndex: Int { starts.count - 1 }

        package subscript(index: Int) -> ArraySlice<UInt8> { bytes[starts[index]..<(starts[index + 1] - 1)] }

        /// A hash of a line's bytes: words of eight bytes, multiplied and mixed one after the other.
        fileprivate func hash(of index: Int, seed: UInt64) -> UInt64 {
            bytes.withUnsafeBytes { text in
                var hash = seed
                func mix(_ word: UInt64) {
                    hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
                    hash ^= hash >> 32
                }
                var place = starts[index]
                let end = starts[index + 1] - 1
                while place + 8 <= end {
                    mix(text.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                    place += 8
                }
                var rest = UInt64(end - starts[index]) << 56
                while place < end {
                    rest = rest << 8 | UInt64(text[place])
                    place += 1
                }
                mix(rest)
                return hash
            }
        }

        fileprivate static func areEqual(_ left: Lines, _ leftIndex: Int, _ right: Lines, _ rightIndex: Int) -> Bool {
            let (start, other) = (left.starts[leftIndex], right.starts[rightIndex])
            let count = left.starts[leftIndex + 1] - 1 - start
            guard right.starts[rightIndex + 1] - 1 - other == count else { return false }
            return left.bytes.withUnsafeBytes { first in
                right.bytes.withUnsafeBytes { second in
                    guard count > 0, let one = first.baseAddress, let two = second.baseAddress else { return true }
                    return memcmp(one + start, two + other, count) == 0
                }
            }
        }

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

/// Numbers lines, equal ones alike: a hash table with open addressing (Knuth, "The Art of Computer Programming", 6.4).
///
/// It holds no copies of lines; a dictionary of them takes twenty times as long for a text of some MiB.
private struct LineNumbers {
    /// A place in the table: 1 plus an index in `firsts`; 0 if it is free.
    private var places: [Int32]
    /// The first line of each number, and half of its hash.
    private var firsts: [(index: Int32, isNew: Bool, hash: UInt32)] = []
    private let old: TextLines.Lines
    private let new: TextLines.Lines

    /// Nobody can prepare texts whose lines have equal hashes.
    private static let seed = UInt64.random(in: 0 ... .max)

    /// - Parameter count: the most lines that will be numbered.
    init(_ old: TextLines.Lines, _ new: TextLines.Lines, count: Int) {
        (self.old, self.new) = (old, new)
        var capacity = 16
        while capacity < 2 * count { capacity *= 2 }
        places = Array(repeating: 0, count: capacity)
    }

    mutating func number(of index: Int, isNew: Bool) -> Int {
        let hash = (isNew ? new : old).hash(of: index, seed: LineNumbers.seed)
        let half = UInt32(hash >> 32)
        var place = Int(truncatingIfNeeded: hash) & (places.count - 1)
        while places[place] != 0 {
            let number = Int(places[place]) - 1
            let first = firsts[number]
            if first.hash == half,
                TextLines.Lines.areEqual(first.isNew ? new : old, Int(first.index), isNew ? new : old, index)
            {
                return number
            }
            place = (place + 1) & (places.count - 1)
        }
        firsts.append((Int32(index), isNew, half))
        places[place] = Int32(firsts.count)
        return firsts.count - 1
    }
}
