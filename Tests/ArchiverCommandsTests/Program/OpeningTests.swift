// The program reports what is wrong with an archive that it opens, and no file in an archive blocks it.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct OpeningTests {
    private func segment(of work: Workplace) throws -> FilePath {
        let find = try ChildProcess.run("find", [work.archive.string, "-name", "*.segment"].map { Array($0.utf8) })
        return FilePath(try #require(find.lines.first))
    }

    private func forgetCatalogue(of work: Workplace) {
        for suffix in ["", "-wal", "-shm"] { unlink(work.archive.string + "/catalogue.sqlite" + suffix) }
    }

    @Test("an archive without its archive.json is not recreated, and repair restores the file")
    func lostManifest() throws {
        let work = try Workplace()
        let id = try work.capture()
        unlink(work.archive.appending("archive.json").string)
        forgetCatalogue(of: work)
        expectRefusal(try work.run("capture", work.root.string), 2, naming: "archive.json")
        expectRefusal(try work.run("list"), 2, naming: "archiver repair")
        #expect(try work.run("repair").status == 0)
        #expect(try work.listed() == [id])
        #expect(try work.run("check", "--data").status == 0)
    }

    @Test("an unreadable segment is named, and no command reports success")
    func unread() throws {
        let work = try Workplace()
        _ = try work.capture()
        let segment = try segment(of: work)
        rename(segment.string, segment.removingLastComponent().appending("x.segment").string)
        forgetCatalogue(of: work)
        for command in ["list", "check", "status"] {
            let outcome = try work.run(command)
            #expect(outcome.status == 2, "\(command): \(outcome.text)\(outcome.errorText)")
            #expect((outcome.text + outcome.errorText).contains(".segment"), "\(command)")
            #expect(!outcome.errorText.contains("holds no snapshots yet"))
        }
        let warnings = try work.run("list", "--json").errorText
        // Under another name the segment is not read, and under its own it is missing.
        for kind in ["unread", "missing"] { #expect(warnings.contains("\"kind\":\"\(kind)\""), "\(warnings)") }
    }

    @Test(
        "a FIFO in place of an archive file blocks no command",
        arguments: ["archive.json", "catalogue.sqlite", "catalogue.sqlite-wal", "locks/use.lock", "locks/open.lock"])
    func fifo(name: String) throws {
        let work = try Workplace()
        let id = try work.capture()
        let path = work.archive.string + "/" + name
        unlink(path)
        #expect(mkfifo(path, 0o600) == 0)
        let outcome = try ChildProcess.run(
            "timeout",
            ["20", Workplace.program.string, "list", "--archive", work.archive.string].map { Array($0.utf8) })
        if name.hasPrefix("catalogue") {
            #expect(outcome.status == 0, "\(outcome.errorText)")
            #expect(outcome.text.contains(id.prefix(8)))
        } else {
            expectRefusal(outcome, 1, naming: "FIFO")
        }
    }

    @Test("check notices a snapshot that the catalogue does not list")
    func unlisted() throws {
        let work = try Workplace()
        let id = try work.capture()
        let command =
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('delete from snapshot'); c.commit()"
        let catalogue = work.archive.appending("catalogue.sqlite").string
        #expect(try ChildProcess.run("python3", ["-c", command, catalogue].map { Array($0.utf8) }).status == 0)
        let check = try work.run("check")
        #expect(check.status == 2)
        #expect(check.errorText.contains("\(id.prefix(8)) is not in the catalogue"), "\(check.errorText)")
    }

    @Test("a watcher whose archive is moved reports it and creates nothing in its place")
    func movedArchive() throws {
        let work = try Workplace()
        let watcher = try work.start("watch", work.root.string, "--json", "--settle", "10ms")
        _ = try watcher.line { $0.contains("\"event\":\"watching\"") }
        rename(work.archive.string, work.path("elsewhere").string)
        mkdir(work.archive.string, 0o700)
        try work.write("new", "new")
        let line = try watcher.line { $0.contains("\"event\":\"error\"") }
        #expect(line.contains("is its disk mounted?"), "\(line)")
        expectRefusal(try work.run("status"), 10, naming: "is its disk mounted?")
        watcher.send(SIGKILL)
        _ = try watcher.finish()
        let names = try FileManager.default.contentsOfDirectory(atPath: work.archive.string)
        #expect(!names.contains("segments"), "\(names)")
    }

    @Test("without HOME, the archive is in the account's home directory")
    func withoutHome() throws {
        let outcome = try ChildProcess.run(
            "env", ["-u", "HOME", Workplace.program.string, "list"].map { Array($0.utf8) })
        let home = try #require(getpwuid(getuid())).pointee.pw_dir.map { String(cString: $0) }
        #expect(!outcome.errorText.contains("at /.local/share"))
        if outcome.status == 10 { #expect(outcome.errorText.contains(try #require(home)), "\(outcome.errorText)") }
    }
}
