// Configuration files: values with their lines, errors with file, line and remedy.

import Configuring
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct ConfigurationDocumentTests {
    private static let text = """
        # My machine.
        archive = "/mnt/disk/archive"

        [keep]
        daily = "30d"     # a month

        [budget]
        "max-size" = '20G'

        [[root]]
        path = "/home/ann"
        exclude = [
            "*.o",   # ]
            "build/",
        ]
        settle = "1s"

        [root.keep]
        policy = "usual"

        # The notes.
        [[root]]
        path = \"""
        /home/ann/notes\"""
        exclude-caches = true
        """

    private static func document(_ text: String) throws -> ConfigurationDocument {
        try ConfigurationDocument(text, file: "/c.toml")
    }

    private static func fault(_ text: String) -> ConfigurationError? {
        do throws(ConfigurationError) {
            _ = try ConfigurationDocument(text, file: "/c.toml")
            return nil
        } catch { return error }
    }

    @Test("each value has the line where it begins, also after values of several lines")
    func lines() throws {
        let document = try Self.document(Self.text)
        #expect(document.top["archive"]?.line == 2)
        #expect(document.keep?["daily"]?.line == 5)
        #expect(document.budget?["max-size"]?.value == .text("20G"))
        #expect(document.budget?["max-size"]?.line == 8)
        #expect(document.roots.map(\.table.line) == [10, 22])
        #expect(document.roots[0].table["exclude"]?.value == .texts(["*.o", "build/"]))
        #expect(document.roots[0].table["exclude"]?.line == 12)
        #expect(document.roots[0].table["settle"]?.line == 16)
        #expect(document.roots[0].keep?["policy"]?.line == 19)
        #expect(document.roots[1].table["path"]?.value == .text("/home/ann/notes"))
        #expect(document.roots[1].table["exclude-caches"]?.line == 25)
    }

    @Test("an unknown key is an error with its line and the keys that may stand there")
    func unknownKey() throws {
        let error = try #require(Self.fault("[[root]]\npath = \"/a\"\n\nsetle = \"1s\"\n"))
        #expect(error.description == "/c.toml:4: unknown key 'setle'")
        #expect(error.unknown?.known.contains("settle") == true)
        let misplaced = try #require(Self.fault("settle = \"1s\"\n"))
        #expect(misplaced.line == 1)
        #expect(misplaced.remedy == "'settle' belongs to [[root]]")
        #expect(Self.fault("[bugdet]\nmax-size = \"1G\"\n")?.unknown?.known.contains("budget") == true)
    }

    @Test(
        "a value of another type is an error with its line and what to write",
        arguments: [
            ("archive = 3\n", 1, "'archive' must be a text in quotes"),
            ("[[root]]\npath = \"/a\"\nexclude = \"*.o\"\n", 3, "'exclude' must be a list of texts"),
            ("[[root]]\npath = \"/a\"\nexclude = [\"a\",\n 1]\n", 3, "'exclude' must be a list of texts"),
            ("[[root]]\nexclude-caches = \"yes\"\n", 2, "'exclude-caches' must be true or false"),
            ("\n[root]\npath = \"/a\"\n", 2, "'root' is one table"),
            ("keep = \"usual\"\n", 1, "'keep' must be a table"),
            ("root = [1]\n", 1, "'root' holds something else than tables"),
        ])
    func wrongType(_ text: String, _ line: Int, _ reason: String) throws {
        let error = try #require(Self.fault(text))
        #expect(error.line == line)
        #expect(error.reason == reason)
        #expect(error.remedy?.hasPrefix("write ") == true)
    }

    @Test("wrong syntax is an error with its line; a NUL is refused")
    func syntax() throws {
        #expect(Self.fault("archive = \"/a\"\nnonsense\n")?.line == 2)
        #expect(Self.fault("archive = /a\n")?.line == 1)
        #expect(Self.fault("archive = \"/a\"\narchive = \"/b\"\n")?.line == 2)
        #expect(Self.fault("archive = \"/a\\u0000b\"\n")?.reason == "the file contains a NUL character")
        for text in ["[[[", "[", "[[", "[]", "[[]]", "[!", "[ [a]]", "[.a]", "[é]", "[[root]", "[a]b", "[=]"] {
            #expect(Self.fault("archive = \"/a\"\n" + text)?.line == 2, "\(text)")
        }
        #expect(Self.fault("archive = " + String(repeating: "[", count: 5000))?.line == 1)
        #expect(try Self.document("archive = \"\"\"\n[!\n[[[\"\"\"\n").top["archive"]?.value == .text("[!\n[[["))
    }

    @Test("no text ends the process, and a wrong one is an error")
    func damagedTexts() {
        var random = SeededGenerator("damaged configurations")
        let pieces = Array("[]{}\"'\\#,=.\n a1é").map(String.init) + ["[[", "]]", "\"\"\"", "'''", "\r\n", ""]
        for _ in 0..<10_000 {
            var text = Array(Self.text)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<text.count, using: &random)
                let end = min(text.count, place + Int.random(in: 0...4, using: &random))
                text.replaceSubrange(place..<end, with: Array(pieces.randomElement(using: &random) ?? ""))
            }
            // Whole, and cut off.
            for count in [text.count, Int.random(in: 0...text.count, using: &random)] {
                #expect(Self.fault(String(text.prefix(count))).map { ($0.line ?? 1) >= 1 } ?? true)
            }
        }
    }

    @Test("roots may be a list of values, which have lines but cannot be cut out")
    func inlineRoots() throws {
        let document = try Self.document("root = [{path = \"/a\"},\n {path = \"/b\", settle = \"1s\"}]\n")
        #expect(document.roots.count == 2)
        #expect(document.roots[1].table["settle"]?.line == 1)
        #expect(document.roots.allSatisfy { $0.lines == nil })
    }

    @Test("a file with carriage returns has the same lines, and a root can be removed from it")
    func carriageReturns() throws {
        let text = Self.text.replacing("\n", with: "\r\n")
        let document = try Self.document(text)
        #expect(document.roots.map(\.table.line) == [10, 22])
        #expect(document.roots[0].table["exclude"]?.line == 12)
        let first = try #require(document.roots[0].lines)
        #expect(try Self.document(ConfigurationText.removing(first, from: text)).roots.count == 1)
    }

    @Test("a removed root takes its own tables along and leaves everything else")
    func removing() throws {
        let document = try Self.document(Self.text)
        let first = try #require(document.roots[0].lines)
        #expect(first == 10...19)
        let rest = ConfigurationText.removing(first, from: Self.text)
        let left = try Self.document(rest)
        #expect(left.roots.map(\.table).map { $0["path"]?.value } == [.text("/home/ann/notes")])
        #expect(left.keep == document.keep)
        #expect(rest.contains("# The notes."))
        let second = try #require(document.roots[1].lines)
        #expect(try Self.document(ConfigurationText.removing(second, from: Self.text)).roots.map(\.lines) == [10...19])
    }

    @Test("a text survives quoting: quotes, backslashes, control characters and all of Unicode")
    func quoting() throws {
        for text in ["", "a\"b\\c", "\u{1}\u{7f}\t\n", "é漢🙂", "'", "#x = [", "$HOME %h"] {
            let line = ConfigurationText.line("archive", .text(text))
            #expect(try Self.document(line).top["archive"]?.value == .text(text), "\(line)")
        }
        #expect(ConfigurationText.appending(["b = 1"], to: "a = 1") == "a = 1\n\nb = 1\n")
    }
}
