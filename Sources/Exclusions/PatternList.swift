// A list of patterns, of which the last matching one decides.

/// A list of compiled gitignore(5) patterns.
struct PatternList: Hashable, Sendable {
    private(set) var patterns: [Pattern] = []
    /// The last byte of each pattern if it is literal; comparing it with a path's last byte rules out most patterns.
    private var lastBytes: [UInt8?] = []
    private var literals: [UInt8] = []
    private var tokens: [GlobToken] = []
    private var sets: [ByteSet] = []
    /// Whether some pattern is not negated; without one, nothing is excluded.
    private(set) var canExclude = false

    /// Compiles `lines`, one pattern each, and drops patterns that cannot match anything.
    init(_ lines: some Sequence<ArraySlice<UInt8>>) {
        for line in lines { append(ParsedPattern(line)) }
    }

    private mutating func append(_ parsed: ParsedPattern?) {
        guard let parsed else { return }
        let head = parsed.tokens.literalPrefix
        let rest = parsed.tokens.dropFirst(head.count)
        let tail = [UInt8](rest.reversed().literalPrefix.reversed())
        let between = rest.dropLast(tail.count).map { $0.shifted(by: sets.count) }
        let isLoneStar = parsed.matchesName && between == [.star]
        patterns.append(
            Pattern(
                isNegated: parsed.isNegated, isDirectoryOnly: parsed.isDirectoryOnly, matchesName: parsed.matchesName,
                middle: between.isEmpty ? .empty : isLoneStar ? .star : .tokens,
                minimumCount: parsed.tokens.reduce(0) { $0 + $1.minimumCount },
                head: literals.count..<(literals.count + head.count), tailCount: tail.count,
                tokens: tokens.count..<(tokens.count + between.count)))
        lastBytes.append(tail.last ?? (between.isEmpty ? head.last : nil))
        literals += head
        literals += tail
        tokens += between
        sets += parsed.sets
        if !parsed.isNegated { canExclude = true }
    }

    /// The verdict of the last pattern that matches; nil if none matches.
    ///
    /// - Parameters:
    ///   - path: the bytes of a path relative to the list's directory.
    ///   - nameStart: the index where its last component begins.
    func verdict(
        on path: borrowing Span<UInt8>, nameStart: Int, isDirectory: Bool
    ) -> IgnoreFile.Verdict? {
        guard !path.isEmpty else { return nil }
        let last = path[path.count - 1]
        let patterns = patterns.span
        let lastBytes = lastBytes.span
        for index in lastBytes.indices.reversed() {
            if let wanted = lastBytes[index], wanted != last { continue }
            let pattern = patterns[index]
            if pattern.isDirectoryOnly && !isDirectory { continue }
            let start = pattern.matchesName ? nameStart : 0
            if matches(pattern, path, from: start) { return pattern.isNegated ? .included : .excluded }
        }
        return nil
    }

    private func matches(_ pattern: Pattern, _ path: borrowing Span<UInt8>, from start: Int) -> Bool {
        let count = path.count - start
        if count < pattern.minimumCount { return false }
        let headEnd = start + pattern.head.count
        switch pattern.middle {
        case .empty:
            return count == pattern.minimumCount && hasLiterals(pattern.head, path, at: start)
        case .star, .tokens:
            let tail = pattern.head.upperBound..<(pattern.head.upperBound + pattern.tailCount)
            let tailStart = path.count - pattern.tailCount
            guard hasLiterals(tail, path, at: tailStart), hasLiterals(pattern.head, path, at: start) else {
                return false
            }
            if pattern.middle == .star { return true }
            return GlobMatcher.matches(
                tokens.span.extracting(pattern.tokens), sets.span, path.extracting(headEnd..<tailStart))
        }
    }

    private func hasLiterals(_ range: Range<Int>, _ path: borrowing Span<UInt8>, at start: Int) -> Bool {
        let literals = literals.span
        for index in range where literals[index] != path[start + index - range.lowerBound] { return false }
        return true
    }
}

extension Sequence<GlobToken> {
    /// The literal bytes before the first wildcard.
    fileprivate var literalPrefix: [UInt8] {
        var bytes = [UInt8]()
        for token in self {
            guard case .byte(let byte) = token else { break }
            bytes.append(byte)
        }
        return bytes
    }
}

extension GlobToken {
    /// The token with its set index increased by `count`, the number of sets already in the list.
    fileprivate func shifted(by count: Int) -> GlobToken {
        guard case .set(let index) = self else { return self }
        return .set(index + Int32(count))
    }
}

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
