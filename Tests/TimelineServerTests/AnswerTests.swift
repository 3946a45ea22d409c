// Answers about the past: searches with a scope, the history of directories, texts in other encodings, usage.

import ArchiverKit
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import TimelineServer

@Suite(.blocking) struct AnswerTests {
    private struct Snapshot: Decodable { let id: String }

    private struct Found: Decodable {
        let path: String?
        let text: String?
        let goneIn: Snapshot?
        let deleted: Bool?
        let end: Bool?
    }

    private static func root(_ place: ServerPlace) throws -> String {
        struct Roots: Decodable { let roots: [Snapshot] }
        return try #require(try place.get(Roots.self, "roots").roots.first).id
    }

    private static func search(_ place: ServerPlace, _ query: String) throws -> [Found] {
        let target = "/api/1/search?root=\(try root(place))&\(query)"
        let answer = try ServerPlace.answer(place.port, "GET", target, place.headers)
        return try answer.body.split(separator: UInt8(ascii: "\n"))
            .map { try JSONDecoder().decode(Found.self, from: $0) }
            .filter { $0.end == nil && $0.path != nil }
    }

    private static func edits(_ scratch: TemporaryDirectory, _ archive: Archive) throws {
        func capture() throws { _ = try archive.capture(scratch.path.pushing("root")) }
        try scratch.write("root/edited.txt", "the storm\nthe calm\n")
        try scratch.write("root/folder/deleted.txt", "the storm\n")
        try scratch.write("root/folder/kept.txt", "the storm\n")
        try capture()
        try scratch.write("root/edited.txt", "the calm\n")
        try FileManager.default.removeItem(atPath: "\(scratch.path)/root/folder/deleted.txt")
        try capture()
    }

    @Test("the changes of a directory are counted below it, also where those of the whole root are cut")
    func comparesDirectory() async throws {
        struct Changes: Decodable {
            struct Change: Decodable { let path: String }
            struct Counts: Decodable, Equatable { let added, modified, removed: Int }
            let changes: [Change]
            let counts: Counts
            let isTruncated: Bool
        }
        let place = try await ServerPlace { scratch, archive in
            func capture() throws { _ = try archive.capture(scratch.path.pushing("root")) }
            for name in ["a/1.txt", "a/2.txt", "z/3.txt", "z/4.txt"] { try scratch.write("root/\(name)", "old\n") }
            try capture()
            for name in ["a/1.txt", "a/2.txt", "z/3.txt", "z/5.txt"] { try scratch.write("root/\(name)", "new\n") }
            try capture()
        }
        struct Listed: Decodable { let snapshots: [Snapshot] }
        let listed = try place.get(Listed.self, "snapshots?root=\(try AnswerTests.root(place))").snapshots
        let sides = "a=\(listed[0].id)&b=\(listed[1].id)"
        let below = try place.get(Changes.self, "changes?\(sides)&path=z&limit=1")
        #expect(below.changes.map(\.path) == ["z/3.txt"] && below.isTruncated)
        #expect(below.counts == .init(added: 1, modified: 1, removed: 0))
        #expect(try place.get(Changes.self, "changes?\(sides)&path=none").changes.isEmpty)
        let first = try place.get(Changes.self, "changes?a=none&b=\(listed[0].id)&path=z")
        #expect(first.counts == .init(added: 2, modified: 0, removed: 0))
        try place.scratch.write("root/z/6.txt", "on disk\n")
        let present = try place.get(Changes.self, "changes?a=\(listed[1].id)&b=disk&path=z")
        #expect(present.changes.map(\.path) == ["z/6.txt"])
    }

    @Test("a line that an edit took away is changed, and only one whose file is gone is deleted")
    func distinguishesDeletions() async throws {
        let place = try await ServerPlace(past: AnswerTests.edits)
        let lines = try AnswerTests.search(place, "q=storm&kind=content")
        #expect(lines.compactMap(\.path) == ["edited.txt", "folder/deleted.txt", "folder/kept.txt"])
        #expect(lines.map { $0.goneIn != nil } == [true, true, false])
        #expect(lines.map(\.deleted) == [false, true, false])
    }

