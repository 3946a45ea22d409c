// Escapes names and foreign text for output, so that each stays on one line and cannot control the terminal.

internal import ArchiveFormat
package import FileIO

/// Replaces bytes that must not reach a terminal or break a line with `\x…` and their hex digits.
///
/// These are control characters, bytes that are not UTF-8, and characters that reorder or break lines.
package enum Escaping {
    /// Escapes a name so that `bytes(ofName:)` returns its bytes; a backslash that could begin an escape is doubled.
    package static func text(_ name: some Collection<UInt8>) -> String {
        // A fast path: most names are plain ASCII, and paths may be long.
        let backslash = UInt8(ascii: "\\")
        if name.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != backslash }) {
            return String(decoding: name, as: UTF8.self)
        }
        var text = ""
        var names = UTF8Runs(name)
        var endsInBackslash = false
        while let run = names.next() {
            let shown = shown(run)
            if endsInBackslash, shown.hasPrefix("\\") || shown.hasPrefix("x") { text += "\\" }
            endsInBackslash = shown == "\\"
            text += shown
        }
        return text
    }

    /// Escapes a sentence; a backslash stays as it is.
    package static func text(_ string: String) -> String {
        // A fast path: most texts are plain ASCII, and some are long.
        string.utf8.allSatisfy { (0x20..<0x7F).contains($0) } ? string : prose(Array(string.utf8))
    }

    /// Escapes a sentence or a line of a file; a backslash stays as it is.
    package static func prose(_ bytes: [UInt8], keepingTabs: Bool = false) -> String {
        var text = ""
        var runs = UTF8Runs(bytes)
        while let run = runs.next() { text += keepingTabs && run == .scalar("\t") ? "\t" : shown(run) }
        return text
    }

    private static func shown(_ run: UTF8Runs.Run) -> String {
        switch run {
        case .scalar(let scalar) where isHarmful(scalar): String(scalar).utf8.map(escaped).joined()
        case .scalar(let scalar): String(scalar)
        case .invalid(let byte): escaped(byte)
        }
    }

    /// The bytes of a name that `text` escaped: `\xff` is a byte, `\\` a backslash.
    package static func bytes(ofName text: [UInt8]) -> [UInt8] {
        let backslash = UInt8(ascii: "\\")
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == backslash, let next = rest.first else {
                bytes.append(byte)
                continue
            }
            let digits = rest.dropFirst().prefix(2).compactMap(Hex.value)
            if next == backslash {
                bytes.append(backslash)
                rest.removeFirst()
            } else if next == UInt8(ascii: "x"), digits.count == 2 {
                bytes.append(UInt8(digits[0]) << 4 | UInt8(digits[1]))
                rest.removeFirst(3)
            } else {
                bytes.append(backslash)
            }
        }
        return bytes
    }

    package static func text(_ path: RelativePath) -> String { path.isRoot ? "." : text(path.bytes) }

    /// Escapes JSON text of several lines, with `\u…` for characters that must not reach a terminal.
    package static func json(_ text: String) -> String {
        var safe = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar != "\n", isHarmful(scalar) {
                // All harmful characters are below U+10000.
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

/// Splits bytes into Unicode scalars, and single bytes if they are not UTF-8.
package struct UTF8Runs {
    package enum Run: Equatable {
        case scalar(Unicode.Scalar)
        case invalid(UInt8)
    }

    private var rest: ArraySlice<UInt8>

    package init(_ bytes: some Collection<UInt8>) { rest = Array(bytes)[...] }

    package mutating func next() -> Run? {
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
