// One pattern, compiled for matching.

/// A compiled pattern: literal bytes at both ends, tokens between them.
///
/// Its bytes and tokens are stored in the list that holds it, so matching touches no reference counts.
struct Pattern: Hashable, Sendable {
    /// How the part between the literal ends is matched.
    enum Middle: Hashable, Sendable {
        /// There is no such part: the pattern is literal.
        case empty
        /// One `*` in a name, which matches anything.
        case star
        /// Matched by its tokens.
        case tokens
    }

    /// Whether the pattern begins with `!` and includes the paths it matches.
    let isNegated: Bool
    /// Whether the pattern ends with `/` and matches only directories.
    let isDirectoryOnly: Bool
    /// Whether the pattern is matched only against the last component, at any depth.
    let matchesName: Bool
    let middle: Middle
    /// The fewest bytes that match.
    let minimumCount: Int
    /// The range of the leading literal bytes in the list's literals; the trailing ones follow them.
    let head: Range<Int>
    let tailCount: Int
    /// The range of the tokens in the list's tokens.
    let tokens: Range<Int>
}
