// Finds the versions that changed certain lines of a file by following the lines back through all versions.

internal import ArchiveFormat
internal import ArchiverKit
internal import FileIO
internal import TextDiff

/// A range of lines of a text, counted from 0.
typealias LineRange = Range<Int>

/// Parses the range of lines of `-L`.
enum LineOption {
    /// The range in a text such as "10,40".
    static func range(_ text: String) throws -> ClosedRange<Int> {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let first = parts[0], let last = parts[1], first >= 1, first <= last else {
            throw Failure.usage("'\(Escaping.text(text))' is not a range of lines", remedy: "write it as in 10,40")
        }
        return first...last
    }

    /// The error if the range is beyond the end of the text.
    static func beyond(_ path: RelativePath, lines: Int) -> Failure {
        Failure.usage(
            "\(Escaping.text(path)) has only \(Plural.of(lines, "line"))", remedy: "give an earlier range with -L")
    }
}

/// A version that changed the lines, and their range in it.
struct LineVersion {
    let version: PathVersion
    let range: LineRange
}

/// Follows lines of a file from its newest version back to the versions that introduced them.
struct LineHistory {
    private let texts: Blame

    init(_ history: HistoryContext) { texts = Blame(history.archive) }

    /// The versions that changed `range`, which refers to the newest present version; the newest first.
    ///
    /// - Parameter versions: all versions of the file, the newest first.
    func versions(_ versions: [PathVersion], changing range: ClosedRange<Int>) throws -> [LineVersion] {
        let versions = versions.drop { !$0.isPresent }.prefix(while: \.isPresent)
        var next = versions.startIndex
        var newer: TextLines?
        var lines = 0..<0
        var found: [LineVersion] = []
        try texts.forEachText(of: versions) { text in
            if let newer {
                let edits = TextLines.edits(from: text, to: newer)
                if edits.contains(where: { $0.touches(lines) }) {
                    found.append(LineVersion(version: versions[next], range: lines))
                }
                lines = LineHistory.place(of: lines, before: edits)
                next += 1
            } else {
                guard range.lowerBound <= text.lines.count else {
                    throw LineOption.beyond(versions[next].path, lines: text.lines.count)
                }
                lines = (range.lowerBound - 1)..<min(range.upperBound, text.lines.count)
            }
            newer = text
            // Otherwise the version before has added all of them.
            return !lines.isEmpty
        }
        if !lines.isEmpty { found.append(LineVersion(version: versions[next], range: lines)) }
        return found
    }

    /// The range of the lines before `edits`, including lines that they replaced; empty if all of them are new.
    private static func place(of lines: LineRange, before edits: [LineEdit]) -> LineRange {
        let first = place(of: lines.lowerBound, before: edits)
        let last = place(of: lines.upperBound - 1, before: edits)
        return first.lowerBound..<max(first.lowerBound, last.upperBound)
    }

    private static func place(of line: Int, before edits: [LineEdit]) -> LineRange {
        var shift = 0
        for edit in edits {
            if edit.right.contains(line) { return edit.left }
            if edit.right.lowerBound > line { break }
            shift += edit.left.count - edit.right.count
        }
        return (line + shift)..<(line + shift + 1)
    }
}
