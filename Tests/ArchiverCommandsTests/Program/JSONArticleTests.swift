// The article on JSON output matches the output of the commands.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverCommands
@testable import ArchiverKit
@testable import WatchControl

@Suite(.blocking)
struct JSONArticleTests {
    /// Fields that the article describes as optional.
    private static func optionalFields(_ article: String) throws -> Set<String> {
        let start = try #require(article.range(of: "Optional fields"))
        let end = try #require(article.range(of: ".\n", range: start.upperBound..<article.endIndex))
        return Set(article[start.upperBound..<end.lowerBound].matches(of: /`(\w+)`/).map { String($0.1) })
    }

    @Test("every command writes the fields that the article lists, with all options that choose what is shown")
    func commands() throws {
        let article = try CodeBlocks.file("Sources/ArchiverKit/ArchiverKit.docc/JSONOutput.md")
        let optional = try JSONArticleTests.optionalFields(article)
        let halves = article.components(separatedBy: "\n## While a directory is watched\n")
        #expect(halves.count == 2)

        let work = try Workplace()
        symlink("notes/todo.txt", work.path("tree/link").string)
        try work.write("plan.md", "plan\n")
        _ = try work.capture()
        try work.remove("tree/plan.md")
        try work.write("notes/todo.txt", "three\n")
        try work.write("new", "new\n")
        for score in [9002, 9003] { try Archive.open(work.archive).save(["score": score], as: "game") }
        #expect(try work.run("check").status == 0)
        try expectFields(of: halves[0], optional, work)
        let watcher = try work.start("watch", work.root.string)
        _ = try watcher.line { $0.contains("  watching \(work.root)") && !$0.contains("first capture") }
        try expectFields(of: halves[1], optional, work)
        watcher.send(SIGTERM)
        #expect(try watcher.finish().status == 0)
    }

    /// Runs the commands of a part of the article's sections.
    private func expectFields(of article: String, _ optional: Set<String>, _ work: Workplace) throws {
        let sections = article.components(separatedBy: "\n### archiver ").dropFirst()
        #expect(!sections.isEmpty)
        for section in sections {
            let command = try #require(section.split(separator: "\n").first).split(separator: " ").map(String.init)
            let block = try #require(section.firstMatch(of: /```json\n([\s\S]*?)\n```/)?.1)
            let documented = try Shape.json(Array(block.utf8))
            for command in [command] + JSONArticleTests.others(section) {
                try expectFields(of: command, documented, optional, work)
            }
        }
    }