    @Test("a found line is shown in its encoding and without its return")
    func decodesFoundLines() async throws {
        let place = try await ServerPlace { scratch, archive in
            try scratch.write("root/crlf.txt", "a storm\r\nends\r\n")
            let latin = Array("caf".utf8) + [0xE9] + Array(" in a storm\n".utf8)
            try Data(latin).write(to: URL(fileURLWithPath: "\(scratch.path)/root/latin.txt"))
            try scratch.write("root/utf8.txt", "café in a storm\n")
            _ = try archive.capture(scratch.path.pushing("root"))
        }
        let lines = try AnswerTests.search(place, "q=storm&kind=content")
        #expect(lines.compactMap(\.text) == ["a storm", "café in a storm", "café in a storm"])
    }

    @Test("a search is limited to a directory, a file, what is gone, and what changed since")
    func respectsScope() async throws {
        let place = try await ServerPlace(past: AnswerTests.edits)
        func paths(_ query: String) throws -> [String] { try AnswerTests.search(place, query).compactMap(\.path) }
        #expect(try paths("q=storm&kind=content&path=folder") == ["folder/deleted.txt", "folder/kept.txt"])
        #expect(try paths("q=storm&kind=content&path=edited.txt") == ["edited.txt"])
        #expect(try paths("q=storm&kind=content&deleted=1") == ["edited.txt", "folder/deleted.txt"])
        #expect(try paths("q=txt&deleted=1") == ["folder/deleted.txt"])
        #expect(try paths("q=txt&path=folder") == ["folder/deleted.txt", "folder/kept.txt"])
        let later = Int64(Date.now.timeIntervalSince1970 * 1000) + 3_600_000
        #expect(try paths("q=storm&kind=content&since=\(later)").isEmpty && paths("q=txt&since=\(later)").isEmpty)
        #expect(try paths("q=txt&since=0").count == 3)
    }

    @Test("the page and the command find the same names: a plain word anywhere, anything else as a pattern")
    func namesLikeTheCommand() async throws {
        let place = try await ServerPlace(past: AnswerTests.edits)
        func paths(_ query: String) throws -> [String] {
            try AnswerTests.search(place, "q=" + query).compactMap(\.path)
        }
        #expect(try paths("delet") == ["folder/deleted.txt"])
        #expect(try paths("/*.txt") == ["edited.txt"])
        #expect(try paths("kept.txt") == ["folder/kept.txt"])
    }

    @Test("the history of a directory names the files that each snapshot changed in it, and counts them")
    func namesChangedFiles() async throws {
        let place = try await ServerPlace(past: AnswerTests.edits)
        struct Log: Decodable {
            struct Version: Decodable {
                struct Counts: Decodable {
                    let added: Int
                    let modified: Int
                    let removed: Int
                }
                let change: String
                let changedPaths: [String]?
                let counts: Counts?
            }
            let versions: [Version]
        }
        let root = try AnswerTests.root(place)
        let whole = try place.get(Log.self, "log?root=\(root)").versions
        #expect(whole.map(\.change) == ["modified", "added"])
        let paths = whole.first?.changedPaths ?? []
        #expect(paths.prefix(2) == ["edited.txt", "folder/deleted.txt"] && whole.first?.counts?.removed == 1)
        let folder = try place.get(Log.self, "log?root=\(root)&path=folder").versions
        let inside = folder.first?.changedPaths ?? []
        #expect(inside.first == "folder/deleted.txt" && !inside.contains("edited.txt"))
        let file = try place.get(Log.self, "log?root=\(root)&path=edited.txt").versions
        #expect(file.allSatisfy { $0.changedPaths == nil })
    }

