// Shell completions for selectors.

import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Completion", .blocking)
struct CompletionTests {
    /// The completions for the last of `words`.
    private func candidates(_ work: Workplace, _ words: String...) throws -> [String] {
        let typed = ["archiver"] + words
        let place = ["\(typed.count - 1)", "\(words.last?.utf8.count ?? 0)"]
        let outcome = try work.run(
            (["---completion", words[0], "--", "positional@0"] + place + typed).map { Array($0.utf8) }, in: work.root)
        #expect(outcome.status == 0 && outcome.errorText.isEmpty, "\(outcome.errorText)")
        return outcome.lines
    }

    @Test("words, labels and ids with the typed prefix are offered for a selector")
    func selectors() throws {
        let work = try Workplace()
        let first = try work.capture()
        for (number, label) in ["draft-1", "draft-2", "draft-2", "lasting"].enumerated() {
            try work.write("new", "\(number)")
            #expect(try work.run("capture", work.root.string, "--label", label).status == 0)
        }
        #expect(try candidates(work, "show", "la") == ["latest", "lasting"])
        #expect(try candidates(work, "restore", "draft") == ["draft-1", "draft-2"])
        #expect(try candidates(work, "diff", "") == ["latest", "oldest", "session~1", "draft-1", "draft-2", "lasting"])
        #expect(try candidates(work, "cat", String(first.prefix(6))) == [String(first.prefix(8))])
        #expect(try candidates(work, "show", "nothing").isEmpty)
        #expect(try candidates(work, "show", "latest:n").isEmpty)
        // Without an archive, there are no completions and no error.
        let none = try work.run(
            ["---completion", "show", "--", "positional@0", "2", "0", "archiver", "show", ""].map { Array($0.utf8) },
            in: work.root, environment: ["ARCHIVER_ARCHIVE": work.path("none").string])
        #expect(none.status == 0 && none.errorText.isEmpty && none.lines.isEmpty, "\(none.text)\(none.errorText)")
    }

    @Test("the archive is the one that the command line or the configuration names")
    func archives() throws {
        let work = try Workplace()
        #expect(try work.run("capture", work.root.string, "--label", "draft").status == 0)
        try work.write("../.config/archiver/config.toml", "archive = \"\(work.archive)\"\n")
        func labels(_ words: String..., archive: String = "") throws -> [String] {
            let typed = ["archiver", "show"] + words + ["dr"]
            let place = ["\(typed.count - 1)", "2"]
            return try work.run(
                (["---completion", "show", "--", "positional@0"] + place + typed).map { Array($0.utf8) },
                in: work.root, environment: ["ARCHIVER_ARCHIVE": archive]
            ).lines
        }
        #expect(try labels() == ["draft"])
        #expect(try labels(archive: work.path("none").string).isEmpty)
        #expect(try labels("--archive", work.archive.string, archive: work.path("none").string) == ["draft"])
        #expect(try labels("--archive=\(work.archive)", archive: work.path("none").string) == ["draft"])
    }

    @Test("the completion scripts ask for selectors", arguments: ["bash", "zsh", "fish"])
    func scripts(shell: String) throws {
        let work = try Workplace()
        let script = try work.run("--generate-completion-script", shell)
        #expect(script.status == 0 && script.text.contains("---completion restore"), "\(script.errorText)")
    }
}
