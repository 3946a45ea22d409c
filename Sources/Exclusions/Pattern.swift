// One pattern in the form in which it is matched.

/// A compiled pattern: literal bytes at both ends, tokens between them.
///
/// Its bytes and tokens lie in the list that holds it, so that a question touches no reference counts.
struct Pattern: Hashable, Sendable {
    /// How what is between the literal ends is matched.
    enum Middle: Hashable, Sendable {
        /// Nothing: the pattern is literal.
        case empty
        /// One `*` in a name: anything.
        case star
        /// By its tokens.
        case tokens
    }

    /// Begins with `!`: what matches is included.
    let isNegated: Bool
    /// Ends with `/`: only directories match.
    let isDirectoryOnly: Bool
    /// Is matched with the last component alone, at any depth.
    let matchesName: Bool
    let middle: Middle
    /// The fewest bytes that match.
    let minimumCount: Int
    /// The literal bytes at the beginning, in the list's literals; those of the end follow them.
    let head: Range<Int>
    let tailCount: Int
    /// In the list's tokens.
    let tokens: Range<Int>
}
