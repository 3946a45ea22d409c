// Parses one line of an ignore file: gitignore(5), "PATTERN FORMAT".

/// A parsed pattern, as tokens.
struct ParsedPattern {
    let isNegated: Bool
    let isDirectoryOnly: Bool
    /// Whether it is matched only against the last component of a path, at any depth.
    private(set) var matchesName: Bool
    private(set) var tokens: [GlobToken] = []
    private(set) var sets: [ByteSet] = []

    /// Parses `line`: an optional `!`, the pattern, an optional `/`.
    ///
    /// - Returns: nil if nothing can match: an empty pattern, a backslash at the end, or a bracket expression that is
    ///   not terminated or has an unknown class.
    init?(_ line: ArraySlice<UInt8>) {
        var rest = line
        isNegated = rest.first == UInt8(ascii: "!")
        if isNegated { rest.removeFirst() }
        isDirectoryOnly = rest.last == UInt8(ascii: "/")
        if isDirectoryOnly { rest.removeLast() }
        matchesName = !rest.contains(UInt8(ascii: "/"))
        if rest.first == UInt8(ascii: "/") { rest.removeFirst() }
        guard !rest.isEmpty, tokenize(rest) else { return nil }
        // `**/name` means the same as `name`, which is faster to match.
        if tokens.first == .directories, !tokens.dropFirst().contains(where: \.canMatchSlash) {
            tokens.removeFirst()
            matchesName = true
        }
        if tokens.isEmpty { return nil }
    }

    /// Appends the tokens of `pattern`; false if it is invalid.
    private mutating func tokenize(_ pattern: ArraySlice<UInt8>) -> Bool {
        var index = pattern.startIndex
        while index < pattern.endIndex {
            switch pattern[index] {
            case UInt8(ascii: "\\"):
                index += 1
                guard index < pattern.endIndex else { return false }
                tokens.append(.byte(pattern[index]))
                index += 1
            case UInt8(ascii: "?"):
                tokens.append(.anyByte)
                index += 1
            case UInt8(ascii: "*"):
                index = tokenizeStars(pattern, at: index)
            case UInt8(ascii: "["):
                guard let (set, end) = BracketExpression.read(pattern, at: index) else { return false }
                tokens.append(.set(Int32(sets.count)))
                sets.append(set)
                index = end
            case let byte:
                tokens.append(.byte(byte))
                index += 1
            }
        }
        return true
    }

    /// Appends the token for the asterisks at `start`.
    ///
    /// Two or more asterisks that fill a component match across `/`; other runs count as one asterisk.
    ///
    /// - Returns: the index after the token.
    private mutating func tokenizeStars(_ pattern: ArraySlice<UInt8>, at start: Int) -> Int {
        let slash = UInt8(ascii: "/")
        let rest = pattern[start...].drop { $0 == UInt8(ascii: "*") }
        let beginsComponent = start == pattern.startIndex || pattern[start - 1] == slash
        if rest.startIndex - start > 1 && beginsComponent && !matchesName {
            if rest.first == slash {
                tokens.append(.directories)
                return rest.startIndex + 1
            }
            if rest.isEmpty || rest.starts(with: [UInt8(ascii: "\\"), slash]) {
                tokens.append(.anything)
                return rest.startIndex
            }
        }
        tokens.append(.star)
        return rest.startIndex
    }
}

extension GlobToken {
    fileprivate var canMatchSlash: Bool {
        switch self {
        case .byte(let byte): byte == UInt8(ascii: "/")
        case .anything, .directories: true
        case .anyByte, .set, .star: false
        }
    }
}
