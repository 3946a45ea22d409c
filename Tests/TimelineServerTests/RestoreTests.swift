// Plans: of paths with different holders, of single lines, of copies; and comparisons with the files on disk.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import TimelineServer

@Suite(.blocking) struct RestoreTests {
    private struct Plan: Decodable {
        struct Hunk: Decodable { let lines: [[String]] }
        struct Source: Decodable {
            struct Snapshot: Decodable { let id: String }
            let snapshot: Snapshot
            let paths: Int
        }

        let plan: String
        let nothingToDo: Bool
        let warnings: [String]
        let hunks: [Hunk]
        let sources: [Source]
        let command: String?
    }

    private struct Done: Decodable {
        struct Problem: Decodable { let message: String }
        let message: String
        let operation: String?
        let problemPaths: [Problem]
    }

    private struct Diff: Decodable {
        let kind: String
        let digest: String?
        let hunks: [Plan.Hunk]
    }

    private struct Failure: Decodable {
        struct Detail: Decodable {
            let code: String
            let message: String
        }

        let error: Detail
    }

    /// A novel of two chapters, captured before and after a cut, with one file removed and one added.
    private final class Novel: Sendable {
        let place: ServerPlace
        let before: String
        let after: String
        let root: String

        init() async throws {
            place = try await ServerPlace()
            let scratch = place.scratch
            try scratch.write("novel/chapter.md", Novel.text(isCut: false))
            try scratch.write("novel/gone.md", "gone\n")
            try scratch.write("novel/folder/old.md", "in a folder\n")
            let path = scratch.path.pushing("novel")
            before = try await place.archive.capture(path).latest.id.hex
            try scratch.write("novel/chapter.md", Novel.text(isCut: true))
            try FileManager.default.removeItem(atPath: "\(path)/gone.md")
            try FileManager.default.removeItem(atPath: "\(path)/folder")
            try scratch.write("novel/new.md", "new\n")
            after = try await place.archive.capture(path).latest.id.hex
            root = RootAnswer.id(ArchivedRoot(here: path))
        }

        static func text(isCut: Bool, end: String = "The end.") -> String {
            let lines = (1...40).map { "Sentence \($0)." } + [end]
            return (isCut ? lines[..<10] + lines[13...] : lines[...]).joined(separator: "\n") + "\n"
        }

        func path(_ name: String) -> FilePath { place.scratch.path.pushing(FilePath("novel/\(name)")) }

        func read(_ name: String) throws -> String { try String(contentsOfFile: path(name).string, encoding: .utf8) }

        func plan(_ wish: [String: Any]) throws -> Plan { try place.post(Plan.self, "restore/plan", wish) }

        func apply(_ plan: Plan) throws -> Done {
            try place.post(Done.self, "restore/apply", ["plan": plan.plan])
        }

        func refusal(_ wish: [String: Any]) throws -> (status: Int, code: String) {
            let body = String(decoding: try JSONSerialization.data(withJSONObject: wish), as: UTF8.self)
            let answer = try ServerPlace.answer(place.port, "POST", "/api/1/restore/plan", place.headers, body)
            return (answer.status, try JSONDecoder().decode(Failure.self, from: answer.body).error.code)
        }
    }

    @Test(
        "changed, removed and added entries are restored together, each from a moment that has it, and undone together")
    func restoresFromSeveralHolders() async throws {
        let novel = try await Novel()
        let sides = [novel.before, novel.after]
        let names = ["chapter.md", "gone.md", "new.md", "folder", "folder/old.md"]
        let plan = try novel.plan(["paths": names.map { ["path": $0, "snapshots": sides] }])
        #expect(plan.sources.map(\.snapshot.id) == sides && plan.sources.map(\.paths) == [3, 1])
        #expect(plan.command?.components(separatedBy: "; ").count == 4)
        let done = try novel.apply(plan)
        #expect(done.problemPaths.isEmpty && done.operation != nil)
        #expect(try novel.read("chapter.md") == Novel.text(isCut: false))
        #expect(try novel.read("gone.md") == "gone\n" && novel.read("folder/old.md") == "in a folder\n")
        #expect(try novel.read("new.md") == "new\n")
        _ = try novel.place.post(Done.self, "undo", ["root": novel.root])
        #expect(try novel.read("chapter.md") == Novel.text(isCut: true))
        #expect(!FileManager.default.fileExists(atPath: novel.path("gone.md").string))
    }

