// The patterns of one ignore file.

/// A list of gitignore(5) patterns.
package struct IgnoreFile: Hashable, Sendable {
    /// The decision of a list about a path.
    package enum Verdict: Sendable { case excluded, included }

    let patterns: PatternList

    /// Parses the lines of an ignore file.
    package init(_ text: [UInt8]) {
        patterns = PatternList(PatternLines.split(text))
    }

    /// Whether the file holds no pattern that can match.
    package var isEmpty: Bool { patterns.patterns.isEmpty }

    /// The verdict of the last pattern that matches `path`; nil if none matches.
    ///
    /// - Parameter path: relative to the directory that the file is in.
    package func verdict(on path: ArraySlice<UInt8>, isDirectory: Bool) -> Verdict? {
        let nameStart = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 - path.startIndex } ?? 0
        return patterns.verdict(on: path.span, nameStart: nameStart, isDirectory: isDirectory)
    }
}