    @Test("Latin-1 and UTF-16 are compared as text and named, and equal large files are said to be the same")
    func comparesOtherTexts() async throws {
        struct Diff: Decodable {
            struct Hunk: Decodable { let lines: [[String]] }
            let kind: String
            let encoding: String?
            let hunks: [Hunk]
        }
        let place = try await ServerPlace { scratch, archive in
            func write(_ name: String, _ bytes: [UInt8]) throws {
                try scratch.write("root/marker", name)
                try Data(bytes).write(to: URL(filePath: "\(scratch.path)/root/\(name)"))
            }
            for word in ["caf", "th"] {
                try write("latin.txt", Array(word.utf8) + [0xE9, 0x0A])
                try write(
                    "wide.txt", [0xFF, 0xFE] + (word + "é\n").utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
                try write("large.bin", [UInt8](repeating: 7, count: 17 << 20))
                try scratch.write("root/other.txt", word)
                _ = try archive.capture(scratch.path.pushing("root"))
            }
        }
        let root = try #require(try place.archive.roots().first)
        let snapshots = try place.archive.snapshots(SnapshotQuery(root: root)).map { SnapshotAnswer($0, []).id }
        func diff(_ path: String) throws -> Diff {
            try place.get(Diff.self, "diff?a=\(snapshots[0])&b=\(snapshots[1])&path=\(path)")
        }
        for (path, encoding) in [("latin.txt", "Latin-1"), ("wide.txt", "UTF-16")] {
            let found = try diff(path)
            #expect(found.kind == "text" && found.encoding == encoding)
            #expect(found.hunks.first?.lines == [["-", "café"], ["+", "thé"]])
        }
        #expect(try diff("large.bin").kind == "same")
    }

    @Test("the space is counted in the background, once for an unchanged archive")
    func countsUsage() async throws {
        struct Usage: Decodable {
            struct Item: Decodable { let path: String }
            let items: [Item]?
            let countedAt: Int64?
            let isCounting: Bool
        }
        let place = try await ServerPlace(past: AnswerTests.edits)
        let target = "usage?root=\(try AnswerTests.root(place))"
        var usage = try place.get(Usage.self, target)
        while usage.isCounting { usage = try place.get(Usage.self, target) }
        #expect(usage.items?.contains { $0.path == "folder" } == true)
        let again = try place.get(Usage.self, target)
        #expect(again.countedAt == usage.countedAt && !again.isCounting)
    }

    @Test("of more snapshots than the limit only the days are counted, not what takes the space")
    func limitsUsage() async throws {
        struct Usage: Decodable {
            struct Day: Decodable { let snapshots: Int }
            struct Item: Decodable {}
            let days: [Day]
            let items: [Item]?
            let limit: Int?
            let isCounting: Bool
        }
        let place = try await ServerPlace(usageLimit: 1, past: AnswerTests.edits)
        let usage = try place.get(Usage.self, "usage?root=\(try AnswerTests.root(place))")
        #expect(usage.limit == 1 && usage.items == nil && !usage.isCounting)
        #expect(usage.days.reduce(0) { $0 + $1.snapshots } == 2)
    }

    @Test("blame names the encoding and, for each change, the version before it, also under an earlier name")
    func blamesEarlierVersions() async throws {
        struct Answer: Decodable {
            struct Line: Decodable {
                let text: String
                let origin: Int

                init(from decoder: any Decoder) throws {
                    var list = try decoder.unkeyedContainer()
                    (text, origin) = (try list.decode(String.self), try list.decode(Int.self))
                }
            }
            struct Before: Decodable {
                let snapshot: Snapshot
                let path: String
            }
            struct Origin: Decodable {
                let snapshot: Snapshot
                let before: Before?
            }
            let lines: [Line]
            let origins: [Origin]
            let encoding: String?
        }
        func wide(_ text: String) -> [UInt8] { text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } }
        let common = (1...6).map { "line \($0), which stays as it was\n" }.joined()
        let place = try await ServerPlace { scratch, archive in
            func write(_ name: String, _ bytes: [UInt8]) throws {
                try Data(bytes).write(to: URL(filePath: "\(scratch.path)/root/\(name)"))
            }
            func capture() throws { _ = try archive.capture(scratch.path.pushing("root")) }
            try scratch.write("root/other.txt", "other\n")
            try write("old.txt", wide(common + "caf\n"))
            try write("latin.txt", Array("caf\n".utf8))
            try capture()
            try FileManager.default.moveItem(
                atPath: "\(scratch.path)/root/old.txt", toPath: "\(scratch.path)/root/new.txt")
            try write("new.txt", wide(common + "café\n"))
            try write("latin.txt", Array("caf".utf8) + [0xE9, 0x0A])
            try capture()
        }
        let root = try #require(try place.archive.roots().first)
        let ids = try place.archive.snapshots(SnapshotQuery(root: root)).map(\.id.hex)
        let renamed = try place.get(Answer.self, "blame?snapshot=\(ids[1])&path=new.txt")
        #expect(renamed.encoding == "UTF-16" && renamed.lines.map(\.text).last == "café")
        let origins = renamed.lines.map { renamed.origins[$0.origin] }
        #expect(origins.map(\.snapshot.id) == Array(repeating: ids[0], count: 6) + [ids[1]])
        #expect(origins.first?.before == nil)
        #expect(origins.last?.before.map { [$0.snapshot.id, $0.path] } == [ids[0], "old.txt"])
        let latin = try place.get(Answer.self, "blame?snapshot=\(ids[1])&path=latin.txt")
        #expect(latin.encoding == "Latin-1" && latin.lines.map(\.text) == ["café"])
        #expect(latin.origins.first?.before?.path == "latin.txt")
    }
}
