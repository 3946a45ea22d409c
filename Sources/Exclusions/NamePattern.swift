// One pattern for searching by name.

/// A gitignore(5) pattern that selects names: `*.swift` at any depth, `/docs/*.md` or `docs/**` from the root on.
package struct NamePattern: Sendable {
    private let list: PatternList

    /// Parses a pattern.
    ///
    /// - Returns: nil if `bytes` is not a pattern, or one that matches nothing.
    package init?(_ bytes: [UInt8]) {
        guard bytes.first != UInt8(ascii: "!"), !bytes.contains(UInt8(ascii: "\n")) else { return nil }
        // A number sign begins a comment only in a file of patterns, so it is escaped here.
        let line = bytes.first == UInt8(ascii: "#") ? [UInt8(ascii: "\\")] + bytes : bytes
        list = PatternList([line[...]])
        guard list.canExclude else { return nil }
    }

    /// Whether the pattern selects `path`, which must not be the root.
    package func matches(_ path: [UInt8], isDirectory: Bool) -> Bool {
        let nameStart = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        return list.verdict(on: path.span, nameStart: nameStart, isDirectory: isDirectory) == .excluded
    }
}
