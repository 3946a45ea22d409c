// Puts lines of an older text back into the text of now, which may have changed elsewhere since.

/// The hunks between two versions of a text, each of which can be put back.
package struct PutBack {
    /// What putting hunks back makes of a text.
    package enum Outcome: Equatable {
        case text([UInt8])
        /// The text has the older lines already.
        case isThere
        /// The lines of a hunk, or those around it, have changed since.
        case hasChanged
    }

    private let older: TextLines
    private let newer: TextLines
    private let hunks: [[LineEdit]]

    package init(older: TextLines, newer: TextLines) {
        (self.older, self.newer) = (older, newer)
        hunks = UnifiedDiff.hunks(TextLines.edits(from: older, to: newer))
    }

    package var hunkCount: Int { hunks.count }

    /// Puts the older lines of hunks into `present`, in which the newer lines must be unchanged.
    ///
    /// - Parameter chosen: indices of hunks, as `UnifiedDiff.hunks` orders them; others are ignored.
    package func apply(_ chosen: Set<Int>, to present: TextLines) -> Outcome {
        let since = TextLines.edits(from: newer, to: present)
        var lines: [ArraySlice<UInt8>] = []
        var (next, isChanged, isTerminated) = (0, false, present.isTerminated)
        for edit in chosen.sorted().filter(hunks.indices.contains).flatMap({ hunks[$0] }) {
            let wanted = older.lines[edit.left]
            if since.contains(where: { $0.left == edit.right && Array(present.lines[$0.right]) == Array(wanted) }) {
                continue
            }
            if since.contains(where: { $0.collides(with: edit.right) }) { return .hasChanged }
            let before = since.prefix { $0.left.upperBound <= edit.right.lowerBound }
            let shift = before.reduce(0) { $0 + $1.right.count - $1.left.count }
            let place = (edit.right.lowerBound + shift)..<(edit.right.upperBound + shift)
            lines += present.lines[next..<place.lowerBound]
            lines += wanted
            next = place.upperBound
            isChanged = true
            if next == present.lines.count, edit.left.upperBound == older.lines.count {
                isTerminated = older.isTerminated
            }
        }
        guard isChanged else { return .isThere }
        lines += present.lines[next...]
        var bytes = Array(lines.joined(separator: [PutBack.lineFeed]))
        if isTerminated, !lines.isEmpty { bytes.append(PutBack.lineFeed) }
        return .text(bytes)
    }

    private static let lineFeed = UInt8(ascii: "\n")
}

extension LineEdit {
    /// Whether the edit changes lines of `range` on its left side, or what is right beside a place between lines.
    fileprivate func collides(with range: Range<Int>) -> Bool {
        if range.isEmpty || left.isEmpty {
            let (outer, place) = range.isEmpty ? (left, range.lowerBound) : (range, left.lowerBound)
            return outer.lowerBound < place && place < outer.upperBound
        }
        return left.overlaps(range)
    }
}