    @Test("a path that no moment has is left out and named; if none has any, the plan is refused")
    func namesMissing() async throws {
        let novel = try await Novel()
        let both = [novel.before, novel.after]
        let paths = [["path": "gone.md", "snapshots": both], ["path": "nothing.md", "snapshots": both]]
        #expect(try novel.plan(["paths": paths]).warnings.contains { $0.contains("nothing.md") })
        #expect(try novel.refusal(["paths": [["path": "new.md", "snapshots": [novel.before]]]]).status == 404)
        for wish in [[:], ["paths": []], ["paths": [["path": "a", "snapshots": []]]]] as [[String: Any]] {
            #expect(try novel.refusal(wish).status == 400)
        }
    }

    @Test("a plan is refused if a file is where a directory was, and names such a path among others")
    func fileInPlaceOfDirectory() async throws {
        let novel = try await Novel()
        try novel.place.scratch.write("novel/folder", "a file now\n")
        let path = ["path": "folder/old.md", "snapshots": [novel.before]] as [String: Any]
        #expect(try novel.refusal(["paths": [path]]) == (409, "notDirectory"))
        let plan = try novel.plan(["paths": [path, ["path": "gone.md", "snapshots": [novel.before]]]])
        let problem = "folder/old.md cannot be restored: folder is not a directory now"
        #expect(plan.warnings.count == 1 && plan.warnings[0].hasPrefix(problem))
        #expect(try novel.apply(plan).problemPaths.map(\.message) == [problem])
        #expect(try novel.read("gone.md") == "gone\n" && novel.read("folder") == "a file now\n")
    }

    @Test("lines are put back into the file of now, which keeps its other changes and its mode, and undone")
    func putsLinesBack() async throws {
        let novel = try await Novel()
        let present = Novel.text(isCut: true, end: "Another end.")
        try present.write(toFile: novel.path("chapter.md").string, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: novel.path("chapter.md").string)
        let lines: [String: Any] = [
            "path": "chapter.md", "older": novel.before, "newer": novel.after, "hunks": [0],
        ]
        let plan = try novel.plan(["lines": lines])
        #expect(!plan.nothingToDo && plan.command == nil && plan.hunks.count == 1)
        #expect(plan.hunks.first?.lines.filter { $0.first == "+" }.count == 3)
        let done = try novel.apply(plan)
        #expect(done.problemPaths.isEmpty && done.operation != nil && done.message.contains("chapter.md"))
        #expect(try novel.read("chapter.md") == Novel.text(isCut: false, end: "Another end."))
        let mode = try FileManager.default.attributesOfItem(atPath: novel.path("chapter.md").string)[.posixPermissions]
        #expect(mode as? Int == 0o640)
        #expect(try novel.plan(["lines": lines]).nothingToDo)
        _ = try novel.place.post(Done.self, "undo", ["root": novel.root])
        #expect(try novel.read("chapter.md") == present)
        _ = try novel.place.post(Done.self, "redo", ["root": novel.root])
        #expect(try novel.read("chapter.md") == Novel.text(isCut: false, end: "Another end."))
    }

