// An archive from another machine: its effects on this one are reported, and it is restored in place only on request.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Archives of other machines, with the program", .blocking)
struct ForeignArchiveTests {
    private let place: Workplace
    private let other = ["ARCHIVER_MACHINE_ID": "other"]

    init() throws {
        place = try Workplace()
    }

    /// Gives the file `name` the capability to open raw sockets, as setcap(8) does.
    private func setCapability(_ name: String) throws {
        let script = """
            import os, sys
            os.setxattr(sys.argv[1], "security.capability", bytes.fromhex("0100000200200000000000000000000000000000"))
            """
        let file = place.root.pushing(FilePath(name)).string
        #expect(try ChildProcess.run("python3", ["-c", script, file].map { Array($0.utf8) }).status == 0)
    }

    @Test(
        "a restore names privileged files if the snapshot is of another machine, but not if it is of this one",
        .enabled(if: geteuid() == 0))
    func privileges() throws {
        try place.write("su", "su")
        try place.write("ping", "ping")
        chmod(place.root.appending("su").string, 0o4755)
        try setCapability("ping")
        #expect(try place.run("capture", place.root.string, environment: other).status == 0)
        let foreign = try place.run(
            "restore", "latest", "--root", place.root.string, "--target", place.path("foreign").string)
        #expect(foreign.status == 0, "\(foreign.errorText)")
        #expect(foreign.errorText.contains("su runs as its owner or group"), "\(foreign.errorText)")
        #expect(foreign.errorText.contains("ping runs with the capabilities"), "\(foreign.errorText)")
        let own = try place.run(
            "restore", "latest", "--target", place.path("own").string, environment: other)
        #expect(own.status == 0 && !own.errorText.contains("runs"), "\(own.errorText)")
        var status = stat()
        #expect(stat(place.path("own/su").string, &status) == 0 && status.st_mode & 0o7777 == 0o4755)
    }

    @Test("the page shows a named root of another machine and refuses an unknown root")
    func page() throws {
        try place.write("file", "text")
        #expect(try place.run("capture", place.root.string, environment: other).status == 0)
        let server = try place.start("browse", place.root.string, "--no-open")
        #expect(try server.line { $0.contains("#token=") }.hasPrefix("http://127.0.0.1:"))
        server.send(SIGTERM)
        #expect(try server.finish().status == 130)
        let unknown = try place.run("browse", place.path("nowhere").string, "--no-open")
        #expect(unknown.status == 1 && unknown.errorText.contains("holds no snapshots of"), "\(unknown.errorText)")
    }

    @Test("another machine's snapshot is restored in place only with --root")
    func inPlace() throws {
        #expect(try place.run("capture", place.root.string, environment: other).status == 0)
        try place.write("empty", "mine")
        // It is not used only because the archive has no other root.
        expectRefusal(try place.run("restore", "latest"), 64, naming: "the current directory is not in \(place.root)")
        let id = try #require(try place.run("list").lines.first?.prefix(8))
        let refused = try place.run("restore", String(id))
        #expect(refused.status == 64, "\(refused.errorText)")
        #expect(refused.errorText.contains("--target") && refused.errorText.contains("--root"), "\(refused.errorText)")
        #expect(try place.read("tree/empty") == Array("mine".utf8))
        let undo = try place.run("undo", place.root.string)
        #expect(undo.status != 0)
        #expect(try place.read("tree/empty") == Array("mine".utf8))
    }
}
