// Names and other people's text, made safe to show: one record stays one line, and no name can steer the terminal.

internal import FileIO

/// Replaces what must not reach a terminal or break a line by `\x…` with the byte's hex digits.
///
/// That is: control characters, bytes that are not UTF-8, and characters that reorder or break lines.
enum Escaping {
    static func text(_ bytes: some Collection<UInt8>, keepingTabs: Bool = false) -> String {
        var text = ""
        var decoder = UTF8Runs(bytes)
        while let run = decoder.next() {
            switch run {
            case .scalar(let scalar) where keepingTabs && scalar == "\t": text.unicodeScalars.append(scalar)
            case .scalar(let scalar) where isHarmful(scalar):
                for byte in String(scalar).utf8 { text += escaped(byte) }
            case .scalar(let scalar): text.unicodeScalars.append(scalar)
            case .invalid(let byte): text += escaped(byte)
            }
        }
        return text
    }

    static func text(_ string: String) -> String {
        // Most texts are like that, and some are long.
        string.utf8.allSatisfy { (0x20..<0x7F).contains($0) } ? string : text(Array(string.utf8))
    }

    static func text(_ path: RelativePath) -> String { path.isRoot ? "." : text(path.bytes) }

    /// JSON text over several lines, with `\u…` in its texts for what must not reach a terminal.
    static func json(_ text: String) -> String {
        var safe = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar != "\n", isHarmful(scalar) {
                // All of them are below U+10000.
                let digits = String(scalar.value, radix: 16)
                safe += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).unicodeScalars
            } else {
                safe.append(scalar)
            }
        }
        return String(safe)
    }

    private static func escaped(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return byte < 16 ? "\\x0" + digits : "\\x" + digits
    }

    /// Controls (Cc), line and paragraph separators, and the characters of Unicode's bidirectional algorithm (UAX #9).
    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

/// Bytes as Unicode scalars where they are UTF-8, and single bytes where they are not.
struct UTF8Runs {
    enum Run: Equatable {
        case scalar(Unicode.Scalar)
        case invalid(UInt8)
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Collection<UInt8>) { rest = Array(bytes)[...] }

    mutating func next() -> Run? {
        guard let first = rest.first else { return nil }
        let length =
            switch first {
            case 0..<0x80: 1
            case 0xC2..<0xE0: 2
            case 0xE0..<0xF0: 3
            case 0xF0..<0xF5: 4
            default: 0
            }
        if length > 0, rest.count >= length,
            let string = String(validating: rest.prefix(length), as: UTF8.self),
            let scalar = string.unicodeScalars.first
        {
            rest = rest.dropFirst(length)
            return .scalar(scalar)
        }
        rest = rest.dropFirst()
        return .invalid(first)
    }
}
