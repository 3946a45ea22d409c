// Finds the lines that differ between two texts: Myers' algorithm in linear space, with a bound on the work.
//
// Eugene W. Myers, "An O(ND) Difference Algorithm and Its Variations", Algorithmica 1 (1986), section 4b. If two texts
// have little in common, the search stops after a number of rounds and guesses the middle of the path. The result is
// still a correct script, but maybe not the shortest.

/// A range of lines on the left and the range on the right that replaces it; one of them may be empty.
package struct LineEdit: Equatable {
    package var left: Range<Int>
    package var right: Range<Int>
}

/// Compares two sequences of line numbers, in which equal lines have equal numbers.
package struct LineDiff {
    private let left: [Int]
    private let right: [Int]
    private var leftChanged: [Bool]
    private var rightChanged: [Bool]
    /// The furthest point on each diagonal, of the forward and the backward search.
    private var forward: [Int]
    private var backward: [Int]
    /// The offset from a diagonal's number to its index in these arrays.
    private let origin: Int
    /// The number of rounds after which a search guesses.
    private let patience: Int

    /// The edits that turn `left` into `right`, in order.
    package static func edits(from left: [Int], to right: [Int]) -> [LineEdit] {
        var diff = LineDiff(left, right)
        diff.compare(left.indices, right.indices)
        return diff.edits
    }

    private init(_ left: [Int], _ right: [Int]) {
        self.left = left
        self.right = right
        leftChanged = Array(repeating: false, count: left.count)
        rightChanged = Array(repeating: false, count: right.count)
        let diagonals = left.count + right.count + 3
        forward = Array(repeating: 0, count: diagonals)
        backward = Array(repeating: 0, count: diagonals)
        origin = right.count + 1
        patience = max(256, Int(Double(diagonals).squareRoot()))
    }

    /// Marks the lines that differ between two ranges.
    private mutating func compare(_ leftRange: Range<Int>, _ rightRange: Range<Int>) {
        var (x, y) = (leftRange.lowerBound, rightRange.lowerBound)
        var (endX, endY) = (leftRange.upperBound, rightRange.upperBound)
        while true {
            while x < endX && y < endY && left[x] == right[y] { (x, y) = (x + 1, y + 1) }
            while x < endX && y < endY && left[endX - 1] == right[endY - 1] { (endX, endY) = (endX - 1, endY - 1) }
            if x == endX || y == endY { break }
            let middle = middle(x..<endX, y..<endY)
            compare(x..<middle.x, y..<middle.y)
            (x, y) = middle
        }
        for index in x..<endX { leftChanged[index] = true }
        for index in y..<endY { rightChanged[index] = true }
    }

    /// Finds a point on a shortest path through the box, or on a good path if the search takes too long.
    ///
    /// The box is not empty on either side, and its first and last lines differ, so the point is never a corner.
    private mutating func middle(_ leftRange: Range<Int>, _ rightRange: Range<Int>) -> (x: Int, y: Int) {
        let start = leftRange.lowerBound - rightRange.lowerBound
        let end = leftRange.upperBound - rightRange.upperBound
        let diagonals = (leftRange.lowerBound - rightRange.upperBound)...(leftRange.upperBound - rightRange.lowerBound)
        let meetsForward = (start - end) % 2 != 0
        var ahead = start...start
        var behind = end...end
        forward[origin + start] = leftRange.lowerBound
        backward[origin + end] = leftRange.upperBound
        for round in 1... {
            ahead = widened(ahead, within: diagonals) { forward[origin + $0] = -1 }
            for diagonal in stride(from: ahead.upperBound, through: ahead.lowerBound, by: -2) {
                let x = stepForward(diagonal, leftRange.upperBound, rightRange.upperBound)
                if meetsForward && behind.contains(diagonal) && backward[origin + diagonal] <= x {
                    return (x, x - diagonal)
                }
            }
            behind = widened(behind, within: diagonals) { backward[origin + $0] = Int.max }
            for diagonal in stride(from: behind.upperBound, through: behind.lowerBound, by: -2) {
                let x = stepBackward(diagonal, leftRange.lowerBound, rightRange.lowerBound)
                if !meetsForward && ahead.contains(diagonal) && x <= forward[origin + diagonal] {
                    return (x, x - diagonal)
                }
            }
            if round >= patience { return furthest(ahead, leftRange.upperBound, rightRange.upperBound) }
        }
        return (leftRange.lowerBound, rightRange.lowerBound)
    }

    /// The diagonals of the next round; `bar` blocks the ones just outside.
    private func widened(
        _ range: ClosedRange<Int>, within bounds: ClosedRange<Int>, bar: (Int) -> Void
    ) -> ClosedRange<Int> {
        var (low, high) = (range.lowerBound, range.upperBound)
        if low > bounds.lowerBound {
            low -= 1
            bar(low - 1)
        } else {
            low += 1
        }
        if high < bounds.upperBound {
            high += 1
            bar(high + 1)
        } else {
            high -= 1
        }
        return low...high
    }

    private mutating func stepForward(_ diagonal: Int, _ endX: Int, _ endY: Int) -> Int {
        let (below, above) = (forward[origin + diagonal - 1], forward[origin + diagonal + 1])
        var x = below >= above ? below + 1 : above
        while x < endX && x - diagonal < endY && left[x] == right[x - diagonal] { x += 1 }
        forward[origin + diagonal] = x
        return x
    }

    private mutating func stepBackward(_ diagonal: Int, _ startX: Int, _ startY: Int) -> Int {
        let (below, above) = (backward[origin + diagonal - 1], backward[origin + diagonal + 1])
        var x = below < above ? below : above - 1
        while x > startX && x - diagonal > startY && left[x - 1] == right[x - 1 - diagonal] { x -= 1 }
        backward[origin + diagonal] = x
        return x
    }

    /// The point furthest from the start that the forward search has reached.
    private func furthest(_ ahead: ClosedRange<Int>, _ endX: Int, _ endY: Int) -> (x: Int, y: Int) {
        let places = stride(from: ahead.lowerBound, through: ahead.upperBound, by: 2).map { diagonal in
            let x = min(forward[origin + diagonal], endX, endY + diagonal)
            return (x: x, y: x - diagonal)
        }
        return places.max { $0.x + $0.y < $1.x + $1.y } ?? (endX, endY)
    }

    /// The marked lines as edits.
    private var edits: [LineEdit] {
        var edits = [LineEdit]()
        var (x, y) = (0, 0)
        while x < left.count || y < right.count {
            let (startX, startY) = (x, y)
            while x < left.count && leftChanged[x] { x += 1 }
            while y < right.count && rightChanged[y] { y += 1 }
            if x > startX || y > startY { edits.append(LineEdit(left: startX..<x, right: startY..<y)) }
            // Unchanged lines come in pairs.
            while x < left.count && y < right.count && !leftChanged[x] && !rightChanged[y] { (x, y) = (x + 1, y + 1) }
        }
        return edits
    }
}

extension LineEdit {
    /// Whether the edit changed any of `lines` on the right side, or removed lines between them.
    package func touches(_ lines: Range<Int>) -> Bool {
        if right.isEmpty { return lines.lowerBound < right.lowerBound && right.lowerBound < lines.upperBound }
        return right.overlaps(lines)
    }
}
