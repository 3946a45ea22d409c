// Checks the sentences of gitignore(5), one by one.

import Exclusions
import FileIO
import TestTraits
import Testing

@Suite("gitignore(5)", .blocking)
struct GitignoreManualTests {
    /// A sentence, an ignore file at the root, and the paths it excludes; directories end with `/`.
    struct Sentence: CustomTestStringConvertible, Sendable {
        let text: String
        let file: String
        let excluded: [String]
        let included: [String]

        init(_ text: String, _ file: String, excluded: [String] = [], included: [String] = []) {
            self.text = text
            self.file = file
            self.excluded = excluded
            self.included = included
        }

        var testDescription: String { text }
    }

    @Test(
        "each sentence of the manual holds",
        arguments: [
            Sentence("a blank line matches no files", "\n  \n\t\n", included: ["a", " ", "a/b", "d/"]),
            Sentence("# is a comment", "#a", included: ["#a", "a"]),
            Sentence("a backslash in front of the first hash", "\\#a", excluded: ["#a"], included: ["a", "\\#a"]),
            Sentence("# is a comment at the beginning only", " #a\na#b", excluded: [" #a", "a#b"], included: ["a"]),
            Sentence("trailing spaces are ignored", "a  ", excluded: ["a"], included: ["a  ", "a "]),
            Sentence("unless quoted with a backslash", "a\\ ", excluded: ["a "], included: ["a", "a\\ "]),
            Sentence("of two, only the quoted one stays", "a\\  ", excluded: ["a "], included: ["a", "a  "]),
            Sentence("a trailing tab counts", "a\t", excluded: ["a\t"], included: ["a"]),
            Sentence("! includes again", "*.a\n!b.a", excluded: ["a.a", "d/a.a"], included: ["b.a", "d/b.a"]),
            Sentence("the last pattern that matches decides", "!b.a\n*.a", excluded: ["b.a"]),
            Sentence("not below an excluded directory", "d/\n!d/a\n!a", excluded: ["d/", "d/a"], included: ["a"]),
            Sentence("a backslash in front of the first !", "\\!i!.txt", excluded: ["!i!.txt"], included: ["i!.txt"]),
            Sentence("! only negates once", "*\n!!a", excluded: ["a"], included: ["!a"]),
            Sentence("a separator at the beginning anchors", "/a", excluded: ["a", "a/", "a/b"], included: ["d/a"]),
            Sentence("a separator in the middle anchors", "d/a", excluded: ["d/a"], included: ["e/d/a", "a"]),
            Sentence("otherwise at any level", "a", excluded: ["a", "d/a", "d/e/a", "a/b"], included: ["ab", "d/ba"]),
            Sentence("a separator at the end: directories only", "a/", excluded: ["a/", "d/a/"], included: ["a"]),
            Sentence("doc/frotz/", "doc/frotz/", excluded: ["doc/frotz/"], included: ["a/doc/frotz/", "doc/frotz"]),
            Sentence("frotz/", "frotz/", excluded: ["frotz/", "a/frotz/"], included: ["frotz", "a/frotz"]),
            Sentence("* matches all but a slash", "/a*c", excluded: ["ac", "abbc"], included: ["a/c", "ab/c"]),
            Sentence("? matches one character", "/a?c", excluded: ["abc"], included: ["ac", "a/c", "abbc"]),
            Sentence("a range", "[a-zA-Z]", excluded: ["a", "Z", "d/q"], included: ["0", "ab"]),
            Sentence("a backslash escapes *", "\\*", excluded: ["*"], included: ["a", "\\*"]),
            Sentence("\\a matches a", "\\a", excluded: ["a"], included: ["\\a"]),
            Sentence("a backslash at the end never matches", "a\\\nb\\/", included: ["a", "a\\", "b", "b\\", "b/"]),
            Sentence("**/foo", "**/foo", excluded: ["foo", "a/foo", "a/b/foo"], included: ["afoo", "a/foob"]),
            Sentence(
                "**/foo/bar", "**/foo/bar", excluded: ["foo/bar", "a/foo/bar", "a/b/foo/bar"],
                included: ["foo/a/bar", "bar", "afoo/bar"]),
            Sentence("abc/**", "abc/**", excluded: ["abc/d", "abc/d/e/f"], included: ["abc/", "a/abc/d"]),
            Sentence(
                "a/**/b", "a/**/b", excluded: ["a/b", "a/x/b", "a/x/y/b"], included: ["ab", "b", "a/xb", "c/a/b"]),
            Sentence("other consecutive asterisks are regular", "/a**b", excluded: ["ab", "axb"], included: ["a/b"]),
            Sentence("also at a component's end", "a**/b", excluded: ["a/b", "ax/b"], included: ["ab", "ax/y/b"]),
            Sentence("also at a component's beginning", "/**a/b", excluded: ["a/b", "xa/b"], included: ["x/a/b"]),
            Sentence("a lone ** matches all", "**", excluded: ["a", "a/b", "d/"]),
            Sentence(
                "hello.*", "hello.*", excluded: ["hello.txt", "hello.c", "a/hello.java", "hello.d/"],
                included: ["hello", "a.hello.c"]),
            Sentence("/hello.*", "/hello.*", excluded: ["hello.txt", "hello.c"], included: ["a/hello.java"]),
            Sentence("foo/", "foo/", excluded: ["foo/", "foo/a", "foo/a/b"], included: ["foo"]),
            Sentence("/doc/frotz", "/doc/frotz", excluded: ["doc/frotz"], included: ["a/doc/frotz"]),
            Sentence("doc/frotz", "doc/frotz", excluded: ["doc/frotz"], included: ["a/doc/frotz"]),
            Sentence("foo/*", "/foo/*\n!foo/bar", excluded: ["foo/test.json"], included: ["foo/bar/hello.c", "foo/"]),
            Sentence(
                "objects and archives", "*.[oa]", excluded: ["file.o", "lib.a", "src/internal.o"], included: ["a.c"]),
            Sentence(
                "all but foo/bar", "/*\n!/foo\n/foo/*\n!/foo/bar", excluded: ["a", "d/", "foo/a", "foo/d/e"],
                included: ["foo/", "foo/bar/", "foo/bar/a"]),
        ])
    func sentence(_ sentence: Sentence) throws {
        let tree = IgnoreTree(sentence.file)
        for path in sentence.excluded { #expect(try tree.excludes(path), "\(path) is excluded") }
        for path in sentence.included { #expect(try !tree.excludes(path), "\(path) is included") }
    }

    @Test("an ignore file in a deeper directory takes precedence")
    func precedence() throws {
        var tree = IgnoreTree("*.html\nvmlinux*")
        tree.add("!foo.html", in: RelativePath("Documentation"))
        tree.add("!/vmlinux*", in: RelativePath("arch/foo/kernel"))
        #expect(try tree.excludes("Documentation/gitignore.html"))
        #expect(try !tree.excludes("Documentation/foo.html"))
        #expect(try tree.excludes("foo.html"))
        #expect(try !tree.excludes("arch/foo/kernel/vmlinux.lds.S"))
        #expect(try tree.excludes("arch/foo/vmlinux.lds.S"))
        #expect(try tree.excludes("arch/foo/kernel/deeper/vmlinux.lds.S"))
    }

    @Test("patterns of the command line take precedence over all files")
    func commandLine() throws {
        var tree = IgnoreTree("a\n!b")
        tree.rules.patterns = ["!a", "b", "#c", "d "].map { Array($0.utf8) }
        #expect(try !tree.excludes("a"))
        #expect(try tree.excludes("b"))
        #expect(try tree.excludes("#c"), "no comments on the command line")
        #expect(try tree.excludes("d "), "blanks count on the command line")
        #expect(try !tree.excludes("d"))
    }
}
