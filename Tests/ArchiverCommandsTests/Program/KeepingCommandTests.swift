// The commands for pins, labels and forgetting, as users run them.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Pins, labels and forgetting, with the program", .blocking)
struct KeepingCommandTests {
    private let place: Workplace
    /// Three snapshots, the oldest first.
    private let ids: [String]

    init() throws {
        place = try Workplace()
        _ = try place.capture()
        for number in 1...2 {
            try place.write("empty", "state \(number)")
            _ = try place.capture()
        }
        ids = try place.listed()
        #expect(ids.count == 3)
    }

    private func run(_ arguments: String...) throws -> ChildProcess.Outcome {
        try place.run(arguments.map { Array($0.utf8) }, in: place.root)
    }

    private func expect(
        _ status: Int32, _ words: String, _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let outcome = try place.run(arguments.map { Array($0.utf8) }, in: place.root)
        #expect(outcome.status == status, "\(arguments): \(outcome.errorText)", sourceLocation: sourceLocation)
        let text = outcome.errorText + String(decoding: outcome.output, as: UTF8.self)
        #expect(text.contains(words), "\(arguments): \(text)", sourceLocation: sourceLocation)
    }

    @Test("a snapshot is pinned, cannot be forgotten, is listed and shown as pinned, and is unpinned")
    func pins() throws {
        try expect(0, "pinned snapshot", "pin", "latest~1", "--reason", "a reason", "--expires", "30d")
        try expect(1, "is pinned: a reason", "forget", ids[1])
        #expect(try place.listed() == ids)
        let listed = try JSON.array(run("list", "--json").output)
        #expect(listed.map { $0["pinned"] as? Bool } == [false, true, false])
        try expect(0, "a reason", "show", ids[1])
        try expect(0, ids[1].prefix(8).description, "pin")
        try expect(1, "is not pinned", "unpin", "latest")
        try expect(0, "unpinned", "unpin", ids[1])
        try expect(1, "is not pinned", "unpin", ids[1])
        try expect(64, "is in the past", "pin", "latest", "--expires", "2001-01-01")
        try expect(64, "no snapshot is named", "pin", "--reason", "why")
        try expect(1, "no snapshot", "pin", "no-such-label")
        try expect(64, "leave out the colon and the path", "pin", "latest:empty")
    }

    @Test("a later label names a snapshot for every command, and can be removed")
    func labels() throws {
        try expect(0, "labelled snapshot \(ids[1].prefix(8)) 'before'", "label", "latest~1", "before")
        #expect(try run("cat", "before:empty").output == Array("state 1".utf8))
        #expect(try JSON.array(run("list", "--json", "--label", "before").output).count == 1)
        try expect(0, "before", "show", ids[1])
        try expect(64, "is reserved", "label", "latest", "latest")
        try expect(64, "--remove", "label", "latest")
        try expect(1, "has no label", "label", "latest", "--remove")
        try expect(0, "removed the label of", "label", "before", "--remove")
        try expect(1, "no snapshot", "cat", "before:empty")
    }

    @Test("forgotten snapshots are not listed, and unforget brings them back unchanged")
    func forget() throws {
        try expect(0, "would forget", "forget", ids[0], "--dry-run")
        #expect(try place.listed() == ids)
        try expect(0, "forgot", "forget", ids[0], ids[1])
        #expect(try place.listed() == [ids[2]])
        try expect(1, "no snapshot", "cat", "\(ids[1]):empty")
        try expect(0, ids[1].prefix(8).description, "list", "--forgotten")
        try expect(1, "would have no snapshot left", "forget", "latest")
        try expect(1, "no forgotten snapshot", "unforget", ids[2])
        #expect(try run("check").status == 0)
        #expect(try run("repair", "--catalogue").status == 0)
        #expect(try place.listed() == [ids[2]])
        try expect(0, "brought back", "unforget", String(ids[1].prefix(10)))
        try expect(0, "brought back", "unforget", "--last")
        #expect(try place.listed() == ids)
        #expect(try run("cat", "\(ids[1]):empty").output == Array("state 1".utf8))
        try expect(1, "nothing is forgotten", "unforget", "--last")
        #expect(try run("repair", "--catalogue").status == 0)
        #expect(try place.listed() == ids)
    }

    @Test("forgetting a range keeps the states that undo needs, and forgetting one by name says so")
    func undoStates() throws {
        #expect(try run("restore", ids[0], "--root", place.root.string).status == 0)
        try place.write("later", "x")
        _ = try place.capture()
        try expect(0, "needed by 'archiver undo'", "forget", "--until", "now", "--dry-run")
        let outcome = try run("forget", "--until", "now", "--json")
        let result = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output)) as? [String: Any])
        #expect((result["forgotten"] as? [[String: Any]])?.map { $0["id"] as? String } == [ids[1]])
        #expect((result["kept"] as? [[String: Any]])?.contains { $0["reason"] as? String == "operation" } == true)
        let named = try run("forget", ids[2])
        #expect(named.status == 0 && named.errorText.contains("'archiver undo' cannot"), "\(named.errorText)")
        #expect(try run("unforget", "--last").status == 0)
        #expect(try run("undo", place.root.string).status == 0)
        #expect(String(decoding: try place.read("tree/empty"), as: UTF8.self) == "state 2")
    }

    @Test("a range is forgotten except pinned and labelled snapshots and the newest")
    func range() throws {
        #expect(try run("label", ids[0], "keep-me").status == 0)
        try expect(0, "would forget snapshot", "forget", "--until", "now", "--dry-run")
        let outcome = try run("forget", "--until", "now", "--json")
        let result = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output)) as? [String: Any])
        #expect((result["forgotten"] as? [[String: Any]])?.map { $0["id"] as? String } == [ids[1]])
        #expect((result["kept"] as? [[String: Any]])?.map { $0["reason"] as? String } == ["labelled", "newest"])
        #expect(try place.listed() == [ids[0], ids[2]])
        try expect(64, "name snapshots", "forget")
        try expect(64, "not both", "forget", ids[0], "--until", "now")
        try expect(64, "name ids", "unforget")
    }

    @Test("a read-only archive loses nothing, and the error is reported", .enabled(if: geteuid() != 0))
    func readOnly() throws {
        #expect(chmod(place.archive.string, 0o500) == 0)
        defer { _ = chmod(place.archive.string, 0o700) }
        for arguments in [["pin", "latest"], ["label", "latest", "x"], ["forget", ids[0]]] {
            let outcome = try place.run(arguments.map { Array($0.utf8) }, in: place.root)
            #expect(outcome.status == 1 && outcome.errorText.contains("cannot be written"), "\(outcome.errorText)")
        }
        #expect(try place.listed() == ids)
    }
}
