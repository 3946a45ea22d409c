// Runs of tokens matched with bytes: what git's wildmatch does in pathname mode.

/// Matches tokens with bytes.
///
/// There is no recursion and no memory but the latest two points of return: nothing that an earlier wildcard could take
/// in addition helps a later one of the same reach. So the time is bounded by the product of the two lengths, whatever
/// the pattern.
struct GlobMatcher {
    /// A wildcard that may take more: the token behind it, and the byte where that was tried last.
    private struct Retry {
        var token: Int
        var position: Int
    }

    private var token: Int
    private var position: Int
    /// A `*`: takes more up to the next `/`.
    private var shallow: Retry?
    /// A `**`: takes more across `/`.
    private var deep: Retry?
    private var deepTakesDirectories = false

    /// Whether all of `tokens` matches all of `text`.
    ///
    /// - Parameter text: `text[0]` begins a component where the first token is `.directories`.
    static func matches(
        _ tokens: borrowing Span<GlobToken>, _ sets: borrowing Span<ByteSet>, _ text: borrowing Span<UInt8>
    ) -> Bool {
        var matcher = GlobMatcher()
        while true {
            if matcher.token == tokens.count {
                if matcher.position == text.count { return true }
            } else if matcher.step(tokens[matcher.token], sets, text) {
                continue
            }
            guard matcher.retry(text) else { return false }
        }
    }

    private init() {
        token = 0
        position = 0
    }

    /// Matches one token at the position; false where it does not.
    private mutating func step(
        _ next: GlobToken, _ sets: borrowing Span<ByteSet>, _ text: borrowing Span<UInt8>
    ) -> Bool {
        switch next {
        case .star:
            shallow = Retry(token: token + 1, position: position)
        case .anything, .directories:
            deep = Retry(token: token + 1, position: position)
            deepTakesDirectories = next == .directories
            shallow = nil
        case .byte, .anyByte, .set:
            guard position < text.count, Self.matches(next, text[position], sets) else { return false }
            position += 1
        }
        token += 1
        return true
    }

    private static func matches(_ token: GlobToken, _ byte: UInt8, _ sets: borrowing Span<ByteSet>) -> Bool {
        switch token {
        case .byte(let wanted): byte == wanted
        case .set(let index): sets[Int(index)].contains(byte)
        default: byte != UInt8(ascii: "/")
        }
    }

    /// Goes back to the latest wildcard that can take more, and lets it.
    private mutating func retry(_ text: borrowing Span<UInt8>) -> Bool {
        if var point = shallow, point.position < text.count, text[point.position] != UInt8(ascii: "/") {
            point.position += 1
            shallow = point
            resume(point)
            return true
        }
        guard var point = deep else { return false }
        if deepTakesDirectories {
            while point.position < text.count, text[point.position] != UInt8(ascii: "/") { point.position += 1 }
        }
        guard point.position < text.count else { return false }
        point.position += 1
        deep = point
        shallow = nil
        resume(point)
        return true
    }

    private mutating func resume(_ point: Retry) {
        token = point.token
        position = point.position
    }
}
