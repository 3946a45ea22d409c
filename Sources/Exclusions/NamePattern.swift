// One pattern for searching by name.

/// A gitignore(5) pattern that selects names: `*.swift` at any depth, `/docs/*.md` or `docs/**` from the root on.
package struct NamePattern: Sendable {
    private let list: PatternList

    /// Parses a pattern.
    ///
    /// - Parameter isAlsoText: whether a pattern whose only wildcards are brackets also selects the names that contain
    ///   it as it stands: `[abc]` selects `b` and `notes[abc].txt`.
    /// - Returns: nil if `bytes` is not a pattern, or one that matches nothing.
    package init?(_ bytes: [UInt8], isAlsoText: Bool = false) {
        guard bytes.first != UInt8(ascii: "!"), !bytes.contains(UInt8(ascii: "\n")) else { return nil }
        // A number sign begins a comment only in a file of patterns, so it is escaped here.
        let line = bytes.first == UInt8(ascii: "#") ? [UInt8(ascii: "\\")] + bytes : bytes
        let text = isAlsoText ? NamePattern.text(bytes).map { [$0[...]] } ?? [] : []
        list = PatternList([line[...]] + text)
        guard list.canExclude else { return nil }
    }

    /// The pattern for names that contain `bytes`, if brackets are its only special characters; nil otherwise.
    private static func text(_ bytes: [UInt8]) -> [UInt8]? {
        let (bracket, star, backslash) = (UInt8(ascii: "["), UInt8(ascii: "*"), UInt8(ascii: "\\"))
        guard bytes.contains(bracket), !bytes.contains(where: Array("/*?\\".utf8).contains) else { return nil }
        return [star] + bytes.flatMap { $0 == bracket ? [backslash, $0] : [$0] } + [star]
    }

    /// Whether the pattern selects `path`, which must not be the root.
    package func matches(_ path: [UInt8], isDirectory: Bool) -> Bool {
        let nameStart = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        return list.verdict(on: path.span, nameStart: nameStart, isDirectory: isDirectory) == .excluded
    }
}
