// Quotes words of commands that a person can copy.

/// Quotes a path for a shell command.
enum ShellWord {
    /// `path`, in double quotes if it has characters that are special in a shell (POSIX Shell Command Language, 2.2.3).
    static func text(_ path: [UInt8]) -> String {
        let text = Escaping.text(path)
        let isPlain = text.utf8.allSatisfy { byte in
            byte >= 0x80 || isAlphanumeric(byte) || "/._-+,:@%=".utf8.contains(byte)
        }
        if isPlain { return text }
        return "\"" + text.map { "\\\"$`".contains($0) ? "\\\($0)" : "\($0)" }.joined() + "\""
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
