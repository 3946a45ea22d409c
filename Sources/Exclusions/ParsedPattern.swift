// One line of an ignore file taken apart: gitignore(5), "PATTERN FORMAT".

/// A pattern as it is written, in tokens.
struct ParsedPattern {
    let isNegated: Bool
    let isDirectoryOnly: Bool
    /// Whether it is matched with the last component of a path only, at any depth.
    private(set) var matchesName: Bool
    private(set) var tokens: [GlobToken] = []
    private(set) var sets: [ByteSet] = []

    /// Takes `line` apart: `!`, then the pattern, then `/`.
    ///
    /// - Returns: nil where nothing can match: an empty pattern, a backslash at the end, a bracket expression without
    ///   end or with an unknown class.
    init?(_ line: ArraySlice<UInt8>) {
        var rest = line
        isNegated = rest.first == UInt8(ascii: "!")
        if isNegated { rest.removeFirst() }
        isDirectoryOnly = rest.last == UInt8(ascii: "/")
        if isDirectoryOnly { rest.removeLast() }
        matchesName = !rest.contains(UInt8(ascii: "/"))
        if rest.first == UInt8(ascii: "/") { rest.removeFirst() }
        guard !rest.isEmpty, tokenize(rest) else { return nil }
        // `**/name` says the same as `name`, which is quicker.
        if tokens.first == .directories, !tokens.dropFirst().contains(where: \.canMatchSlash) {
            tokens.removeFirst()
            matchesName = true
        }
        if tokens.isEmpty { return nil }
    }

    /// Appends the tokens of `pattern`; false where it is invalid.
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

    /// Appends the token of the asterisks at `start`: two or more that fill a component reach across `/`, others count
    /// as one.
    ///
    /// - Returns: where the pattern goes on.
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
