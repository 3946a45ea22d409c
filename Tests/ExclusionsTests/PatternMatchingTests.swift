// Pattern matching: wildcards, bracket expressions, asterisks across directories, and excessive backtracking.

import Exclusions
import TestTraits
import Testing

@Suite("Pattern matching", .blocking)
struct PatternMatchingTests {
    /// A pattern, the paths that it matches, and paths that it does not match.
    struct Case: CustomTestStringConvertible, Sendable {
        let pattern: String
        let matching: [String]
        let other: [String]

        init(_ pattern: String, _ matching: [String], not other: [String] = []) {
            self.pattern = pattern
            self.matching = matching
            self.other = other
        }

        var testDescription: String { pattern }
    }

    static func matches(_ pattern: String, _ path: String) -> Bool {
        IgnoreFile(Array(pattern.utf8)).verdict(on: Array(path.utf8)[...], isDirectory: false) == .excluded
    }

    private func check(_ example: Case) {
        for path in example.matching { #expect(Self.matches(example.pattern, path), "\(path) matches") }
        for path in example.other { #expect(!Self.matches(example.pattern, path), "\(path) does not match") }
    }

    @Test(
        "wildcards match within a name",
        arguments: [
            Case("cat", ["cat", "d/cat"], not: ["ca", "cats", "tcat", "Cat", "cat/d"]),
            Case("???", ["cat", "d/cat"], not: ["ca", "cats"]),
            Case("*", ["c", "cat", "d/cat"]),
            Case("c*", ["c", "cat"], not: ["acat"]),
            Case("*t", ["t", "cat"], not: ["tc", "cats"]),
            Case("c*t", ["ct", "cat", "catt"], not: ["c", "t", "tac"]),
            Case("aa*aa", ["aaaa", "aabaa"], not: ["aaa", "aa"]),
            Case("*at*", ["at", "catch"], not: ["a", "act"]),
            Case("*ar*e*i*", ["archive it", "barei"], not: ["aerie", "iare"]),
            Case("*ab", ["ab", "ababab", "aaab"], not: ["aba"]),
            Case("c?t*", ["cat", "cute"], not: ["ct", "ca"]),
            Case("*c?", ["cacs", "ccc"], not: ["c", "cat"]),
            Case("**t", ["cat", "t"], not: ["tc"]),
            Case("c\\*t", ["c*t"], not: ["cat", "c\\*t"]),
            Case("c\\?t", ["c?t"], not: ["cat"]),
            Case("c\\\\t", ["c\\t"], not: ["c\\\\t", "ct"]),
            Case("\\c\\a\\t", ["cat"]),
            Case("\\[cat]", ["[cat]"], not: ["c"]),
            Case("]", ["]"]),
        ])
    func names(_ example: Case) { check(example) }

    @Test(
        "bracket expressions match single bytes",
        arguments: [
            Case("[cat]", ["c", "a", "t"], not: ["cat", "b", ""]),
            Case("c[a-o]t", ["cat", "cot"], not: ["cut", "ct"]),
            Case("c[!a-o]t", ["cut", "c-t"], not: ["cat", "cot"]),
            Case("c[^a-o]t", ["cut"], not: ["cat", "c/t"]),
            Case("c[a^]t", ["cat", "c^t"], not: ["cbt"]),
            Case("[]]", ["]"], not: ["[", "[]]"]),
            Case("[]-]", ["]", "-"], not: ["a"]),
            Case("[!]-]", ["a"], not: ["]", "-"]),
            Case("[!]]", ["a", "["], not: ["]"]),
            Case("[]-a]", ["]", "^", "a"], not: ["[", "-"]),
            Case("[a-]", ["a", "-"], not: ["b"]),
            Case("[-a]", ["a", "-"], not: ["b"]),
            Case("[a-c-e]", ["a", "b", "c", "-", "e"], not: ["d"]),
            Case("[--0]", ["-", ".", "0"], not: [",", "1"]),
            Case("[---]", ["-"], not: ["a"]),
            Case("[c-a]", ["c"], not: ["a", "b", "-"]),
            Case("[a-]x]", ["ax]", "-x]"], not: ["a", "x", "]"]),
            Case("[\\]]", ["]"], not: ["\\", "\\]"]),
            Case("[\\\\]", ["\\"], not: ["]"]),
            Case("[!\\\\]", ["a"], not: ["\\"]),
            Case("[\\-z]", ["-", "z"], not: ["a", "\\"]),
            Case("[\\a-\\c]", ["a", "b", "c"], not: ["d", "\\"]),
            Case("[A-\\\\]", ["G", "[", "\\"], not: ["]", "a"]),
            Case("[[-\\]]", ["[", "\\", "]"], not: ["-"]),
            Case("[[]", ["["], not: ["]"]),
            Case("[[:]x]", ["[x]", ":x]"], not: ["x"]),
            Case("[[:digit]x]", ["[x]", "dx]", ":x]"], not: ["0x]", "x"]),
            Case("[[:digit:]-z]", ["0", "-", "z"], not: ["a"]),
            Case("[a-z]", ["a"], not: ["A"]),
            Case("[B-a]", ["B", "Z", "a", "_"], not: ["A", "b"]),
            Case("[é]", [], not: ["é", "e"]),
            Case("[é][é]", ["é"]),
        ])
    func brackets(_ example: Case) { check(example) }

    @Test(
        "named classes contain exactly their ASCII characters",
        arguments: [
            ("alnum", "azAZ09", " _-\t"), ("alpha", "azAZ", "09@[`{"), ("blank", " \t", "\na\r"),
            ("cntrl", "\u{1}\t\u{1f}\u{7f}", " a"), ("digit", "09", "/:a"), ("graph", "!~a0", " \u{7f}"),
            ("lower", "az", "AZ0`{"), ("print", " ~a", "\t\u{7f}"), ("punct", "!.:@[`{~_^|", "a0 "),
            ("space", " \t\r", "a\u{b}\u{c}"), ("upper", "AZ", "az@["), ("xdigit", "09afAF", "gG/:@`"),
        ])
    func classes(_ name: String, _ members: String, _ others: String) {
        for member in members { #expect(Self.matches("[[:\(name):]]", String(member)), "\(member)") }
        for other in others where other != "/" {
            #expect(!Self.matches("[[:\(name):]]", String(other)), "\(other)")
            #expect(Self.matches("[^[:\(name):]]", String(other)), "\(other)")
        }
    }

    @Test(
        "invalid patterns match nothing, not even themselves",
        arguments: [
            "a[", "a[]b", "a[!", "a[^]", "[-", "[a-", "[!a-", "[\\]", "[[:digit:]", "[[:spaci:]]", "[[::]x]", "\\",
            "a\\",
        ])
    func invalid(_ pattern: String) {
        for path in [pattern, "a", "b", "-", "\\", "ab", ":", "0", " ", "ax]"] {
            #expect(!Self.matches(pattern, path), "\(path)")
        }
        #expect(IgnoreFile(Array(pattern.utf8)).isEmpty)
    }

    @Test(
        "asterisks match across directories as in gitignore(5)",
        arguments: [
            Case("/*/*", ["a/b"], not: ["a", "a/b/c"]),
            Case("a/*", ["a/b"], not: ["a", "a/b/c", "b/a/b"]),
            Case("*/b", ["a/b"], not: ["b", "x/a/b"]),
            Case("a*/b", ["a/b", "ax/b"], not: ["ax/y/b"]),
            Case("a/*c", ["a/c", "a/bc"], not: ["a/b/c"]),
            Case("a/**", ["a/b", "a/b/c"], not: ["a", "ab", "x/a/b"]),
            Case("a/**c", ["a/c", "a/bc"], not: ["a/b/c"]),
            Case("a/c**", ["a/c", "a/cb"], not: ["a/c/b"]),
            Case("a/**/**/b", ["a/b", "a/x/b", "a/x/y/b"], not: ["a", "ab"]),
            Case("a/***/b", ["a/b", "a/x/b", "a/x/y/b"]),
            Case("**/**/**", ["a", "a/b/c/d"]),
            Case("**/*/*", ["a/b", "a/b/c"], not: ["a"]),
            Case("**/a/*", ["a/b", "x/a/b", "x/y/a/b"], not: ["a", "x/a/y/b"]),
            Case("**/a/**", ["a/b", "x/a/b", "x/a/y/z"], not: ["a", "x/a"]),
            Case("**/a/*/*", ["a/b/c", "x/a/b/c"], not: ["a/b"]),
            Case("*/a/**", ["x/a/b", "x/a/b/c"], not: ["a/b", "x/y/a/b"]),
            Case("**/a*b*c", ["abc", "x/abc", "x/y/axbxc"], not: ["a/bc", "ab/c", "abcd"]),
            Case("**/[ab]", ["a", "x/b"], not: ["c", "ab"]),
            Case("**/a\\/b", ["a/b", "x/a/b"], not: ["b"]),
            Case("a/**\\/b", ["a/x/b", "a/x/y/b"], not: ["a/b", "a/xb"]),
            Case("a\\/**/b", ["a/b", "a/x/b"], not: ["ab"]),
            Case("*\\/b", ["a/b"], not: ["b", "x/a/b"]),
            Case("a?b/c", ["axb/c"], not: ["a/b/c"]),
            Case("a[/]b", [], not: ["a/b", "a[/]b"]),
            Case("a[^x]b/c", ["ayb/c"], not: ["a/b/c", "axb/c"]),
            Case("a[.-0]b/c", ["a.b/c", "a0b/c"], not: ["a/b/c"]),
            Case("/", [], not: ["a"]),
            Case("//", [], not: ["a", "a/b"]),
            Case("a//b", [], not: ["a/b"]),
            Case("a/**//", [], not: ["a/b", "a/b/c"]),
            Case("*/X*/*/*i", ["ab/Xd/ef/hi"], not: ["ab/cX/ef/hi", "Xd/ef/hi"]),
            Case("**/*X*/**/*i", ["ab/cXd/efXg/hi", "aX/i"], not: ["Xi", "ab/cd/hi"]),
            Case("-*-*-*-12-*-m-*", ["-a-b-c-12-75-m-7"], not: ["-a-b-c-12-75-X-7", "-a-b-c-12-75-/-m-7"]),
        ])
    func directories(_ example: Case) { check(example) }

    @Test(
        "a pattern with excessive backtracking is matched in bounded time",
        arguments: [
            String(repeating: "a*", count: 64) + "b",
            String(repeating: "*a", count: 64) + "*b",
            "**/" + String(repeating: "*a", count: 64) + "b",
            String(repeating: "**/a*a*/", count: 16) + "b",
            String(repeating: "a/**/", count: 32) + "*b",
            String(repeating: "[a]*", count: 64) + "[b]",
            String(repeating: "?*", count: 64) + "b?",
        ])
    func hostile(_ pattern: String) {
        #expect(!Self.matches(pattern, String(repeating: "a", count: 250) + "c"))
        #expect(!Self.matches(pattern, String(repeating: "a/aa/", count: 200) + "c"))
    }
}