    @Test("lines are not put back if the file has changed at that place, or since the plan or the comparison")
    func keepsLaterEdits() async throws {
        let novel = try await Novel()
        func write(_ text: String) throws {
            try text.write(toFile: novel.path("chapter.md").string, atomically: false, encoding: .utf8)
        }
        let lines: [String: Any] = ["path": "chapter.md", "older": novel.before, "newer": novel.after, "hunks": [0]]
        let plan = try novel.plan(["lines": lines])
        try write(Novel.text(isCut: true, end: "Saved after the plan."))
        let answer = try ServerPlace.answer(
            novel.place.port, "POST", "/api/1/restore/apply", novel.place.headers, #"{"plan": "\#(plan.plan)"}"#)
        #expect(answer.status == 409)
        #expect(try novel.read("chapter.md") == Novel.text(isCut: true, end: "Saved after the plan."))
        try write("Something else.\n")
        #expect(try novel.refusal(["lines": lines]) == (409, "linesChanged"))
        let target = "diff?root=\(novel.root)&a=\(novel.before)&b=disk&path=chapter.md"
        let diff = try novel.place.get(Diff.self, target)
        let digest = try #require(diff.digest)
        #expect(diff.kind == "text" && !diff.hunks.isEmpty)
        try write(Novel.text(isCut: true))
        var onDisk = lines
        (onDisk["newer"], onDisk["digest"]) = ("disk", digest)
        #expect(try novel.refusal(["lines": onDisk]) == (409, "fileChanged"))
        onDisk["digest"] = try novel.place.get(Diff.self, target).digest
        _ = try novel.apply(novel.plan(["lines": onDisk]))
        #expect(try novel.read("chapter.md") == Novel.text(isCut: false))
    }

    @Test("an old version is copied beside the file or into another directory, and replaces nothing")
    func copies() async throws {
        let novel = try await Novel()
        let name = "chapter (12:04).md"
        var copy: [String: Any] = ["path": "chapter.md", "snapshot": novel.before, "name": name]
        let plan = try novel.plan(["copy": copy])
        #expect(plan.command?.contains("--target \"\(novel.path(name))\"") == true)
        _ = try novel.apply(plan)
        #expect(try novel.read(name) == Novel.text(isCut: false))
        #expect(try novel.read("chapter.md") == Novel.text(isCut: true))
        #expect(try novel.refusal(["copy": copy]) == (409, "exists"))
        copy["path"] = "folder"
        copy["directory"] = "\(novel.place.scratch.path)/elsewhere"
        _ = try novel.apply(novel.plan(["copy": copy]))
        let copied = "\(novel.place.scratch.path)/elsewhere/\(name)/old.md"
        #expect(try String(contentsOfFile: copied, encoding: .utf8) == "in a folder\n")
        for name in ["", ".", "..", "a/b", "a\0b"] {
            copy["name"] = name
            #expect(try novel.refusal(["copy": copy]).status == 400, "\(name)")
        }
        (copy["name"], copy["directory"]) = ("x", "relative")
        #expect(try novel.refusal(["copy": copy]).status == 400)
        copy["directory"] = "\(novel.place.archive.directory)"
        #expect(try novel.refusal(["copy": copy]).status == 500 || novel.refusal(["copy": copy]).status == 400)
    }

    @Test("a snapshot is compared with the files on disk, and links on disk are not followed")
    func comparesWithDisk() async throws {
        let novel = try await Novel()
        struct Changes: Decodable {
            struct Change: Decodable {
                let path: String
                let change: String
            }
            let changes: [Change]
        }
        try FileManager.default.removeItem(atPath: novel.path("new.md").string)
        try novel.place.scratch.write("novel/later.md", "later\n")
        let changes = try novel.place.get(Changes.self, "changes?a=\(novel.after)&b=disk").changes
        #expect(changes.map { "\($0.change) \($0.path)" } == ["added later.md", "removed new.md"])
        let target = "diff?root=\(novel.root)&a=\(novel.before)&b=disk&path="
        #expect(try novel.place.get(Diff.self, target + "gone.md").kind == "text")
        try FileManager.default.createSymbolicLink(
            atPath: novel.path("gone.md").string, withDestinationPath: "chapter.md")
        #expect(try novel.place.get(Diff.self, target + "gone.md").kind == "binary")
        try FileManager.default.createSymbolicLink(atPath: novel.path("folder").string, withDestinationPath: "/etc")
        let answer = try ServerPlace.answer(
            novel.place.port, "GET",
            "/api/1/diff?root=\(novel.root)&a=\(novel.after)&b=disk&path=folder/passwd", novel.place.headers)
        #expect(answer.status != 200 && !String(decoding: answer.body, as: UTF8.self).contains("root:"))
    }
}
