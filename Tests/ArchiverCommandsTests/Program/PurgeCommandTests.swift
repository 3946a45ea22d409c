// `archiver purge` as users run it.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("archiver purge, with the program", .blocking)
struct PurgeCommandTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        _ = try place.capture()
        try place.write("secrets.env", "PASSWORD=correct horse battery staple\n")
        _ = try place.capture()
        try place.write("empty", "more")
        _ = try place.capture()
        try place.remove("tree/secrets.env")
        _ = try place.capture()
    }

    private func run(_ arguments: String...) throws -> ChildProcess.Outcome {
        try place.run((["purge"] + arguments).map { Array($0.utf8) }, in: place.root)
    }

    @Test("a dry run shows the plan; without a terminal --yes is required; then no purged data is left")
    func purged() throws {
        let before = try place.listed()
        let shown = try run("secrets.env", "--dry-run")
        #expect(shown.status == 0 && shown.text.contains("secrets.env: in 2 snapshots"), "\(shown.text)")
        #expect(shown.text.contains("would purge 1 name in 3 snapshots"), "\(shown.text)")
        let refused = try run("secrets.env")
        #expect(refused.status == 64 && refused.errorText.contains("--yes"), "\(refused.errorText)")
        #expect(try place.listed() == before)
        let outcome = try run("secrets.env", "--yes")
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(outcome.text.contains("purged 1 name in 3 snapshots"), "\(outcome.text)")
        #expect(outcome.text.contains("no purged data is left") && outcome.text.contains("certificates/purge-"))
        #expect(outcome.errorText.contains("not reached: copies of the archive"), "\(outcome.errorText)")
        let after = try place.listed()
        #expect(after.count == before.count && after.first == before.first)
        #expect(try place.run("find", "secrets*", "--root", place.root.string).text.isEmpty)
        #expect(try place.run("check", "--data").status == 0)
        let again = try run("secrets.env", "--yes")
        #expect(again.status == 1 && again.errorText.contains("archiver find"), "\(again.errorText)")
    }

    @Test("purge is refused while a watcher or a page runs, and names them; files that still exist are named")
    func watched() throws {
        try place.write("secrets.env", "PASSWORD=hunter2\n")
        let watcher = try place.start("watch", place.root.string)
        _ = try watcher.line { $0.contains("  watching ") }
        let page = try place.start("browse", place.root.string, "--no-open")
        _ = try page.line { $0.contains("#token=") }
        let refused = try run("secrets.env", "--yes")
        #expect(refused.status == 11, "\(refused.errorText)")
        for user in ["archiver watch \(place.root) (process ", "archiver browse \(place.root) --no-open (process "] {
            #expect(refused.errorText.contains(user), "\(refused.errorText)")
        }
        watcher.send(SIGTERM)
        #expect(try watcher.finish().status == 0)
        page.send(SIGTERM)
        #expect(try page.finish().status == 130)
        let outcome = try run("--pattern", "*.env", "--yes")
        #expect(outcome.status == 0 && outcome.errorText.contains("still exists"), "\(outcome.errorText)")
    }

    @Test("a content is found under all names; wrong arguments are refused", arguments: ["--dry-run", "-y"])
    func content(flag: String) throws {
        try place.write("copy", "PASSWORD=correct horse battery staple\n")
        _ = try place.capture()
        let words = ["purge", "--json", "--content", place.root.appending("copy").string, flag]
        let outcome = try place.run(words.map { Array($0.utf8) }, in: place.root)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let names = try JSON.object(outcome.output)["names"] as? [[String: Any]]
        #expect(names?.compactMap { $0["path"] as? String } == ["copy", "secrets.env"])
        #expect(try run().status == 64)
        #expect(try run("a", "--pattern", "b").status == 64)
        #expect(try run(".", "-y").status == 1)
        #expect(try run("../outside", "-y").status == 64)
        #expect(try run("--pattern", "!", "-y").status == 64)
        #expect(try run("--content", "/nowhere/at/all", "-y").status == 1)
        #expect(try run("never", "-y").errorText.contains("no snapshot has"))
    }

    @Test(
        "a text is purged from notes and labels; files with the same bytes are named, also on stderr beside JSON")
    func text() throws {
        #expect(try place.run("label", "latest", "hunter2-label").status == 0)
        #expect(try place.run("note", "hunter2 note").status == 0)
        #expect(try run("--text", "hunter2", "--dry-run").text.contains("would purge 2 records with the text"))
        let outcome = try run("--text", "hunter2", "--yes")
        #expect(outcome.status == 0 && outcome.text.contains("no purged data is left"), "\(outcome.errorText)")
        #expect(try !place.run("list").text.contains("hunter2"))
        #expect(try run("--text", "hunter2", "--yes").status == 1)
        #expect(try run("--text", "a", "--pattern", "b").status == 64)

        try place.write("copy.env", "PASSWORD=correct horse battery staple\n")
        _ = try place.capture()
        let shared = try run("secrets.env", "--yes")
        #expect(
            shared.status == 3 && shared.errorText.contains("the same bytes are in copy.env"), "\(shared.errorText)")
        #expect(!shared.text.contains("no purged data is left"))
        try place.write("other.env", "PASSWORD=correct horse battery staple\n")
        _ = try place.capture()
        let json = try run("copy.env", "--yes", "--json")
        #expect(json.status == 3 && json.errorText.contains("the same bytes are in other.env"), "\(json.errorText)")
        try Data().write(to: URL(fileURLWithPath: place.archive.appending("certificates/unfinished").string))
        #expect(try place.run("list").errorText.contains("is unfinished"))
        #expect(try place.run("status").text.contains("is unfinished"))
        #expect(try run("copy.env", "--yes").status == 0)
        #expect(try !place.run("list").errorText.contains("is unfinished"))
    }
}
