// Sets of bytes, which a pattern's bracket expressions match.

/// A set of bytes, one bit each.
struct ByteSet: Hashable, Sendable {
    private var words = SIMD4<UInt64>()

    /// The set of all bytes for which `isMember` returns true.
    init(where isMember: (UInt8) -> Bool = { _ in false }) {
        for byte in UInt8.min ... .max where isMember(byte) { insert(byte) }
    }

    func contains(_ byte: UInt8) -> Bool { words[Int(byte >> 6)] >> UInt64(byte & 63) & 1 == 1 }

    mutating func insert(_ byte: UInt8) { words[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }

    mutating func remove(_ byte: UInt8) { words[Int(byte >> 6)] &= ~(1 << UInt64(byte & 63)) }

    mutating func formUnion(_ other: ByteSet) { words |= other.words }

    /// All bytes that are not in the set.
    var complement: ByteSet {
        var result = self
        result.words = ~words
        return result
    }
}

extension ByteSet {
    /// The set of a named class such as `[:alpha:]`: always ASCII, in any locale; nil for an unknown name.
    ///
    /// As in git, `space` contains neither vertical tab nor form feed.
    init?(className: some Collection<UInt8>) {
        switch String(decoding: className, as: UTF8.self) {
        case "alnum": self.init { isLetter($0) || isDigit($0) }
        case "alpha": self.init(where: isLetter)
        case "blank": self.init { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        case "cntrl": self.init { $0 < 0x20 || $0 == 0x7f }
        case "digit": self.init(where: isDigit)
        case "graph": self.init(where: isVisible)
        case "lower": self.init { isLetter($0) && $0 & 0x20 != 0 }
        case "print": self.init { isVisible($0) || $0 == UInt8(ascii: " ") }
        case "punct": self.init { isVisible($0) && !isLetter($0) && !isDigit($0) }
        case "space": self.init { " \t\n\r".utf8.contains($0) }
        case "upper": self.init { isLetter($0) && $0 & 0x20 == 0 }
        case "xdigit": self.init { isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0 | 0x20) }
        default: return nil
        }
    }
}

private func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }

private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

private func isVisible(_ byte: UInt8) -> Bool { (0x21...0x7e).contains(byte) }
