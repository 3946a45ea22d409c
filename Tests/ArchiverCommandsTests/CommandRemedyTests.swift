// What the library advises, in the words of the command line.

import ArchiveStorage
import SystemPackage
import TestSupport
import Testing

@testable import ArchiverCommands

@Suite("Remedies of the command line")
struct CommandRemedyTests {
    @Test("each advice of the library is worded with an option or a command that exists", arguments: Advice.allCases)
    func words(_ advice: Advice) throws {
        let text = try #require(CommandRemedy.text(advice.text, path: "/srv/novel"))
        let options = try CodeBlocks.file("Sources/ArchiverKit/ArchiverKit.docc/Options.md")
        for option in text.matches(of: /--[a-z][a-z-]+/) { #expect(options.contains("`\(option.output)`"), "\(text)") }
        for command in text.matches(of: /'archiver ([a-z]+)/) {
            #expect(Self.commands.contains(String(command.output.1)), "\(text)")
        }
        #expect(text != advice.text && !text.contains("DIR'\"") && !advice.text.contains("--"))
    }

    @Test("a command names the file concerned, quoted if needed; other remedies stay as they are")
    func paths() {
        #expect(CommandRemedy.text(Advice.watchRoot.text, path: "/srv/a b") == "run 'archiver watch \"/srv/a b\"'")
        #expect(CommandRemedy.text(Advice.watchRoot.text) == "run 'archiver watch DIR'")
        #expect(CommandRemedy.text("save one first") == "save one first")
        #expect(CommandRemedy.text(nil) == nil)
    }

    @Test("each of several remedies is worded on its own")
    func several() {
        let remedy = "free some space, then \(Advice.finishOrUndo.text)"
        #expect(
            CommandRemedy.text(remedy)
                == "free some space, then run it again to finish it, or 'archiver undo' to reverse it")
    }

    private static let commands = Set(ArchiverProgram.commandNames + ["help"])
}
