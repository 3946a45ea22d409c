// How a pattern on the command line is understood: paths as people write them become patterns relative to the root.

/// A pattern that a person gave for a root, as the root's rules store it.
///
/// gitignore(5) matches `./notes`, `~/notes` and the root's own absolute path with nothing, without a word. People write
/// them all the same, so they are understood, and what still cannot match is refused.
package struct GivenPattern: Hashable, Sendable {
    /// The pattern as gitignore(5) understands it.
    package let bytes: [UInt8]
    /// Whether the pattern was a path of the file system, and so applies only to the root that it lies in.
    package let isOfOneRoot: Bool

    /// Why a pattern can match nothing.
    package struct Fault: Error, Hashable {
        package init(reason: Reason, suggestion: [UInt8]?) {
            (self.reason, self.suggestion) = (reason, suggestion)
        }

        package enum Reason: Sendable {
            /// A `[` has no `]`, or names an unknown class.
            case openBracket
            /// A backslash is the last byte.
            case lastBackslash
            /// It leads out of the root, or names a place elsewhere.
            case outside
            /// It names the root itself.
            case wholeRoot
        }

        package let reason: Reason
        /// A pattern that matches what was probably meant; nil if there is none.
        package let suggestion: [UInt8]?
    }

    /// - Parameters:
    ///   - given: the pattern as it was typed.
    ///   - root: the absolute path of the root.
    ///   - home: the user's home directory; nil if it is unknown.
    ///   - isInRoot: whether the root has an entry with this name. A pattern such as `/home/ann` is anchored at the
    ///     root, so it is left alone if the root has an entry `home`.
    /// - Throws: `Fault` if the pattern can match nothing.
    package init(
        _ given: [UInt8], root: [UInt8], home: [UInt8]?, isInRoot: (ArraySlice<UInt8>) -> Bool
    ) throws(Fault) {
        let slash = UInt8(ascii: "/")
        let isNegated = given.first == UInt8(ascii: "!")
        var body = Array(isNegated ? given.dropFirst() : given[...])
        var isOfOneRoot = false
        if body == [UInt8(ascii: "~")] || body.starts(with: Array("~/".utf8)), let home,
            !isInRoot(body[..<1])
        {
            body = home + body.dropFirst()
            guard GivenPattern.isBelow(root, body) else {
                throw Fault(reason: .outside, suggestion: Array("\\".utf8) + given.drop { $0 == UInt8(ascii: "!") })
            }
        }
        if body.first == slash, GivenPattern.isBelow(root, body), !isInRoot(GivenPattern.firstName(body)) {
            body = root == [slash] ? body : Array(body.dropFirst(root.count))
            isOfOneRoot = true
        }
        let isFromTop = body.first == slash || body.starts(with: Array("./".utf8))
        let isDirectory = body.last == slash
        let names = body.split(separator: slash).filter { !$0.elementsEqual(".".utf8) }
        if names.isEmpty { throw Fault(reason: .wholeRoot, suggestion: Array("/*".utf8)) }
        if names.contains(where: { $0.elementsEqual("..".utf8) }) { throw Fault(reason: .outside, suggestion: nil) }
        body = (isFromTop ? [slash] : []) + names.joined(separator: [slash]) + (isDirectory ? [slash] : [])
        guard ParsedPattern(body[...]) != nil else { throw GivenPattern.fault(body) }
        bytes = (isNegated ? [UInt8(ascii: "!")] : []) + body
        self.isOfOneRoot = isOfOneRoot
    }

    private static func isBelow(_ root: [UInt8], _ path: [UInt8]) -> Bool {
        if root == [UInt8(ascii: "/")] { return true }
        return path.starts(with: root) && (path.count == root.count || path[root.count] == UInt8(ascii: "/"))
    }

    private static func firstName(_ path: [UInt8]) -> ArraySlice<UInt8> {
        path.drop { $0 == UInt8(ascii: "/") }.prefix { $0 != UInt8(ascii: "/") }
    }

    private static func fault(_ body: [UInt8]) -> Fault {
        let backslash = UInt8(ascii: "\\")
        let backslashes = body.reversed().prefix { $0 == backslash }.count
        if backslashes % 2 == 1 { return Fault(reason: .lastBackslash, suggestion: body + [backslash]) }
        let escaped = body.flatMap { $0 == UInt8(ascii: "[") ? [backslash, $0] : [$0] }
        return Fault(reason: .openBracket, suggestion: escaped)
    }
}
