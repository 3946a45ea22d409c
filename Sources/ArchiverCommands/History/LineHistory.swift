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
        let versions = Array(versions.drop { !$0.isPresent })
        guard let newest = versions.first else { return [] }
        var text = try texts.text(newest)
        guard range.lowerBound <= text.lines.count else {
            throw LineOption.beyond(newest.path, lines: text.lines.count)
        }
        var lines = (range.lowerBound - 1)..<min(range.upperBound, text.lines.count)
        var found: [LineVersion] = []
        for (index, version) in versions.enumerated() {
            let next = index + 1 < versions.count && versions[index + 1].isPresent ? versions[index + 1] : nil
            guard let next else {
                found.append(LineVersion(version: version, range: lines))
                break
            }
            let older = try texts.text(next)
            let edits = TextLines.edits(from: older, to: text)
            if edits.contains(where: { $0.touches(lines) }) {
                found.append(LineVersion(version: version, range: lines))
            }
            lines = LineHistory.place(of: lines, before: edits)
            // This version added all of the lines.
            if lines.isEmpty { break }
            text = older
        }
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
