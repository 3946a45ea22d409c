// Splitting files of patterns into lines.

import Exclusions
import TestTraits
import Testing

@Suite("Pattern lines", .blocking)
struct PatternLinesTests {
    @Test(
        "a file is split into patterns",
        arguments: [
            ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("\n\na\n\n", ["a"]),
            ("a\r\nb\r\n", ["a", "b"]), ("a\r", ["a"]), ("a\r\r\n", ["a\r"]), ("\r\n", []), ("a\rb\n", ["a\rb"]),
            ("#a\n#\n # b\na # b", [" # b", "a # b"]), ("\\#a", ["\\#a"]),
            ("a  \n  \n b ", ["a", " b"]), ("a\\ \nb\\  \nc\\\\ \nd \\", ["a\\ ", "b\\ ", "c\\\\", "d \\"]),
            ("a \r\n", ["a"]), ("a\t\n\t", ["a\t", "\t"]),
            ("\u{feff}a\n\u{feff}b", ["a", "\u{feff}b"]), ("\u{feff}#a\nb", ["b"]), ("\u{feff}", []),
            ("a\0b\nc\0\n\0d", ["a", "c"]), ("a \0b", ["a"]),
            ("!a/\n", ["!a/"]),
        ])
    func lines(_ text: String, _ patterns: [String]) {
        let found = ExclusionRules.patterns(in: Array(text.utf8))
        #expect(found.map { String(decoding: $0, as: UTF8.self) } == patterns)
    }

    @Test("a file without a pattern that can match is empty")
    func empty() {
        #expect(IgnoreFile(Array("# a\n\n/\n!\n//\n[\n!/\nb\\\n".utf8)).isEmpty)
        #expect(!IgnoreFile(Array("# a\nb".utf8)).isEmpty)
        #expect(!IgnoreFile(Array("!b".utf8)).isEmpty)
    }
}