    /// The commands of which a section says that they write the same fields.
    private static func others(_ section: String) -> [[String]] {
        guard let text = section.firstMatch(of: /\nThe same fields: ([^\n]*(?:\n[^\n]+)*?)\.\n/)?.1 else { return [] }
        return text.matches(of: /`([^`]+)`/).map { $0.1.split(whereSeparator: \.isWhitespace).map(String.init) }
    }

    private func expectFields(
        of command: [String], _ documented: Any, _ optional: Set<String>, _ work: Workplace
    ) throws {
        let outcome = try work.run(
            (command.prefix(1) + ["--json"] + command.dropFirst()).map { Array($0.utf8) }, in: work.root)
        let written = try Shape.json(outcome.output.isEmpty ? outcome.error : outcome.output)
        let differences = Shape.differences(documented: documented, written: written, optional, at: command[0])
        #expect(differences.isEmpty, "\(command): \(differences)")
        // An empty list shows no fields.
        #expect((documented as? [Any])?.isEmpty != false || (written as? [Any])?.isEmpty == false, "\(command)")
        let vocabulary = try JSONArticleTests.vocabulary()
        // What a program saved has its own fields.
        let skipped: Set<String> = command[0] == "show" ? ["state"] : []
        let words = Shape.fields(of: written, without: skipped)
        #expect(words.filter { !Shape.isWord($0, of: vocabulary) }.isEmpty, "\(command)")
    }

    /// The words for fields and their meanings, as the program's source lists them.
    private static func vocabulary() throws -> [String: String] {
        let source = try CodeBlocks.file("Sources/ArchiverCommands/JSON/Vocabulary.swift")
        let pairs = source.matches(of: /\/\/\/ (.*)\n    static let (\w+) = JSONKey\("(\w+)"\)/).map { match in
            #expect(match.2 == match.3)
            return (String(match.3), String(match.1))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    @Test("the article lists every field with its one meaning")
    func fields() throws {
        let article = try CodeBlocks.file("Sources/ArchiverKit/ArchiverKit.docc/JSONOutput.md")
        let rows = article.split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
        let vocabulary = try Set(JSONArticleTests.vocabulary().map { "| `\($0)` | \($1) |" })
        #expect(rows.count == vocabulary.count && vocabulary.symmetricDifference(rows).isEmpty)
    }

    @Test("the page's interface uses the same words, and the article names its own")
    func page() throws {
        var words: Set<String> = []
        func add(_ value: Any) {
            if let object = value as? [String: Any] {
                words.formUnion((object["properties"] as? [String: Any] ?? [:]).keys)
                object.values.forEach(add)
            } else if let array = value as? [Any] {
                array.forEach(add)
            }
        }
        let interface = try CodeBlocks.file("Sources/TimelineServer/openapi.json")
        add(try Shape.json(Array(interface.utf8)))
        let article = try CodeBlocks.file("Sources/ArchiverKit/ArchiverKit.docc/JSONOutput.md")
        let start = try #require(article.range(of: "Words of its own:"))
        let end = try #require(article.range(of: ".\n", range: start.upperBound..<article.endIndex))
        let own = article[start.upperBound..<end.lowerBound].matches(of: /`(\w+)`/).map { String($0.1) }
        let vocabulary = try JSONArticleTests.vocabulary()
        #expect(words.filter { !Shape.isWord($0, of: vocabulary) }.sorted() == own)
        // The words for kinds, changes and actions are those of the same types.
        let lists = Set(
            interface.matches(of: /"enum": \[([^\]]*)\]/).map { list in
                list.1.matches(of: /"([^"]+)"/).map { String($0.1) }
            })
        #expect(lists.contains(FileKind.allCases.map(\.word)))
        #expect(lists.contains([Difference.Kind.added, .modified, .removed].map(\.rawValue)))
        #expect(lists.contains([RestoreAction.Kind.create, .replace, .metadata, .delete].map(\.rawValue)))
    }

    @Test("every command has a section in the article")
    func sections() throws {
        let article = try CodeBlocks.file("Sources/ArchiverKit/ArchiverKit.docc/JSONOutput.md")
        // Four have a chapter, those of replicas and of the service with others, and one prints a snapshot as `capture`
        // does.
        let others = [
            "watch", "browse", "service", "replica", "fleet", "keys", "enable", "disable", "reload", "pick",
        ]
        let help = try ChildProcess.run(Workplace.program, [Array("--experimental-dump-help".utf8)])
        let root = try #require(try JSON.object(help.output)["command"] as? [String: Any])
        let names = (root["subcommands"] as? [[String: Any]] ?? []).compactMap { $0["commandName"] as? String }
        #expect(names.count > 30)
        for name in names where name != "help" {
            #expect(others.contains(name) || article.contains("\n### archiver \(name)"), "\(name)")
        }
        for name in others.prefix(4) { #expect(article.contains("\n## \(name)\n")) }
    }

    @Test("every event of watch has the fields that the article lists")
    func events() throws {
        let article = try CodeBlocks.file("Sources/ArchiverKit/ArchiverKit.docc/JSONOutput.md")
        let start = try #require(article.range(of: "\n## watch\n"))
        let block = try #require(article[start.upperBound...].firstMatch(of: /```json\n([\s\S]*?)\n```/)?.1)
        let documented = try #require(Shape.json(Array(block.utf8)) as? [[String: Any]])
        let root: FilePath = "/home/ann"
        let problem = Problem(path: .root, reason: .postponed, detail: "large")
        let file = WatcherStatus.LargeFile(
            path: .root, bytes: 7, changed: .tenOClock(0), captured: .tenOClock(1), readSeconds: 3.6,
            intervalSeconds: 36)
        let audit = AuditResult(time: .tenOClock(0), seconds: 0.1, entries: 1, found: 0, repaired: 0, snapshot: nil)
        let events: [WatchService.Event] = [
            .related(root: root, RelatedRoot(ArchivedRoot(here: root), .moved)), .waiting(root: root),
            .wrongClock(root: root, later: .made(1, at: 0)),
            .covered(root: root, by: root), .starting(root: root, isNew: true),
            .watching(root: root, directories: 1, snapshot: .made(1, at: 0), isNew: true), .gap(.lasting(0, to: 1)),
            .fallback(root: root, message: "m", remedy: "r"), .unavailable(root: root), .available(root: root),
            .audited(root: root, audit), .problems(root: root, [problem], count: 1), .largeFile(root: root, file),
            .error(root: root, ArchiverError(.system, "m", remedy: "r")), .maintained(.example),
            .notMaintained(ArchiverError(.damaged, "m", remedy: "r")),
            .replicaFailed(name: "n", ArchiverError(.replica, "m", remedy: "r")), .replicaComplete(name: "n"),
            .dropped(events: 1, warnings: 0),
            .stopped(root: root),
        ]
        #expect(documented.count == events.count)
        for event in events {
            let written = try #require(
                Shape.json(Array(JSONText.of(WatchEventJSON(event)).utf8)) as? [String: Any])
            let name = written["event"] as? String ?? ""
            let example = try #require(documented.first { $0["event"] as? String == name }, "\(name)")
            let differences = Shape.differences(documented: example, written: written, ["remedy"], at: name)
            #expect(differences.isEmpty, "\(differences)")
            let vocabulary = try JSONArticleTests.vocabulary()
            let strange = Shape.fields(of: written, without: []).filter { !Shape.isWord($0, of: vocabulary) }
            #expect(strange.isEmpty, "\(name): \(strange)")
        }
        let snapshot = try JSON.object(Array(JSONText.of(WatchEventJSON(.snapshot(.made(1, at: 0)))).utf8))
        let listed = try #require(article.range(of: "\n### archiver list --limit 1\n"))
        let list = try #require(article[listed.upperBound...].firstMatch(of: /```json\n([\s\S]*?)\n```/)?.1)
        let fields = try #require(JSON.array(Array(list.utf8)).first).keys
        #expect(Set(snapshot.keys) == Set(fields).union(["event"]))
    }

    @Test("capture names the root by its absolute path, whatever the current directory")
    func captureRoot() throws {
        let work = try Workplace()
        let outcome = try work.run(["capture", ".", "--json"].map { Array($0.utf8) }, in: work.root)
        #expect(try JSON.array(outcome.output).first?["root"] as? String == work.root.string)
    }
}

/// The fields of JSON values.
private enum Shape {
    static func json(_ bytes: [UInt8]) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
    }

    /// Whether a field is a word of the vocabulary, or its value in base64.
    static func isWord(_ field: String, of vocabulary: [String: String]) -> Bool {
        vocabulary[field] != nil || field.hasSuffix("Bytes") && vocabulary[String(field.dropLast(5))] != nil
    }

    /// The fields of a value and of everything in it.
    static func fields(of value: Any, without skipped: Set<String>) -> Set<String> {
        if let array = value as? [Any] {
            return array.reduce(into: []) { $0.formUnion(fields(of: $1, without: skipped)) }
        }
        guard let object = value as? [String: Any] else { return [] }
        return object.reduce(into: Set(object.keys)) { found, field in
            if !skipped.contains(field.key) { found.formUnion(fields(of: field.value, without: skipped)) }
        }
    }

    /// The places where the fields of two values differ; null matches any value, and an empty array any array.
    static func differences(documented: Any, written: Any, _ optional: Set<String>, at place: String) -> [String] {
        if documented is NSNull || written is NSNull { return [] }
        switch (documented, written) {
        case (let left as [String: Any], let right as [String: Any]):
            let undocumented = right.keys.filter { left[$0] == nil && !optional.contains($0) }
            let unwritten = left.keys.filter { right[$0] == nil && !optional.contains($0) }
            let below = left.keys.sorted().flatMap { key in
                right[key].map {
                    differences(documented: left[key] ?? NSNull(), written: $0, optional, at: "\(place).\(key)")
                } ?? []
            }
            return undocumented.map { "\(place).\($0) is not documented" }
                + unwritten.map { "\(place).\($0) is not written" } + below
        case (let left as [Any], let right as [Any]):
            guard let first = left.first else { return [] }
            return right.flatMap { differences(documented: first, written: $0, optional, at: place + "[]") }
        default:
            let isSame =
                (documented is String) == (written is String) && (documented is NSNumber) == (written is NSNumber)
            return isSame ? [] : ["\(place) is of another kind"]
        }
    }
}
