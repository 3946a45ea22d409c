// Quotes words of commands that a person can copy.

/// Quotes a name or a path for a shell command; every printed command uses it.
package enum ShellWord {
    /// `word`, in quotes if it has characters that are special in a shell (POSIX Shell Command Language, 2.2).
    ///
    /// Bytes that must not be shown are written as `$'\\012'`, which bash, zsh, ksh and POSIX.1-2024 understand. So is a
    /// `!`, which bash replaces in double quotes. Single quotes are avoided: sentences have them around commands.
    package static func text(_ word: some Collection<UInt8>) -> String {
        let bytes = Array(word)
        guard Array(Escaping.prose(bytes).utf8) == bytes, case let text = String(decoding: bytes, as: UTF8.self),
            !text.unicodeScalars.contains(where: isUnclear)
        else { return "$'" + bytes.map(dollarQuoted).joined() + "'" }
        // A tilde means a home directory only at the beginning of a word or after a colon.
        if !text.isEmpty, text.first != "~", !text.contains(":~"),
            text.utf8.allSatisfy({ isPlain($0) || $0 == UInt8(ascii: "~") })
        {
            return text
        }
        return "\"" + text.map { "\\\"$`".contains($0) ? "\\\($0)" : "\($0)" }.joined() + "\""
    }

    package static func text(_ word: String) -> String { text(Array(word.utf8)) }

    /// Whether a character cannot be seen, or means something in double quotes.
    private static func isUnclear(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .format, .unassigned, .privateUse: true
        default: scalar == "!"
        }
    }

    private static func dollarQuoted(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "'"), UInt8(ascii: "\\"): return "\\" + String(UnicodeScalar(byte))
        case 0x20..<0x7F: return String(UnicodeScalar(byte))
        default:
            let digits = String(byte, radix: 8)
            return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x80..., UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "/._-+,:@%".utf8.contains(byte)
        }
    }
}
