// A restore does all that it can, reports what it could not do, and can be finished and undone.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct PartialRestoreTests {
    /// Runs a program of the system.
    private func shell(_ program: FilePath, _ arguments: String...) throws -> Bool {
        try ChildProcess.run(program, arguments.map { Array($0.utf8) }).status == 0
    }

    /// Waits until a temporary file shows that `process`, a restore, is writing.
    ///
    /// - Returns: false if it ended before that was seen.
    private func isAtWork(_ process: ChildProcess, in work: Workplace) throws -> Bool {
        let state = FilePath("/proc/\(process.id)/stat")
        while true {
            let names = try FileManager.default.contentsOfDirectory(atPath: work.root.string)
            if names.contains(where: { $0.hasPrefix(".archiver-") }) { return true }
            let text = try Descriptor.open(state, O_RDONLY).readToEnd(limit: 4096, path: state)
            if String(decoding: text, as: UTF8.self).contains(") Z ") { return false }
        }
    }

    private func restore(_ work: Workplace, _ arguments: String...) throws -> ChildProcess.Outcome {
        try work.run(["restore"] + arguments + ["--root", work.root.string])
    }

    @Test(
        "files that cannot be replaced are named, the rest is restored, and undo reverts it",
        .enabled(if: getuid() == 0))
    func immutable() throws {
        let work = try Workplace()
        for name in ["a", "b", "c", "d", "e/f"] { try work.write(name, "old") }
        let id = try work.capture()
        for name in ["a", "b", "c", "d", "e/f"] { try work.write(name, "new") }
        try work.write("g", "new")
        try work.copyTree(to: "before")
        let locked = work.path("tree/b").string
        guard try shell("chattr", "+i", locked) else { return }
        defer { _ = try? shell("chattr", "-i", locked) }
        let json = try work.run("restore", id, "--json", "--root", work.root.string)
        #expect(json.status == 3, "\(json.errorText)")
        let result = try JSON.object(json.output)
        #expect(result["complete"] as? Bool == false && result["problems"] as? Int == 1)
        let problem = try #require((result["problemPaths"] as? [[String: Any]])?.first)
        #expect(problem["path"] as? String == "b")
        #expect((problem["remedy"] as? String)?.contains("chattr") == true)
        for name in ["a", "c", "d", "e/f"] { #expect(try work.read("tree/\(name)") == Array("old".utf8), "\(name)") }
        #expect(try work.read("tree/b") == Array("new".utf8))
        #expect(access(work.path("tree/g").string, F_OK) != 0)

        let again = try restore(work, id)
        #expect(again.status == 3 && again.text.contains("incomplete") && again.text.contains("1 not restored"))
        #expect(again.errorText.contains("b:") && again.errorText.contains("restore again"), "\(again.errorText)")
        #expect(try work.leftovers(in: work.root) == [])
        #expect(try shell("chattr", "-i", locked))
        #expect(try restore(work, id).status == 0)
        #expect(try work.read("tree/b") == Array("old".utf8))
        #expect(try work.run("undo", work.root.string, "--steps", "3").status == 0)
        #expect(try work.difference(of: work.root, and: "before") == "")
    }

    @Test(
        "a directory that cannot be changed is named, and the rest is restored",
        .enabled(if: getuid() == 0), arguments: ["+i", "+a"])
    func closedDirectory(flag: String) throws {
        let work = try Workplace()
        for name in ["closed/a", "closed/b", "open/a"] { try work.write(name, "old") }
        let id = try work.capture()
        for name in ["closed/a", "open/a"] { try work.write(name, "new") }
        try work.remove("tree/closed/b")
        let closed = work.path("tree/closed").string
        guard try shell("chattr", flag, closed) else { return }
        defer { _ = try? shell("chattr", "-ia", closed) }
        let outcome = try restore(work, id)
        #expect(outcome.status == 3, "\(outcome.errorText)")
        #expect(outcome.errorText.contains("closed/a"), "\(outcome.errorText)")
        #expect(try work.read("tree/open/a") == Array("old".utf8))
        #expect(try work.read("tree/closed/a") == Array("new".utf8))
        #expect(try shell("chattr", "-ia", closed))
        #expect(try restore(work, id).status == 0)
        // In an append-only directory, a temporary file stays until the next restore.
        #expect(try work.leftovers(in: work.root) == [])
        #expect(try work.read("tree/closed/b") == Array("old".utf8))
    }

    @Test(
        "mounts below the root are named and left unchanged, and the rest is restored",
        .enabled(if: getuid() == 0))
    func mounts() throws {
        let work = try Workplace()
        for name in ["disk/inner/file", "beside"] { try work.write(name, "old") }
        let id = try work.capture()
        try work.write("beside", "new")
        guard try shell("mount", "-t", "tmpfs", "tmpfs", work.path("tree/disk").string) else { return }
        defer { _ = try? shell("umount", work.path("tree/disk").string) }
        try work.write("disk/precious", "of another file system")
        let outcome = try restore(work, "\(id):disk")
        #expect(outcome.status == 3, "\(outcome.text)\(outcome.errorText)")
        #expect(outcome.errorText.contains("disk is on another file system"), "\(outcome.errorText)")
        #expect(try work.read("tree/disk/precious") == Array("of another file system".utf8))
        #expect(access(work.path("tree/disk/inner").string, F_OK) != 0)
        // A mount point does not belong to the root, nor do its time and permissions.
        #expect(try restore(work, id).status == 0)
        #expect(try work.read("tree/beside") == Array("old".utf8))
        #expect(access(work.path("tree/disk/inner").string, F_OK) != 0)
        let again = try restore(work, id).text
        #expect(again.hasPrefix("nothing to do"), "\(again)")
    }

    @Test(
        "an undo that cannot restore a path is incomplete, and the next one goes on to the step before",
        .enabled(if: getuid() == 0))
    func nextUndo() throws {
        let work = try Workplace()
        for name in ["f", "im"] { try work.write(name, "1") }
        let id = try work.capture()
        try work.write("f", "2")
        _ = try work.capture()
        #expect(try restore(work, id).status == 0)
        let script = "cd '\(work.root)'; echo 3 > f; echo 3 > im"
        #expect(try work.run("run", "--root", work.root.string, "--", "sh", "-c", script).status == 0)
        let locked = work.path("tree/im").string
        guard try shell("chattr", "+i", locked) else { return }
        defer { _ = try? shell("chattr", "-i", locked) }
        let first = try work.run("undo", work.root.string)
        #expect(first.status == 3 && first.errorText.contains("chattr"), "\(first.errorText)")
        #expect(try work.read("tree/f") == Array("1".utf8))
        let second = try work.run("undo", work.root.string)
        #expect(second.errorText.contains("stays incomplete: 1 path"), "\(second.errorText)")
        #expect(try work.read("tree/f") == Array("2".utf8))
        // Nothing else is left: what stays incomplete is tried again.
        let third = try work.run("undo", work.root.string)
        #expect(third.status == 3 && third.errorText.contains("chattr"), "\(third.errorText)")
        #expect(try work.read("tree/f") == Array("2".utf8))
        let operations = try JSON.array(work.run("operations", work.root.string, "--json").output)
        #expect(operations.map { $0["complete"] as? Bool }.contains(false))
    }

    @Test("a file that does not fit twice is restored last, in place", .enabled(if: getuid() == 0))
    func fullDisk() throws {
        let work = try Workplace()
        let disk = work.root.string
        guard try shell("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk) else { return }
        defer { _ = try? shell("umount", disk) }
        func big(_ byte: UInt8) -> [UInt8] { (0..<600_000).map { UInt8(truncatingIfNeeded: $0 / 7) ^ byte } }
        try work.write("m", big(1))
        for name in ["a", "z/z"] { try work.write(name, "old") }
        let id = try work.capture()
        try work.write("m", big(2))
        for name in ["a", "z/z"] { try work.write(name, "new") }
        let outcome = try restore(work, id)
        #expect(outcome.status == 0 && outcome.errorText.contains("m was overwritten"), "\(outcome.errorText)")
        #expect(try work.read("tree/m") == big(1))
        for name in ["a", "z/z"] { #expect(try work.read("tree/\(name)") == Array("old".utf8)) }
        #expect(try work.run("undo", disk).status == 0)
        #expect(try work.read("tree/m") == big(2))
        #expect(try work.read("tree/a") == Array("new".utf8))
        #expect(try work.leftovers(in: work.root) == [])
    }

    @Test("a missing socket makes no operation, and is not planned")
    func sockets() throws {
        let work = try Workplace()
        try work.write("f", "x")
        let path = work.path("tree/s").string
        // An address has at most 107 bytes.
        let program = "import os, socket; os.chdir('\(work.root)'); socket.socket(socket.AF_UNIX).bind('s')"
        guard try shell("python3", "-c", program) else { return }
        let id = try work.capture()
        try work.remove("tree/s")
        #expect(try !restore(work, id, "--dry-run").text.contains("create"))
        // The first restore sets the time of the directory, which the removal has changed.
        #expect(try restore(work, id).status == 0)
        let operations = try JSON.array(work.run("operations", work.root.string, "--json").output).count
        for _ in 0..<2 { #expect(try restore(work, id).text.hasPrefix("nothing to do")) }
        #expect(try JSON.array(work.run("operations", work.root.string, "--json").output).count == operations)
        #expect(access(path, F_OK) != 0)
    }

    @Test("a hard link on another file system becomes a copy, and that is reported", .enabled(if: getuid() == 0))
    func copies() throws {
        let work = try Workplace()
        try work.write("file", "linked")
        #expect(mkdir(work.path("tree/disk").string, 0o755) == 0)
        #expect(link(work.path("tree/file").string, work.path("tree/disk/name").string) == 0)
        let id = try work.capture()
        try work.remove("tree/disk/name")
        guard try shell("mount", "-t", "tmpfs", "tmpfs", work.path("tree/disk").string) else { return }
        defer { _ = try? shell("umount", work.path("tree/disk").string) }
        #expect(try work.run("capture", work.root.string, "--reset-exclusions", "--cross-file-systems").status == 0)
        let outcome = try restore(work, id)
        #expect(outcome.status == 0 && outcome.errorText.contains(" is a copy: "), "\(outcome.errorText)")
        #expect(try work.read("tree/disk/name") == Array("linked".utf8))
    }

    @Test("files of two file systems with the same inode number stay separate files", .enabled(if: getuid() == 0))
    func inodes() throws {
        let work = try Workplace()
        for disk in ["one", "two"] {
            let path = work.path("tree/\(disk)").string
            #expect(mkdir(path, 0o755) == 0)
            guard try shell("mount", "-t", "tmpfs", "tmpfs", path) else { return }
        }
        defer { for disk in ["one", "two"] { _ = try? shell("umount", work.path("tree/\(disk)").string) } }
        var inodes: Set<UInt64> = []
        for disk in ["one", "two"] {
            try work.write("\(disk)/file", disk)
            #expect(link(work.path("tree/\(disk)/file").string, work.path("tree/\(disk)/name").string) == 0)
            var status = stat()
            #expect(stat(work.path("tree/\(disk)/file").string, &status) == 0)
            inodes.insert(UInt64(status.st_ino))
        }
        // The test is significant only if the inode numbers coincide.
        guard inodes.count == 1 else { return }
        #expect(try work.run("capture", work.root.string, "--cross-file-systems").status == 0)
        let outcome = try work.run("restore", "latest", "--root", work.root.string, "--target", work.path("out").string)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(try work.difference(of: work.path("out"), and: "tree") == "")
    }

    @Test(
        "privileged programs are named if the snapshot is from another machine",
        .enabled(if: getuid() == 0))
    func privileges() throws {
        let work = try Workplace()
        try work.write("tool", "tool")
        #expect(chmod(work.path("tree/tool").string, 0o4755) == 0)
        let capture = [
            "ARCHIVER_MACHINE_ID=elsewhere", Workplace.program.string, "capture", work.root.string, "--archive",
            work.archive.string,
        ]
        #expect(try ChildProcess.run("env", capture.map { Array($0.utf8) }).status == 0)
        let outcome = try work.run(
            "restore", "latest", "--root", work.root.string, "--target", work.path("out").string)
        #expect(outcome.status == 0 && outcome.errorText.contains("tool runs as its owner"), "\(outcome.errorText)")
    }

    @Test("a file with a damaged chunk is named, and the rest is restored")
    func damage() throws {
        let work = try Workplace()
        var random = SeededGenerator("damaged chunk")
        try work.write("noise", (0..<500_000).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        let id = try work.capture()
        try work.copyTree(to: "copy")
        let find = try ChildProcess.run("find", [work.archive.string, "-name", "*.segment"].map { Array($0.utf8) })
        let segment = FilePath(try #require(find.lines.first))
        let middle = try Descriptor.open(segment, O_RDONLY).readToEnd(limit: 1 << 30, path: segment).count / 2
        let file = try Descriptor.open(segment, O_WRONLY)
        #expect(pwrite(file.number, [0xAA, 0x55, 0xAA, 0x55], 4, off_t(middle)) == 4)
        let outcome = try work.run("restore", id, "--target", work.path("out").string)
        #expect(outcome.status == 2, "\(outcome.errorText)")
        #expect(outcome.errorText.contains("noise") && outcome.text.contains("incomplete"), "\(outcome.errorText)")
        #expect(access(work.path("out/noise").string, F_OK) != 0)
        try work.remove("copy/noise")
        #expect(try work.difference(of: work.path("out"), and: "copy") == "")
    }

    @Test(
        "a signal ends a restore without leftovers in the tree, and undo reverts what was done",
        arguments: [SIGINT, SIGTERM, SIGHUP])
    func signals(signal: CInt) throws {
        let work = try Workplace()
        var random = SeededGenerator("interrupted restore")
        let noise = random.noise(16_000_000)
        try work.write("a", "old")
        try work.write("big", noise)
        let id = try work.capture()
        try work.write("a", "new")
        try work.write("big", "new")
        try work.copyTree(to: "before")
        var interrupted: ChildProcess.Outcome?
        // A restore that ends too early is undone and retried.
        for _ in 0..<20 where interrupted == nil {
            let process = try work.start(["restore", id, "--root", work.root.string])
            if try isAtWork(process, in: work) { process.send(signal) }
            let outcome = try process.finish()
            if outcome.status == 0 { try work.run("undo", work.root.string) } else { interrupted = outcome }
        }
        let outcome = try #require(interrupted)
        #expect(outcome.status == 130, "\(outcome.text)\(outcome.errorText)")
        #expect(outcome.text.contains("interrupted"), "\(outcome.text)")
        #expect(try work.leftovers(in: work.root) == [])
        #expect(try work.run("undo", work.root.string).status == 0)
        #expect(try work.difference(of: work.root, and: "before") == "")
        #expect(try work.run("restore", id, "--root", work.root.string).status == 0)
        #expect(try work.read("tree/big") == noise)
    }

    @Test(
        "leftovers of a killed restore are not captured, and the next restore or undo removes them",
        arguments: ["restore", "undo"])
    func killed(command: String) throws {
        let work = try Workplace()
        try work.write("file", "old")
        let id = try work.capture()
        try work.write("file", "new")
        // A user's file whose name looks like a temporary one.
        try work.write("notes/.archiver-0123456789abcdef.tmp", "the user's")
        #expect(try work.run("restore", "\(id):file", "--root", work.root.string).status == 0)
        try work.copyTree(to: "before")
        let leftBehind = String(decoding: TemporaryFile.newName().bytes, as: UTF8.self)
        try work.write(leftBehind, "half a file")
        try work.write("notes/\(leftBehind)", "half a file")
        #expect(try work.run("capture", work.root.string).status == 0)
        let entries = try work.run("show", "--entries", "latest", "--root", work.root.string).lines
        #expect(entries.filter { $0.contains(".archiver-") }.count == 1, "\(entries)")
        if command == "undo" {
            #expect(try work.run("undo", work.root.string).status == 0)
            #expect(try work.read("tree/file") == Array("new".utf8))
        } else {
            #expect(try work.run("restore", "\(id):file", "--root", work.root.string).status == 0)
            #expect(try work.difference(of: work.root, and: "before") == "")
        }
        #expect(try work.leftovers(in: work.root).count == 1, "the user's own is still there")
    }
}
