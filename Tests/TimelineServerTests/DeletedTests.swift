// Lists of deleted paths and of names, and the restore of each of their rows.

import ArchiverKit
import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import TimelineServer

@Suite(.blocking) struct DeletedTests {
    private struct Snapshot: Decodable {
        let id: String
        let time: Int64
    }

    private struct Row: Decodable {
        let path: String
        let pathBytes: String?
        let kind: String
        let lastIn: Snapshot
        let deletedIn: Snapshot?
    }

    private struct Deleted: Decodable {
        let deleted: [Row]
        let count: Int
        let cursor: String?
    }

    private struct Roots: Decodable {
        struct Root: Decodable {
            let id: String
            let path: String
        }

        let roots: [Root]
    }

    private struct Plan: Decodable {
        let plan: String
        let nothingToDo: Bool
    }

    private struct Result: Decodable {
        struct Problem: Decodable { let message: String }
        let problemPaths: [Problem]
    }

    /// A history with many kinds of removed entries, in two roots.
    private static func removals(_ scratch: TemporaryDirectory, _ archive: Archive) throws {
        for name in ["one", "two"] {
            let root = scratch.path.pushing(FilePath(name))
            func write(_ file: String, _ text: String) throws { try scratch.write("\(name)/\(file)", text) }
            func remove(_ file: String) throws { try FileManager.default.removeItem(atPath: "\(root)/\(file)") }
            func capture() throws { _ = try archive.capture(root) }
            for file in [
                "plain.txt", "again.txt", "kept.txt", "old name.txt", "kind", "<img src=x>.html", "\u{1}\n.txt",
            ] {
                try write(file, "\(file) in \(name), long enough to be recognised when it is renamed\n")
            }
            for file in ["folder/a.txt", "folder/deep/b.txt", "moved/c.txt", "emptied/d.txt"] {
                try write(file, "\(file) in \(name), long enough to be recognised when it is moved\n")
            }
            let odd = FilePath(bytes: root.bytes + Array("/odd".utf8) + [0xFF])
            close(odd.withPlatformString { open($0, O_CREAT | O_WRONLY, 0o644) })
            try FileManager.default.createSymbolicLink(atPath: "\(root)/link", withDestinationPath: "kept.txt")
            try capture()
            for file in ["plain.txt", "again.txt", "folder", "link", "kind", "\u{1}\n.txt"] { try remove(file) }
            try capture()
            try write("again.txt", "again in \(name)\n")
            try write("kind/now a directory.txt", "inside\n")
            try FileManager.default.moveItem(atPath: "\(root)/old name.txt", toPath: "\(root)/new name.txt")
            try FileManager.default.moveItem(atPath: "\(root)/moved", toPath: "\(root)/elsewhere")
            try capture()
            for file in ["again.txt", "kind", "emptied/d.txt", "<img src=x>.html", "new name.txt"] { try remove(file) }
            _ = odd.withPlatformString { unlink($0) }
            try capture()
            try write("last.txt", "the latest snapshot removes nothing\n")
            try capture()
        }
    }

    /// Restores a row as the page does, and expects that its path exists afterwards.
    private func restore(_ row: Row, _ root: Roots.Root, _ place: ServerPlace) throws {
        var wish: [String: Any] = ["snapshots": [row.lastIn.id]]
        if let bytes = row.pathBytes { wish["pathBytes"] = bytes } else { wish["path"] = row.path }
        let name = "\(root.path) \(row.path)"
        let plan = try place.post(Plan.self, "restore/plan", ["paths": [wish]])
        #expect(!plan.nothingToDo, "\(name)")
        let result = try place.post(Result.self, "restore/apply", ["plan": plan.plan])
        #expect(result.problemPaths.isEmpty, "\(name): \(result.problemPaths.map(\.message))")
        let bytes = row.pathBytes.flatMap { Base64URL.decoded($0) } ?? Array(row.path.utf8)
        let path = FilePath(bytes: Array(root.path.utf8) + [UInt8(ascii: "/")] + bytes)
        var status = stat()
        #expect(path.withPlatformString { lstat($0, &status) } == 0, "\(name)")
    }

