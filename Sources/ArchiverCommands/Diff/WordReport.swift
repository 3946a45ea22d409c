// Changed words within the changed lines of a diff.

internal import ArchiverKit
internal import TextDiff

/// Writes the lines of a diff with the changed words marked.
struct WordReport {
    private let console: Console
    /// Whether to write removed and added words in one text, as `[-old-]{+new+}`; otherwise the lines of a patch are
    /// written, with the words in reverse.
    private let showsWords: Bool

    init(_ console: Console, showsWords: Bool) {
        self.console = console
        self.showsWords = showsWords
    }

    func write(_ lines: [UnifiedDiff.Line]) throws {
        var rest = lines[...]
        while let line = rest.first {
            let old = rest.prefix { $0.role == .removed || $0.role == .note && showsWords }
            let new = rest.dropFirst(old.count).prefix { $0.role == .added || $0.role == .note && showsWords }
            guard line.role == .removed || line.role == .added else {
                try write(line)
                rest = rest.dropFirst()
                continue
            }
            try write(text(old), text(new))
            rest = rest.dropFirst(old.count + new.count)
        }
    }

    /// The lines without their signs, as one text.
    private func text(_ lines: ArraySlice<UnifiedDiff.Line>) -> [UInt8] {
        let changed = lines.filter { $0.role != .note }
        return Array(changed.map { $0.bytes.dropFirst() }.joined(separator: [UInt8(ascii: "\n")]))
            + (changed.isEmpty ? [] : [UInt8(ascii: "\n")])
    }

    private func write(_ line: UnifiedDiff.Line) throws {
        let bytes = showsWords && line.role == .context ? Array(line.bytes.dropFirst()) : line.bytes
        guard console.output.isTerminal else { return try console.output.write(bytes + [UInt8(ascii: "\n")]) }
        let text = Escaping.prose(bytes, keepingTabs: true)
        try console.output.line(line.role.mark.map { console.style($0, text) } ?? text)
    }

    private func write(_ old: [UInt8], _ new: [UInt8]) throws {
        let pieces = WordDiff.pieces(from: old, to: new)
        if showsWords { return try writeWords(pieces) }
        // Lines that have no word in common are simply other lines.
        let isEdited = pieces.contains { $0.change == .same && $0.bytes.contains { $0 > 0x20 } }
        try writeLines(pieces, .removed, isMarked: isEdited)
        try writeLines(pieces, .added, isMarked: isEdited)
    }

    private func writeWords(_ pieces: [WordDiff.Piece]) throws {
        var text = ""
        for piece in pieces {
            // Line feeds stay outside of the marks.
            let parts = piece.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let shown = parts.map { part -> String in
                let part =
                    console.output.isTerminal
                    ? Escaping.prose(Array(part), keepingTabs: true) : String(decoding: part, as: UTF8.self)
                if part.isEmpty { return "" }
                switch piece.change {
                case .same: return part
                case .removed: return console.style(.red, "[-\(part)-]")
                case .added: return console.style(.green, "{+\(part)+}")
                }
            }
            text += shown.joined(separator: "\n")
        }
        try console.output.write(text)
    }

    /// Writes one side of an edit, line by line.
    private func writeLines(_ pieces: [WordDiff.Piece], _ side: WordDiff.Change, isMarked: Bool) throws {
        let (sign, mark, strong): (String, Style.Mark, Style.Mark) =
            side == .removed ? ("-", .red, .reverseRed) : ("+", .green, .reverseGreen)
        var line = ""
        for piece in pieces where piece.change == .same || piece.change == side {
            let parts = piece.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            for (index, part) in parts.enumerated() {
                if index > 0 {
                    try console.output.line(console.style(mark, sign) + line)
                    line = ""
                }
                if part.isEmpty { continue }
                let text = Escaping.prose(Array(part), keepingTabs: true)
                line += console.style(isMarked && piece.change == side ? strong : mark, text)
            }
        }
        if !line.isEmpty { try console.output.line(console.style(mark, sign) + line) }
    }
}

/// Compares texts word by word.
enum WordDiff {
    enum Change { case same, removed, added }

    struct Piece {
        let change: Change
        let bytes: ArraySlice<UInt8>
    }

    /// The pieces of both texts, in order; their bytes without the added ones are `old`, without the removed ones `new`.
    static func pieces(from old: [UInt8], to new: [UInt8]) -> [Piece] {
        let (left, right) = (words(old), words(new))
        var numbers: [ArraySlice<UInt8>: Int] = [:]
        func number(_ words: [ArraySlice<UInt8>]) -> [Int] {
            words.map { word in
                let next = numbers.count
                let number = numbers[word, default: next]
                if number == next { numbers[word] = next }
                return number
            }
        }
        func joined(_ words: ArraySlice<ArraySlice<UInt8>>, _ whole: [UInt8]) -> ArraySlice<UInt8> {
            guard let first = words.first, let last = words.last else { return [] }
            return whole[first.startIndex..<last.endIndex]
        }
        var pieces: [Piece] = []
        var next = 0
        let (leftNumbers, rightNumbers) = (number(left), number(right))
        let edits = LineDiff.edits(from: leftNumbers, to: rightNumbers)
        for (index, edit) in edits.enumerated() {
            let end = index + 1 < edits.count ? edits[index + 1].left.lowerBound : left.count
            let edit = late(edit, leftNumbers, rightNumbers, end: end)
            pieces.append(Piece(change: .same, bytes: joined(left[next..<edit.left.lowerBound], old)))
            pieces.append(Piece(change: .removed, bytes: joined(left[edit.left], old)))
            pieces.append(Piece(change: .added, bytes: joined(right[edit.right], new)))
            next = edit.left.upperBound
        }
        pieces.append(Piece(change: .same, bytes: joined(left[next...], old)))
        return pieces.filter { !$0.bytes.isEmpty }
    }

    /// An insertion or a removal, as late as possible: then it more likely begins where a line begins.
    ///
    /// - Parameter end: where the next edit begins on the left.
    private static func late(_ edit: LineEdit, _ left: [Int], _ right: [Int], end: Int) -> LineEdit {
        var edit = edit
        while edit.left.isEmpty != edit.right.isEmpty, edit.left.upperBound < end, edit.right.upperBound < right.count {
            let isSame =
                edit.left.isEmpty
                ? right[edit.right.lowerBound] == right[edit.right.upperBound]
                : left[edit.left.lowerBound] == left[edit.left.upperBound]
            guard isSame else { break }
            edit.left = (edit.left.lowerBound + 1)..<(edit.left.upperBound + 1)
            edit.right = (edit.right.lowerBound + 1)..<(edit.right.upperBound + 1)
        }
        return edit
    }

    /// Splits a text into words, runs of blanks, and single other characters.
    private static func words(_ text: [UInt8]) -> [ArraySlice<UInt8>] {
        enum Kind { case letter, blank, other }
        func kind(_ byte: UInt8) -> Kind {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), 0x80...:
                .letter
            case UInt8(ascii: " "), UInt8(ascii: "\t"): .blank
            default: .other
            }
        }
        var words: [ArraySlice<UInt8>] = []
        var start = 0
        for index in text.indices {
            let isEnd =
                index + 1 == text.count || kind(text[index]) == .other
                || kind(text[index + 1]) != kind(text[index])
            if isEnd {
                words.append(text[start...index])
                start = index + 1
            }
        }
        return words
    }
}
