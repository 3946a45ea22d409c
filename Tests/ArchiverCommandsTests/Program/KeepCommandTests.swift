// `archiver keep` as users run it.

import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("archiver keep, with the program", .blocking)
struct KeepCommandTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        _ = try place.capture()
        for number in 1...5 {
            try place.write("empty", "state \(number)")
            _ = try place.capture()
        }
    }

    private func run(_ arguments: String...) throws -> ChildProcess.Outcome {
        try place.run((["keep"] + arguments).map { Array($0.utf8) }, in: place.root)
    }

    private func json(_ arguments: String...) throws -> [String: Any] {
        let outcome = try place.run((["keep", "--json"] + arguments).map { Array($0.utf8) }, in: place.root)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        return try #require(try JSONSerialization.jsonObject(with: Data(outcome.output)) as? [String: Any])
    }

    private func widths(_ object: [String: Any]?) -> [Int]? {
        (object?["tiers"] as? [[String: Any]])?.compactMap { $0["width"] as? Int }
    }

    @Test("a policy is set for one root and for all roots, shown, and removed")
    func policies() throws {
        #expect(try widths(json()) == [])
        #expect(String(decoding: try run().output, as: UTF8.self).contains("all roots: everything is kept"))
        #expect(try widths(json("--each", "2h", "--daily", "1y", "--weekly", "forever")) == [0, 86_400, 604_800])
        let root = place.root.string
        #expect(try run("--usual", "--root", root).status == 0)
        let shown = try json()
        #expect(widths(shown) == [0, 86_400, 604_800])
        #expect(try widths(#require(shown["roots"] as? [[String: Any]]).first) == [0, 60, 3600, 86_400, 604_800])
        #expect(try place.run("repair", "--catalogue").status == 0)
        #expect(try NSDictionary(dictionary: json()) == NSDictionary(dictionary: shown))
        #expect(String(decoding: try run().output, as: UTF8.self).contains("all for 1h, one a minute for 1d"))
        #expect(try run("--reset", "--root", root).status == 0)
        #expect(try run("--everything").status == 0)
        #expect(try widths(json()) == [])
        #expect(try json("--max-size", "20G", "--min-free", "5%")["maxSizeBytes"] as? Int == 20 << 30)
        #expect(try json("--max-size", "none")["maxSizeBytes"] is NSNull)
        #expect(try json()["minFreePercent"] as? Int == 5)
        let reset = try json("--reset", "--max-size", "1G")
        #expect(reset["minFreePercent"] as? Int == 10 && reset["maxSizeBytes"] as? Int == 1 << 30)
    }

    @Test("a local size needs a replica whose identity is at hand, and is shown")
    func localSize() throws {
        let refusal = try run("--local-size", "20G")
        #expect(refusal.status == 1 && refusal.errorText.contains("and the archive has none"), "\(refusal.errorText)")
        #expect(try run("--local-size", "20G", "--dry-run").errorText == refusal.errorText)
        #expect(try json()["localSizeBytes"] is NSNull)
        let key = place.root.removingLastComponent().appending("key").string
        let made = try JSON.object(place.run("keys", "new", "-o", key, "--json").output)
        let store = place.root.removingLastComponent().appending("replica").string
        try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
        let added = try place.run(
            "replica", "add", "disk", "file://" + store, "--recipient", made["recipient"] as? String ?? "")
        #expect(added.status == 0, "\(added.errorText)")
        #expect(try run("--local-size", "20G").errorText.contains("no file with the identity of the replica 'disk'"))
        #expect(try json("--local-size", "20G", "--identity", key)["localSizeBytes"] as? Int == 20 << 30)
        #expect(try run().text.contains("of at most 20.0 GiB"))
        #expect(try place.run("status").text.contains("on this disk: "))
        #expect(try run("--local-size", "none").text.contains("on this disk") == false)
        #expect(try run("--local-size", "1G", "--root", place.root.string).status == 64)
        #expect(try run("--local-size", "1G", "--daily", "1y", "--dry-run").status == 64)
        // Nothing is sealed yet, so nothing can leave.
        let short = try run("--local-size", "1K", "--dry-run")
        #expect(short.status == 3 && short.text.contains("no segment would leave this disk"), "\(short.text)")
        #expect(short.errorText.contains("no replica that is sent to"), "\(short.errorText)")
    }

    @Test("if an archive cannot get within its maximum size, prune forgets nothing, says why and exits with 3")
    func size() throws {
        var random = SeededGenerator("an archive's size")
        for _ in 0..<8 {
            try place.write("data.bin", random.noise(300_000))
            _ = try place.capture()
        }
        let before = try place.listed()
        func status() throws -> [String: Any] {
            try #require(JSON.object(place.run("status", "--json").output)["archive"] as? [String: Any])
        }
        let used = try #require(status()["usedBytes"] as? Int)
        let set = try run("--max-size", "\(used - 1_000_000)")
        #expect(set.status == 0 && set.errorText.contains("exceeds its limits"), "\(set.errorText)")
        #expect(try place.run("status").text.contains("space: "))
        #expect(try status()["lackingBytes"] as? Int ?? 0 > 0)
        // All snapshots are younger than an hour.
        let planned = try JSON.object(place.run("prune", "--dry-run", "--json").output)
        #expect(planned["limitsCanBeReached"] as? Bool == false && planned["forgottenForRoom"] as? Int == 0)
        let cause = "13 snapshots of the last hour take 2.0 MiB"
        #expect((planned["causes"] as? [String])?.first == cause, "\(planned)")
        let refused = try place.run("prune")
        #expect(refused.status == 3 && refused.errorText.contains("still exceeds its limits"), "\(refused.errorText)")
        #expect(refused.errorText.contains("\(cause); "), "\(refused.errorText)")
        // Random bytes take a little more than they are, and not always the same.
        #expect(refused.errorText.contains(/data\.bin takes 293\.\d KiB and is in the newest snapshot/))
        #expect(try place.run("status").text.contains(cause))
        #expect(try place.listed() == before)
        #expect(try place.run("check", "--data").status == 0)
        #expect(try run("--max-size", "none").status == 0)
        #expect(try place.run("prune").status == 0)
    }

    @Test("a dry run shows what would be forgotten; --now forgets it, and unforget brings it back")
    func now() throws {
        let before = try place.listed()
        let planned = try json("--daily", "forever", "--dry-run")
        #expect((planned["roots"] as? [[String: Any]])?.first?["forgotten"] as? Int == 4)
        #expect(try place.listed() == before && widths(json()) == [])
        let done = try run("--daily", "forever", "--now")
        #expect(done.status == 0, "\(done.errorText)")
        #expect(String(decoding: done.output, as: UTF8.self).contains("forgot 4 of 6 snapshots"))
        #expect(try place.listed() == [before[0], before[5]])
        #expect(try place.run("check").status == 0)
        #expect(try place.run("unforget", "--last").status == 0)
        #expect(try place.listed() == before)
    }

    @Test(
        "a policy that keeps nothing or is contradictory is refused, and nothing changes",
        arguments: [
            (["--each", "0h"], "keeps nothing"), (["--hourly", "30d", "--daily", "1d"], "out of order"),
            (["--hourly", "forever", "--daily", "1d"], "without an end"), (["--daily", "soon"], "invalid"),
            (["--max-size", "0"], "invalid"), (["--max-size=-5G"], "invalid"), (["--min-free", "101%"], "invalid"),
            (["--everything", "--usual"], "exclude each other"), (["--usual", "--daily", "1d"], "exclude each other"),
            (["--root", "/nowhere", "--usual"], "no snapshots"),
        ])
    func refused(arguments: [String], words: String) throws {
        let outcome = try place.run((["keep"] + arguments).map { Array($0.utf8) }, in: place.root)
        #expect(outcome.status == (words == "no snapshots" ? 1 : 64), "\(arguments): \(outcome.errorText)")
        #expect(outcome.errorText.contains(words), "\(arguments): \(outcome.errorText)")
        #expect(try widths(json()) == [])
        #expect(try place.listed().count == 6)
    }
}
