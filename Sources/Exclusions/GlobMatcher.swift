// Matches tokens against bytes, as git's wildmatch does in pathname mode.

/// Matches tokens against bytes.
///
/// There is no recursion, and only the latest two points to backtrack to are stored: extending an earlier wildcard
/// never helps a later one of the same kind. So for any pattern the time is bounded by the product of the two lengths.
struct GlobMatcher {
    /// A point to backtrack to: the token after a wildcard, and the last byte position where it was tried.
    private struct Retry {
        var token: Int
        var position: Int
    }

    private var token: Int
    private var position: Int
    /// The last `*`, which can be extended up to the next `/`.
    private var shallow: Retry?
    /// The last `**`, which can be extended across `/`.
    private var deep: Retry?
    private var deepTakesDirectories = false

    /// Whether all of `tokens` matches all of `text`.
    ///
    /// - Parameter text: if the first token is `.directories`, `text[0]` must begin a component.
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

    /// Matches one token at the current position; returns false if it does not match.
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

    /// Backtracks to the latest wildcard that can be extended, and extends it; false if there is none.
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

/// One piece of a pattern.
enum GlobToken: Hashable, Sendable {
    /// This byte.
    case byte(UInt8)
    /// Any byte but `/`: `?`.
    case anyByte
    /// A byte of the set with this index: `[…]`.
    case set(Int32)
    /// Any number of bytes but `/`: `*`.
    case star
    /// Any number of bytes: `**` at a pattern's end and before an escaped `/`.
    case anything
    /// Any number of complete components, each with its `/`: `**/`.
    case directories

    /// The fewest bytes that the token matches.
    var minimumCount: Int {
        switch self {
        case .byte, .anyByte, .set: 1
        case .star, .anything, .directories: 0
        }
    }
}