    @Test("every row of the list of deleted paths can be restored, in every root")
    func restoresDeleted() async throws {
        let place = try await ServerPlace(past: DeletedTests.removals)
        let roots = try place.get(Roots.self, "roots").roots
        #expect(roots.count == 2)
        for root in roots {
            let list = try place.get(Deleted.self, "deleted?root=\(root.id)")
            let paths = Set(list.deleted.map(\.path))
            for path in ["plain.txt", "again.txt", "folder", "link", "kind", "emptied/d.txt", "new name.txt"] {
                #expect(paths.contains(path), "\(path)")
            }
            #expect(list.count == list.deleted.count && list.cursor == nil && paths.count == list.count)
            #expect(list.deleted.contains { $0.pathBytes != nil })
            let times = list.deleted.compactMap(\.deletedIn?.time)
            #expect(times == times.sorted(by: >), "the latest deletion is first")
            for row in list.deleted { try restore(row, root, place) }
            #expect(try place.get(Deleted.self, "deleted?root=\(root.id)").count == 0)
        }
    }

    @Test("every deleted name that a search finds can be restored, a renamed one too")
    func restoresNames() async throws {
        let place = try await ServerPlace(past: DeletedTests.removals)
        for root in try place.get(Roots.self, "roots").roots {
            let answer = try ServerPlace.answer(
                place.port, "GET", "/api/1/search?root=\(root.id)&q=&kind=names", place.headers)
            let lines = answer.body.split(separator: UInt8(ascii: "\n"))
            let rows = try lines.dropLast().map { try JSONDecoder().decode(Row.self, from: $0) }
            let gone = rows.filter { $0.deletedIn != nil }
            #expect(gone.contains { $0.path == "old name.txt" } && gone.contains { $0.path == "folder/deep/b.txt" })
            #expect(gone.count < rows.count)
            // A directory brings back what was in it, so rows below it are restored first.
            for row in gone.sorted(by: { $0.path.utf8.count > $1.path.utf8.count }) where row.kind != "directory" {
                try restore(row, root, place)
            }
            for row in rows where row.deletedIn == nil {
                let entry = try place.archive.entry(
                    at: #require(RelativePath(row.pathBytes.flatMap { Base64URL.decoded($0) } ?? Array(row.path.utf8))),
                    in: place.archive.snapshot(SnapshotSelector(row.lastIn.id)))
                #expect(entry != nil, "\(row.path)")
            }
        }
    }

    @Test("a list longer than an answer continues at its cursor, and each answer has the number of all")
    func pages() async throws {
        let place = try await ServerPlace { scratch, archive in
            for number in 0..<40 { try scratch.write("root/\(number).txt", "\(number)") }
            let root = scratch.path.pushing("root")
            _ = try archive.capture(root)
            for number in 0..<37 {
                try FileManager.default.removeItem(atPath: "\(root)/\(number).txt")
                if number % 10 == 9 || number == 36 { _ = try archive.capture(root) }
            }
        }
        let root = try #require(try place.get(Roots.self, "roots").roots.first).id
        let all = try place.get(Deleted.self, "deleted?root=\(root)").deleted.map(\.path)
        #expect(all.count == 37)
        var (found, cursor): ([String], String?) = ([], nil)
        repeat {
            let next = cursor.map { "&cursor=\($0)" } ?? ""
            let part = try place.get(Deleted.self, "deleted?root=\(root)&limit=5\(next)")
            #expect(part.count == 37 && part.deleted.count <= 5)
            found += part.deleted.map(\.path)
            cursor = part.cursor
        } while cursor != nil
        #expect(found == all)
        let answer = try ServerPlace.answer(
            place.port, "GET", "/api/1/deleted?root=\(root)&cursor=x", place.headers)
        #expect(answer.status == 400)
    }
}
