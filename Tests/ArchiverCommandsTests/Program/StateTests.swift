// Saved states on the command line.

import ArchiveFormat
import ArchiverKit
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

private struct Game: Codable, Sendable, Equatable {
    var score = 0
    var items: [String] = []
    var cover = Data([255])
    var started = Date(timeIntervalSinceReferenceDate: 5)
    var note: String?
}

@Suite(.blocking)
struct StateTests {
    private static let title = "Best Game Ever"
    private let work: Workplace
    private let archive: Archive
    /// Three states of one title, the oldest first, and one of another.
    private let ids: [String]

    init() throws {
        work = try Workplace()
        archive = try Archive.open(work.archive, creating: true)
        ids = [
            try archive.save(Game(score: 1), as: StateTests.title),
            try archive.save(Game(score: 9001, items: ["sword", "map"]), as: StateTests.title, label: "boss"),
            try archive.save(Game(score: 9002, items: ["ring", "sword", "map"], note: "x"), as: StateTests.title),
            try archive.save([1, 2], as: "list"),
        ].map(\.id.hex)
    }

    private func expectState(_ id: String, _ arguments: String..., at location: SourceLocation = #_sourceLocation)
        throws
    {
        let outcome = try work.run(["show", "--json"] + arguments)
        #expect(outcome.status == 0, "\(outcome.errorText)", sourceLocation: location)
        #expect(try JSON.object(outcome.output)["id"] as? String == id, sourceLocation: location)
    }

    @Test("list --states lists saved states, and the filters of list apply")
    func list() throws {
        func listed(_ arguments: String...) throws -> [String] {
            try JSON.array(work.run(["list", "--json"] + arguments).output).compactMap { $0["id"] as? String }
        }
        #expect(try listed("--states") == ids)
        #expect(try listed() == [])
        #expect(try listed("--state", StateTests.title) == Array(ids.prefix(3)))
        #expect(try listed("--states", "--limit", "2") == Array(ids.suffix(2)))
        #expect(try listed("--states", "--limit", "2", "--reverse") == [ids[3], ids[2]])
        #expect(try listed("--states", "--label", "boss") == [ids[1]])
        #expect(try listed("--states", "--until", "2001-01-01") == [])
        #expect(try listed("--states", "--since", "2001-01-01") == ids)
        let row = try #require(try JSON.array(work.run("list", "--states", "--json", "--label", "boss").output).first)
        #expect(Set(row.keys) == ["id", "time", "title", "label", "type", "version", "bytes", "storedBytes", "host"])
        #expect(row["title"] as? String == StateTests.title && row["type"] as? String == "Game")
        #expect(row["version"] as? Int == 1)

        let lines = try work.run("list", "--states").lines.map {
            $0.split(separator: "\t", omittingEmptySubsequences: false)
        }
        #expect(lines.map { String($0[0]) } == ids.map { String($0.prefix(8)) })
        #expect(lines.allSatisfy { $0.count == 8 })
        #expect(lines[1][2...5] == ["Best Game Ever", "boss", "Game", "1"])
        let empty = try work.run("list", "--state", "none")
        #expect(empty.status == 0 && empty.output.isEmpty && empty.errorText.contains("No saved state"))
    }

    @Test("on a terminal, list --states is a table and show aligns its fields", .enabled(if: Workplace.hasTerminals))
    func terminal() throws {
        let evil = try archive.save("\u{1B}]0;x\u{07} \u{202E}\u{9B}31m", as: "rtl \u{202E} 🎮")
        let table = try work.startOnTerminal("list", "--states", "--no-color").finish().text.split(separator: "\r\n")
        #expect(table.count == 6)
        #expect(table[0].split(separator: " ") == ["id", "time", "title", "label", "version", "size", "stored"])
        #expect(table[2].contains(#/  Best Game Ever +boss +1 +\d+ B +\d+ B$/#))
        #expect(table[5].contains("rtl \\xe2\\x80\\xae 🎮"))
        for command in ["show", "cat"] {
            let text = try work.startOnTerminal(command, evil.id.hex, "--no-color").finish().text
            #expect(text.contains("\"\\u001b]0;x\\u0007 \\u202e\\u009b31m\""), "\(text)")
            #expect(!text.unicodeScalars.contains { ["\u{1B}", "\u{202E}", "\u{9B}"].contains($0) })
        }
        let shown = try work.startOnTerminal("show", "boss", "--no-color").finish().text.split(separator: "\r\n")
        #expect(shown[2] == "title    Best Game Ever")
        #expect(shown.contains { $0 == "  \"score\" : 9001," || $0 == "  \"score\" : 9001" })
    }

    @Test("a state is named by its id, label or title, and by order and time within a title")
    func selecting() throws {
        let latest = try work.capture()
        try expectState(ids[0], String(ids[0].prefix(16)))
        try expectState(ids[1], "boss")
        try expectState(ids[2], StateTests.title)
        try expectState(ids[0], "latest~2", "--state", StateTests.title)
        try expectState(ids[2], "@today", "--state", StateTests.title)
        try expectState(ids[1], "boss", "--state", StateTests.title)
        try expectState(latest, "latest")
        // The current directory makes no difference.
        let here = try work.run(["show", "boss", "--json"].map { Array($0.utf8) }, in: work.root)
        #expect(try JSON.object(here.output)["id"] as? String == ids[1])
    }

    @Test(
        "any title names its latest state",
        arguments: [
            "a:b", "שלום \u{202E}", "🎮", "say \"hi\"", "a/b/../c", "@home", "latest~x", "boss:x", "~",
        ])
    func hostileTitles(title: String) throws {
        let id = try archive.save([title], as: title).id.hex
        try expectState(id, title)
        try expectState(id, "latest", "--state", title)
        let cat = try work.run("cat", title)
        #expect(try JSONSerialization.jsonObject(with: Data(cat.output)) as? [String] == [title])
        #expect(try work.run("list", "--state", title).lines.count == 1)
        try FileManager.default.createDirectory(atPath: work.path("out").string, withIntermediateDirectories: true)
        #expect(try work.run("restore", title, "--target", work.path("out").string).status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: work.path("out").string).count == 1)
    }

    @Test("selectors that name nothing, or an unsuitable object, are refused")
    func refusals() throws {
        let title = StateTests.title
        let snapshot = try work.capture()
        expectRefusal(try work.run("show", "latest", "--state", "none"), 1, naming: "'none'")
        expectRefusal(try work.run("show", "latest~3", "--state", title), 1, naming: "latest~3")
        expectRefusal(try work.run("show", "nobody"), 1, naming: "nobody")
        expectRefusal(try work.run("show", "boss", "--state", "list"), 1, naming: "boss")
        expectRefusal(try work.run("show", "boss:notes"), 1, naming: "saved state")
        expectRefusal(try work.run("show", "latest:x", "--state", title), 64, naming: "--state")
        expectRefusal(try work.run("show", "boss", "--entries"), 64, naming: "--entries")
        expectRefusal(try work.run("show", "boss", "--root", work.root.string), 1, naming: "boss")
        let both = ["show", "boss", "--state", title, "--root", work.root.string]
        expectRefusal(try work.run(both), 64, naming: "--root")
        expectRefusal(try work.run("list", "--states", "--root", work.root.string), 64, naming: "--root")
        expectRefusal(try work.run("list", "--state", title, "--all"), 64, naming: "--all")
        expectRefusal(try work.run("restore", "boss"), 64, naming: "--target")
        expectRefusal(try work.run("diff", "boss", snapshot), 64, naming: "cannot be compared")
        expectRefusal(try work.run("diff", snapshot, "boss"), 64, naming: "cannot be compared")
        expectRefusal(try work.run("diff", "boss", "--patch"), 64, naming: "--patch")
        expectRefusal(try work.run("cat", "latest"), 64, naming: "latest")
    }

    @Test("an ambiguous selector lists snapshots and states")
    func ambiguous() throws {
        let snapshot = try work.capture()
        _ = try work.run("capture", work.root.string, "--label", "boss")
        let outcome = try work.run("show", "boss")
        #expect(outcome.status == 1 && outcome.errorText.split(separator: "\n").count == 3)
        #expect(outcome.errorText.contains(ids[1].prefix(12)) && outcome.errorText.contains("state of Best Game Ever"))
        let error = try JSON.object(work.run("show", "boss", "--json").error)["error"] as? [String: Any]
        let candidates = try #require(error?["candidates"] as? [[String: Any]])
        #expect(candidates.count == 2 && candidates[1]["title"] as? String == StateTests.title)
        #expect(try JSON.object(work.run("show", "boss", "--json", "--root", work.root.string).output)["root"] != nil)
        #expect(try work.run("diff", snapshot, "boss", "--root", work.root.string).status == 0)
    }

    @Test("show shows a state's details and content; cat shows only its content")
    func showing() throws {
        let shown = try work.run("show", "boss")
        #expect(shown.lines.prefix(3) == ["id\t\(ids[1])", shown.lines[1], "title\tBest Game Ever"])
        #expect(shown.lines.contains("label\tboss") && shown.lines.contains("type\tGame"))
        let cat = try work.run("cat", "boss")
        #expect(shown.text.hasSuffix("\n\n" + cat.text))
        let held = try JSON.object(cat.output)
        #expect(held["score"] as? Int == 9001 && held["cover"] as? String == "/w==")
        let json = try JSON.object(work.run("show", "boss", "--json").output)
        #expect((json["state"] as? NSDictionary) == held as NSDictionary)
        #expect(json["label"] as? String == "boss" && json["bytes"] is Int)
        let raw = try JSON.object(work.run("show", "boss", "--raw").output)
        #expect(raw.count >= 5)
    }

    @Test("restore writes a new JSON file that StateFile loads, and overwrites no file")
    func restoring() throws {
        let target = work.path("game.json")
        let wanted = Game(score: 9001, items: ["sword", "map"])
        let plan = try work.run("restore", "boss", "--target", target.string, "--dry-run")
        #expect(plan.text.hasPrefix("would write \(ids[1].prefix(8))"))
        #expect(access(target.string, F_OK) != 0)
        let done = try JSON.object(work.run("restore", "boss", "--target", target.string, "--json").output)
        #expect(done["destination"] as? String == target.string && done["dryRun"] as? Bool == false)
        #expect(done["bytes"] as? Int == (try work.read("game.json").count))
        #expect(try StateFile.load(Game.self, from: URL(filePath: target.string)) == wanted)
        #expect(try work.read("game.json") == work.run("cat", "boss").output)
        expectRefusal(try work.run("restore", StateTests.title, "--target", target.string), 1, naming: target.string)
        expectRefusal(try work.run("restore", "boss", "--target", target.string, "--dry-run"), 1, naming: target.string)
        #expect(try StateFile.load(Game.self, from: URL(filePath: target.string)) == wanted)
        let away = work.path("no/such/x.json").string
        expectRefusal(try work.run("restore", "boss", "--target", away), 1, naming: "no/such")
        #expect(try work.leftovers(in: work.path("")) == [])
    }

    @Test("diff shows which fields differ")
    func comparing() throws {
        let title = StateTests.title
        let wanted = ["+ items.0: \"ring\"", "+ note: \"x\"", "~ score: 9001 → 9002"]
        #expect(try work.run("diff", "boss", ids[2]).lines == wanted)
        #expect(try work.run("diff", "boss", "latest").lines == wanted)
        #expect(try work.run("diff", "boss").lines == wanted)
        #expect(try work.run("diff", title).lines == wanted)
        #expect(try work.run("diff", "latest~1", "latest", "--state", title).lines == wanted)
        #expect(try work.run("diff", "boss", "boss").text == "")
        let rows = try JSON.array(work.run("diff", ids[2], "boss", "--json").output)
        #expect(rows.map { $0["change"] as? String } == ["removed", "removed", "modified"])
        #expect(rows.map { $0["path"] as? String } == ["items.0", "note", "score"])
        #expect(rows[0]["left"] as? String == "ring" && rows[0]["right"] == nil)
        #expect(rows[2]["left"] as? Int == 9002 && rows[2]["right"] as? Int == 9001)
        #expect(try work.run("diff", "boss", "--stat").text.hasPrefix("2 added, 1 modified, 0 removed: "))
        let stat = try JSON.object(work.run("diff", "boss", "--stat", "--json").output)
        #expect(stat["added"] as? Int == 2)
        let only = try work.run("diff", "list")
        #expect(only.status == 0 && only.output.isEmpty && only.errorText.contains("no other state"))
        #expect(try work.run("diff", "list", "--json").output == Array("[]\n".utf8))
    }

    @Test("check, repair and status count states, and check finds a damaged one")
    func counting() throws {
        #expect(try work.run("check").text.contains("0 snapshots, 4 saved states, "))
        #expect(try JSON.object(work.run("check", "--json").output)["states"] as? Int == 4)
        let status = try work.run("status")
        #expect(status.status == 0 && status.text.contains("4 saved states ("), "\(status.text)")
        let json = try JSON.object(work.run("status", "--json").output)["archive"] as? [String: Any]
        #expect(json?["states"] as? Int == 4 && (json?["stateStoredBytes"] as? Int ?? 0) > 0)
    }

    @Test("a rebuilt catalogue has the states; check, and commands that read a damaged state, name it")
    func damage() throws {
        let other = try Workplace()
        var noise = SystemRandomNumberGenerator()
        let bytes = Data((0..<5_000).map { _ in UInt8.random(in: 0...255, using: &noise) })
        let bad: String
        do {
            let archive = try Archive.open(other.archive, creating: true)
            bad = try archive.save(bytes, as: "bad").id.hex
            try archive.save(1, as: "good")
        }
        let repair = try JSON.object(other.run("repair", "--catalogue", "--json").output)
        #expect(repair["states"] as? Int == 2)
        #expect(try other.run("repair", "--catalogue").text.contains("2 saved states"))
        let find = try ChildProcess.run("find", [other.archive.string, "-name", "*.segment"].map { Array($0.utf8) })
        let segment = FilePath(try #require(find.lines.first))
        let content = try Descriptor.open(segment, O_RDONLY).readToEnd(limit: 1 << 20, path: segment)
        let place = try #require(content.firstRange(of: bytes[2_000..<2_032])).lowerBound
        let file = try Descriptor.open(segment, O_WRONLY)
        #expect(pwrite(file.number, [~content[place]], 1, off_t(place)) == 1)
        let check = try other.run("check", "--data")
        #expect(check.status == 2 && check.errorText.contains("of 'bad'"), "\(check.errorText)")
        for command in [["show", bad], ["cat", bad], ["restore", bad, "--target", other.path("x.json").string]] {
            expectRefusal(try other.run(command), 2, naming: ".segment")
        }
        #expect(try other.run("cat", "good").text == "1\n")
    }
}
