// Checks line diffs by applying them, and against the length of a longest common subsequence.

import TestSupport
import TestTraits
import Testing

@testable import TextDiff

@Suite(.blocking)
struct LineDiffTests {
    @Test("for small texts the edits are correct and the fewest")
    func small() {
        var random = SeededGenerator("small line diffs")
        for _ in 0..<3000 {
            let letters = Int.random(in: 1...5, using: &random)
            let left = sequence(Int.random(in: 0...12, using: &random), letters, &random)
            let right = sequence(Int.random(in: 0...12, using: &random), letters, &random)
            let edits = LineDiff.edits(from: left, to: right)
            #expect(applied(edits, left, right) == right, "seed \(random.seed): \(left) \(right)")
            let kept = left.count - edits.reduce(0) { $0 + $1.left.count }
            #expect(kept == commonLength(left, right), "seed \(random.seed): \(left) \(right)")
        }
    }

    @Test("the edits are correct if the texts have so little in common that the search guesses")
    func large() {
        var random = SeededGenerator("large line diffs")
        for letters in [2, 30, 100_000] {
            let left = sequence(4000, letters, &random)
            let right = sequence(4500, letters, &random)
            let edits = LineDiff.edits(from: left, to: right)
            #expect(applied(edits, left, right) == right, "seed \(random.seed), \(letters) letters")
        }
    }

    @Test("edits are in order and do not touch")
    func order() {
        var random = SeededGenerator("order of line diffs")
        let left = sequence(500, 20, &random)
        let right = sequence(500, 20, &random)
        let edits = LineDiff.edits(from: left, to: right)
        for (edit, next) in zip(edits, edits.dropFirst()) {
            #expect(edit.left.upperBound < next.left.lowerBound, "seed \(random.seed)")
        }
    }

    @Test("texts have the edits of all their lines, with empty ones, equal beginnings and ends, and no last line feed")
    func texts() {
        var random = SeededGenerator("edits of texts")
        for _ in 0..<3000 {
            let left = text(Int.random(in: 0...9, using: &random), &random)
            // Often the same text with a change in the middle.
            var right = Bool.random(using: &random) ? left : text(Int.random(in: 0...9, using: &random), &random)
            if Bool.random(using: &random) {
                let place = Int.random(in: 0...right.count, using: &random)
                right.replaceSubrange(place..<place, with: text(Int.random(in: 0...2, using: &random), &random))
            }
            if Bool.random(using: &random) { right = Array(right.dropLast()) }
            let (old, new) = (lines(left), lines(right))
            var numbers: [[UInt8]: Int] = [:]
            func number(_ line: [UInt8]) -> Int {
                numbers[line] = numbers[line] ?? numbers.count
                return numbers[line] ?? 0
            }
            let all = LineDiff.edits(from: old.map(number), to: new.map(number))
            let found = TextLines.edits(from: TextLines(left), to: TextLines(right))
            #expect(found == all, "seed \(random.seed): \(left) \(right)")
            #expect(TextLines(left).lines.map { Array($0) } == old.map { $0.last == 10 ? $0.dropLast() : $0 })
        }
    }

    @Test("long equal beginnings and ends of a text are skipped, whatever their length")
    func longTexts() {
        for length in [0, 1, 2, 511, 512, 513, 5000] {
            let head = [UInt8](repeating: UInt8(ascii: "a"), count: length)
            let tail = [UInt8](repeating: 10, count: length)
            let (left, right) = (head + Array("\nx\n".utf8) + tail, head + Array("\ny\ny\n".utf8) + tail)
            #expect(
                TextLines.edits(from: TextLines(left), to: TextLines(right)) == [LineEdit(left: 1..<2, right: 1..<3)])
        }
    }

    /// Lines of one or no letter.
    private func text(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
        (0..<count).flatMap { _ in Array(["", "a", "b"].randomElement(using: &random)?.utf8 ?? "".utf8) + [10] }
    }

    /// The lines with their line feeds.
    private func lines(_ text: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for byte in text {
            if lines.last.map({ $0.last == 10 }) ?? true { lines.append([]) }
            lines[lines.count - 1].append(byte)
        }
        return lines
    }

    private func sequence(_ count: Int, _ letters: Int, _ random: inout SeededGenerator) -> [Int] {
        (0..<count).map { _ in Int.random(in: 0..<letters, using: &random) }
    }

    private func applied(_ edits: [LineEdit], _ left: [Int], _ right: [Int]) -> [Int] {
        var result = [Int]()
        var next = 0
        for edit in edits {
            result += left[next..<edit.left.lowerBound]
            result += right[edit.right]
            next = edit.left.upperBound
        }
        return result + left[next...]
    }

    /// The length of a longest common subsequence, computed with the textbook table.
    private func commonLength(_ left: [Int], _ right: [Int]) -> Int {
        var above = [Int](repeating: 0, count: right.count + 1)
        for x in left {
            var row = [0]
            for (index, y) in right.enumerated() {
                row.append(x == y ? above[index] + 1 : max(above[index + 1], row[index]))
            }
            above = row
        }
        return above[right.count]
    }
}
