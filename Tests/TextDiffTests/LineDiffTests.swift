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
