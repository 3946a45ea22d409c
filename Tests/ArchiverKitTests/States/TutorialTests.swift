// The tutorial's code equals that of a package outside archiver, which `make check` builds; README's is compiled here.

import ArchiverKit
import FileIO
import Foundation
import Mementos
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("The tutorial and README", .blocking)
struct TutorialTests {
    private let sandbox: Sandbox
    private var archive: Archive { sandbox.archive }

    init() throws { sandbox = try Sandbox() }

    @Test("the tutorial has the code blocks of the package that is built")
    func tutorial() throws {
        let document = try CodeBlocks.file("Sources/ArchiverKit/ArchiverKit.docc/TimeTravel.md")
        let blocks = Set(CodeBlocks.ofDocument(document))
        let package = try ["State", "journal"].flatMap { name in
            CodeBlocks.ofSource(try CodeBlocks.file("fixtures/package/Sources/journal/\(name).swift"))
        }
        #expect(!package.isEmpty && package.allSatisfy(blocks.contains))
        let manifest = blocks.subtracting(package)
        #expect(manifest.count == 1 && manifest.first?.contains("let package = Package(") == true)
    }

    @Test("the tutorial's manifest is that of swift package init with archiver added")
    func manifest() throws {
        let folder = sandbox.base.directory.appending("journal")
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
        let outcome = try ChildProcess.run(
            ["swift", "package", "init", "--type", "executable", "--name", "journal"],
            environment: ProcessInfo.processInfo.environment, directory: folder)
        try #require(outcome.status == 0, "\(outcome.errorText)")
        let made = try String(contentsOfFile: folder.appending("Package.swift").string, encoding: .utf8)
        #expect(FileManager.default.fileExists(atPath: folder.appending("Sources/journal/journal.swift").string))
        let document = try CodeBlocks.file("Sources/ArchiverKit/ArchiverKit.docc/TimeTravel.md")
        let block = CodeBlocks.ofDocument(document).first { $0.contains("let package = Package(") }
        let shown = plain(try #require(block).joined(separator: "\n"))
            .replacing(#"dependencies:[.package(name:"archiver",path:"../archiver",traits:[])],"#, with: "")
            .replacing(#",dependencies:[.product(name:"ArchiverKit",package:"archiver")]"#, with: "")
        #expect(shown == plain(made))
    }

    /// A manifest without comments and whitespace.
    private func plain(_ manifest: String) -> String {
        let lines = manifest.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.hasPrefix("//") }
        return lines.joined().filter { !$0.isWhitespace }
    }

    /// Articles whose code is built in the package outside archiver, with the program that has it.
    private static let programs = [
        "ArchiverKit": "overview/main", "FindingAVersion": "overview/FindingAVersion", "Keeping": "overview/Keeping",
        "TestingAProgram": "../Tests/GameTests/SlotsTests", "Undo": "undoing/main",
        "WatchingFromAProgram": "watcher/main",
    ]

    @Test("other articles have the code of programs that are built", arguments: programs)
    func articles(name: String, program: String) throws {
        let article = try CodeBlocks.file("Sources/ArchiverKit/ArchiverKit.docc/\(name).md")
        let source = try CodeBlocks.file("fixtures/package/Sources/\(program).swift")
        let blocks = CodeBlocks.ofDocument(article)
        #expect(!blocks.isEmpty && blocks == CodeBlocks.ofSource(source))
    }

    @Test("all Swift code in documents is compiled")
    func documents() throws {
        // TimeTravel, KeepingStates and the later ones have their own tests: this suite's, KeepingStatesArticle,
        // ArticleTests.
        let compiled = Set(Self.programs.keys).union([
            "README", "TimeTravel", "KeepingStates", "Commands", "Observer", "UserInterfaces",
        ])
        let documents = try CodeBlocks.documents()
        #expect(documents.count > 10)
        let withCode = documents.filter { !CodeBlocks.ofDocument($0.text).isEmpty }
        #expect(Set(withCode.map(\.name)) == compiled)
    }

    @Test("the package outside archiver uses every public type of the patterns and of saved states")
    func everything() throws {
        let folder = "fixtures/package/Sources/everything"
        let used = try ["main", "Observing", "Commanding", "States"]
            .map { try CodeBlocks.file("\(folder)/\($0).swift") }.joined()
        let declaration = /\npublic (?:final class|struct|enum|protocol|actor|class) (\w+)/
        var names: Set<String> = []
        for folder in ["Sources/Mementos", "Sources/SavedStates"] {
            for source in try CodeBlocks.sources(in: folder) {
                names.formUnion(source.matches(of: declaration).map { String($0.output.1) })
            }
        }
        #expect(names.count > 20)
        for name in names { #expect(used.contains(try Regex("\\b\(name)\\b").wordBoundaryKind(.simple)), "\(name)") }
    }

    @Test("the program in README compiles and works")
    func readme() throws {
        let blocks = CodeBlocks.ofDocument(try CodeBlocks.file("README.md"))
        let source = try CodeBlocks.file("Tests/ArchiverKitTests/States/TutorialTests.swift")
        #expect(!blocks.isEmpty && blocks == CodeBlocks.ofSource(source))

        // begin
        struct Game: Codable, Sendable { var level = 1, score = 0 }

        var game = try archive.load(as: "Best Game Ever", startingFrom: Game())
        game.score += 9002
        try archive.save(game, as: "Best Game Ever", label: "the boss is dead")

        for memento in try archive.history(of: "Best Game Ever") { print(memento.shortID, memento.time) }
        game = try archive.load(as: "Best Game Ever", at: "latest~1")
        // end
        #expect(game.score == 0)
    }
}
