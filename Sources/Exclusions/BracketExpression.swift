// Bracket expressions such as `[a-z]`, `[!0-9]` and `[[:alpha:]_]`, read as git's wildmatch does.

/// Reads the inside of bracket expressions.
///
/// The rules: `!` or `^` right behind the bracket complements; a `]` right behind that stands for itself; `-` between
/// two bytes makes a range, elsewhere it stands for itself; `\` takes the next byte as it is, also in a range.
struct BracketExpression {
    private let pattern: ArraySlice<UInt8>
    private var position: Int
    private var members = ByteSet()
    /// What a `-` at the position would make a range from; nil behind a range or a class.
    private var rangeStart: UInt8?

    /// Reads the expression whose `[` is at `start`.
    ///
    /// - Returns: what it stands for, never `/`, and where the pattern goes on behind its `]`; nil where it has no end
    ///   or names an unknown class: such a pattern matches nothing.
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

    /// Reads a byte, the rest of a range, or a class; false where the pattern is invalid.
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
            // Else the bracket stands for itself: `[[:]`, `[[:a]`.
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

    /// The next byte, or the one behind a backslash; nil at the pattern's end.
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
