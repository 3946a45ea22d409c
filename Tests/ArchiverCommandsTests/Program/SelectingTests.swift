// The selection of snapshots by id, order, label and current directory.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct SelectingTests {
    @Test("the current directory selects the root")
    func context() throws {
        let work = try Workplace()
        _ = try work.capture()
        try FileManager.default.createDirectory(atPath: work.path("other").string, withIntermediateDirectories: true)
        #expect(try work.run("capture", work.path("other").string).status == 0)
        func roots(_ directory: FilePath, _ arguments: String...) throws -> [String?] {
            let arguments = (["list", "--json"] + arguments).map { Array($0.utf8) }
            return try JSON.array(work.run(arguments, in: directory).output).map { $0["root"] as? String }
        }
        #expect(try roots(work.path("tree/notes")) == [work.root.string])
        #expect(try roots(work.path("other")) == [work.path("other").string])
        #expect(try roots("/").count == 2)
        #expect(try roots(work.path("other"), "--all").count == 2)
        #expect(try roots("/", "--root", work.root.string) == [work.root.string])

        for name in ["tree/notes", "tree/gone"] {
            let outcome = try work.run("restore", "latest", "--root", work.path(name).string)
            expectRefusal(outcome, 1, naming: work.path(name).string)
            #expect(outcome.errorText.contains("it is inside the root \(work.root)"))
        }

        let refused = try work.run("restore", "latest")
        #expect(refused.status == 64)
        #expect(refused.errorText.contains(work.root.string))
        #expect(refused.errorText.contains("--root"))
        #expect(try work.run("diff", "latest").status == 64)
        #expect(try work.run("cat", "latest:empty").status == 64)
    }

    @Test("if one snapshot is given by its id, latest means the latest of the same root")
    func latestBesides() throws {
        let work = try Workplace()
        let first = try work.capture()
        try work.write("new", "new")
        _ = try work.capture()
        try FileManager.default.createDirectory(atPath: work.path("other").string, withIntermediateDirectories: true)
        #expect(try work.run("capture", work.path("other").string).status == 0)
        #expect(try work.run("diff", first, "latest").lines == ["+ new"])
    }

    @Test("a label names a snapshot, also if only the label is new")
    func labels() throws {
        let work = try Workplace()
        let id = try work.capture()
        let labelled = try work.run("capture", work.root.string, "--label", "before-upgrade")
        #expect(labelled.status == 0, "\(labelled.errorText)")
        let all = try work.listed()
        #expect(all.count == 2)
        #expect(try work.run("diff", id, "before-upgrade").text == "")
        let shown = try JSON.object(work.run("show", "before-upgrade", "--json").output)
        #expect(shown["id"] as? String == all.last)
        #expect(shown["files"] as? Int == 3)
        _ = try work.run("capture", work.root.string, "--label", "before-upgrade")
        #expect(try work.listed().count == 2)
        let rows = try JSON.array(work.run("list", "--json", "--label", "before-upgrade").output)
        #expect(rows.map { $0["id"] as? String } == [all.last])
    }

    @Test("a root is the same in every spelling of its path")
    func spellings() throws {
        let work = try Workplace()
        symlink("tree", work.path("link").string)
        let id = try work.capture()
        for spelling in ["tree/", "./tree", "tree/../tree/.", "link", "link/"] {
            #expect(try work.run("capture", spelling).text.contains("nothing has changed"), "\(spelling)")
            #expect(try work.run("show", "latest", "--root", spelling).text.contains(id), "\(spelling)")
        }
        #expect(try work.run([Array("capture".utf8), Array(".".utf8)], in: work.root).status == 0)
        #expect(try work.listed() == [id])
    }

    @Test("list has the documented fields")
    func listFields() throws {
        let work = try Workplace()
        _ = try work.capture()
        let row = try #require(try JSON.array(work.run("list", "--json").output).first)
        #expect((row["id"] as? String)?.count == 64)
        #expect(row["root"] as? String == work.root.string)
        #expect(row["files"] as? Int == 3)
        #expect(row["bytes"] as? Int == 70_008)
        #expect(row["cause"] as? String == "capture")
        #expect(row["label"] is NSNull)
        for key in ["time", "directories", "added", "modified", "removed", "storedBytes", "host", "problems", "others"]
        {
            #expect(row[key] != nil, "\(key)")
        }
        let time = try #require(row["time"] as? String)
        #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/) != nil)
    }

    @Test("list in a pipe has lines of ten cells, the newest last; --limit keeps the newest")
    func listLines() throws {
        let work = try Workplace()
        var ids = [try work.capture()]
        for number in 1...3 {
            try work.write("new", "\(number)")
            ids.append(try work.capture())
        }
        let short = ids.map { String($0.prefix(8)) }
        func cells(_ arguments: String...) throws -> [[Substring]] {
            let arguments = ["list"] + arguments
            let outcome = try work.run(arguments.map { Array($0.utf8) }, in: work.path(""))
            return outcome.lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
        }
        let rows = try cells()
        #expect(rows.map { String($0[0]) } == short)
        #expect(rows.allSatisfy { $0.count == 10 })
        #expect(try cells("--limit", "2").map { String($0[0]) } == Array(short.suffix(2)))
        #expect(try cells("--reverse").map { String($0[0]) } == short.reversed())
        #expect(try cells("--until", "2001-01-01").isEmpty)
        #expect(try cells("--since", "2001-01-01").count == 4)
    }
}
