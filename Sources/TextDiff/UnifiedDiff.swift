// Formats two versions of a text file as a unified diff that `patch -p1` and `git apply` understand.
//
// GNU diffutils manual, "Detailed Description of Unified Format"; names are quoted as git does.

package import FileIO

/// A unified diff of one file.
package struct UnifiedDiff {
    /// A line of the diff: its sign and the bytes after it.
    package struct Line: Equatable, Sendable {
        package enum Role: Sendable { case header, hunk, context, removed, added, note }

        package let role: Role
        package let bytes: [UInt8]

        package init(role: Role, bytes: [UInt8]) {
            self.role = role
            self.bytes = bytes
        }
    }

    /// The number of unchanged lines shown around a change.
    package static let contextLines = 3

    private let path: RelativePath
    private let formerPath: RelativePath?
    private let left: TextLines?
    private let right: TextLines?

    /// - Parameters:
    ///   - formerPath: the old path of a renamed file.
    ///   - left: the old bytes; nil if the file was added.
    ///   - right: the new bytes; nil if the file was removed.
    package init(_ path: RelativePath, formerPath: RelativePath? = nil, left: [UInt8]?, right: [UInt8]?) {
        self.path = path
        self.formerPath = formerPath
        self.left = left.map(TextLines.init)
        self.right = right.map(TextLines.init)
    }

    /// The diff; empty if the texts are equal.
    package var lines: [Line] { lines(touching: nil) }

    /// The part of the diff that touches lines `range` of the new text; all of it if `range` is nil.
    package func lines(touching range: Range<Int>?) -> [Line] {
        let (old, new) = (left ?? TextLines([]), right ?? TextLines([]))
        var edits = TextLines.edits(from: old, to: new)
        if let range { edits = edits.filter { $0.touches(range) } }
        if edits.isEmpty { return [] }
        var lines = [
            Line(
                role: .header,
                bytes: Array("--- ".utf8) + UnifiedDiff.name("a/", left == nil ? nil : formerPath ?? path)),
            Line(role: .header, bytes: Array("+++ ".utf8) + UnifiedDiff.name("b/", right == nil ? nil : path)),
        ]
        for hunk in UnifiedDiff.hunks(edits) { lines += UnifiedDiff.lines(of: hunk, old, new) }
        return lines
    }

    /// Groups edits into hunks whose context does not overlap.
    package static func hunks(_ edits: [LineEdit]) -> [[LineEdit]] {
        var hunks: [[LineEdit]] = []
        for edit in edits {
            if let last = hunks.last?.last, edit.left.lowerBound - last.left.upperBound <= 2 * contextLines {
                hunks[hunks.count - 1].append(edit)
            } else {
                hunks.append([edit])
            }
        }
        return hunks
    }

    private static func lines(of hunk: [LineEdit], _ old: TextLines, _ new: TextLines) -> [Line] {
        guard let first = hunk.first, let last = hunk.last else { return [] }
        let before = min(contextLines, first.left.lowerBound)
        let after = min(contextLines, old.lines.count - last.left.upperBound)
        let left = (first.left.lowerBound - before)..<(last.left.upperBound + after)
        let right = (first.right.lowerBound - before)..<(last.right.upperBound + after)
        var lines = [Line(role: .hunk, bytes: Array("@@ -\(range(left)) +\(range(right)) @@".utf8))]
        var next = left.lowerBound
        for edit in hunk {
            lines += texts(.context, old, next..<edit.left.lowerBound)
            lines += texts(.removed, old, edit.left)
            lines += texts(.added, new, edit.right)
            next = edit.left.upperBound
        }
        return lines + texts(.context, old, next..<left.upperBound)
    }

    private static func texts(_ role: Line.Role, _ text: TextLines, _ range: Range<Int>) -> [Line] {
        let sign = role == .removed ? "-" : role == .added ? "+" : " "
        var lines = text.lines[range].map { Line(role: role, bytes: Array(sign.utf8) + $0) }
        if !range.isEmpty && range.upperBound == text.lines.count && !text.isTerminated {
            lines.append(Line(role: .note, bytes: Array("\\ No newline at end of file".utf8)))
        }
        return lines
    }

    /// The first line, counted from 1, and the number of lines; an empty range is given by the line before it.
    private static func range(_ range: Range<Int>) -> String {
        switch range.count {
        case 0: "\(range.lowerBound),0"
        case 1: "\(range.lowerBound + 1)"
        default: "\(range.lowerBound + 1),\(range.count)"
        }
    }

    /// A file's name in a header, quoted as in git if it contains special bytes.
    ///
    /// - Parameters:
    ///   - prefix: what precedes the name: "a/", "b/", or the words of a header such as "rename to ".
    ///   - isLast: whether the name ends the line.
    package static func name(_ prefix: String, _ path: RelativePath?, isLast: Bool = true) -> [UInt8] {
        guard let path else { return Array("/dev/null".utf8) }
        // Words stay outside of the quotes.
        if prefix.hasSuffix(" ") { return Array(prefix.utf8) + name("", path, isLast: false) }
        let bytes = Array(prefix.utf8) + path.bytes
        let quote = UInt8(ascii: "\"")
        let backslash = UInt8(ascii: "\\")
        let isPlain = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != quote && $0 != backslash }
        if isPlain && String(validating: bytes, as: UTF8.self) != nil {
            // The tab marks the end of a name that contains a blank.
            return isLast && bytes.contains(UInt8(ascii: " ")) ? bytes + [UInt8(ascii: "\t")] : bytes
        }
        var quoted = [quote]
        for byte in bytes {
            switch byte {
            case quote, backslash: quoted += [backslash, byte]
            case 0x20..<0x7F: quoted.append(byte)
            default: quoted += Array("\\".utf8) + octal(byte)
            }
        }
        return quoted + [quote]
    }

    private static func octal(_ byte: UInt8) -> [UInt8] {
        let digits = String(byte, radix: 8)
        return Array((String(repeating: "0", count: 3 - digits.count) + digits).utf8)
    }
}
