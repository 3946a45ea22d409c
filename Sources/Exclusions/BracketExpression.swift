// Bracket expressions such as `[a-z]`, `[!0-9]` and `[[:alpha:]_]`, parsed as in git's wildmatch.

/// A parser for bracket expressions.
///
/// The rules: `!` or `^` right after the `[` complements the set; a `]` right after that is literal; `-` between two
/// bytes makes a range and is literal elsewhere; `\` makes the next byte literal, also in a range.
struct BracketExpression {
    private let pattern: ArraySlice<UInt8>
    private var position: Int
    private var members = ByteSet()
    /// The first byte of the range if a `-` follows; nil after a range or a class.
    private var rangeStart: UInt8?

    /// Parses the expression whose `[` is at `start`.
    ///
    /// - Returns: the bytes it matches, never `/`, and the index after its `]`; nil if it is not terminated or names
    ///   an unknown class, in which case the pattern matches nothing.
    static func read(_ pattern: ArraySlice<UInt8>, at start: Int) -> (set: ByteSet, end: Int)? {
        var expression = BracketExpression(pattern: pattern, position: start + 1)
        guard var set = expression.readMembers() else { return nil }
        set.remove(UInt8(ascii: "/"))
        return (set, expression.position)
    }

    private init(pattern: ArraySlice<UInt8>, position: Int) {
        self.pattern = pattern
        self.position = position
    }

    private mutating func readMembers() -> ByteSet? {
        let isComplement = peek() == UInt8(ascii: "!") || peek() == UInt8(ascii: "^")
        if isComplement { position += 1 }
        repeat {
            guard readMember() else { return nil }
        } while peek() != UInt8(ascii: "]")
        position += 1
        return isComplement ? members.complement : members
    }

    /// Parses a byte, the rest of a range, or a class; false if the pattern is invalid.
    private mutating func readMember() -> Bool {
        if peek() == UInt8(ascii: "-"), let first = rangeStart, let next = peek(1), next != UInt8(ascii: "]") {
            position += 1
            guard let last = readByte() else { return false }
            if first <= last { (first...last).forEach { members.insert($0) } }
            rangeStart = nil
            return true
        }
        if peek() == UInt8(ascii: "["), peek(1) == UInt8(ascii: ":") {
            guard let bracket = pattern[(position + 2)...].firstIndex(of: UInt8(ascii: "]")) else { return false }
            // Otherwise the bracket is literal: `[[:]`, `[[:a]`.
            if bracket > position + 2, pattern[bracket - 1] == UInt8(ascii: ":") {
                return readClass(named: pattern[(position + 2)..<(bracket - 1)], end: bracket + 1)
            }
            members.insert(UInt8(ascii: "["))
            rangeStart = UInt8(ascii: "[")
            position += 1
            return true
        }
        guard let byte = readByte() else { return false }
        members.insert(byte)
        rangeStart = byte
        return true
    }

    private mutating func readClass(named name: ArraySlice<UInt8>, end: Int) -> Bool {
        guard let set = ByteSet(className: name) else { return false }
        members.formUnion(set)
        rangeStart = nil
        position = end
        return true
    }

    /// The next byte, or the byte after a backslash; nil at the end of the pattern.
    private mutating func readByte() -> UInt8? {
        if peek() == UInt8(ascii: "\\") { position += 1 }
        guard let byte = peek() else { return nil }
        position += 1
        return byte
    }

    private func peek(_ distance: Int = 0) -> UInt8? {
        position + distance < pattern.endIndex ? pattern[position + distance] : nil
    }
}
