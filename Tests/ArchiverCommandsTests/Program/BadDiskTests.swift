// Full, read-only and damaged disks: no existing data is lost.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct BadDiskTests {
    @Test("damage is found and named, and does not spread")
    func damage() throws {
        let work = try Workplace()
        let good = try work.capture()
        try work.copyTree(to: "copy")
        try work.write("noise", noise(500_000))
        let bad = try work.capture()
        let find = try ChildProcess.run("find", [work.archive.string, "-name", "*.segment"].map { Array($0.utf8) })
        let segment = FilePath(try #require(find.lines.first))
        // The noise cannot be compressed, so most of the segment is its block's payload.
        let middle = try Descriptor.open(segment, O_RDONLY).readToEnd(limit: 1 << 30, path: segment).count / 2
        let file = try Descriptor.open(segment, O_WRONLY)
        #expect(pwrite(file.number, [0xAA, 0x55, 0xAA, 0x55], 4, off_t(middle)) == 4)
        let check = try work.run("check", "--data")
        #expect(check.status == 2, "\(check.errorText)")
        #expect(check.errorText.contains(try #require(segment.lastComponent).string), "\(check.errorText)")
        #expect(check.text.contains("1 of 2 snapshots is good"), "\(check.text)")
        let json = try JSON.object(work.run("check", "--data", "--json").output)
        #expect((json["findings"] as? [[String: Any]])?.first?["message"] is String)
        #expect(try work.listed() == [good, bad])
        let partial = try work.run("restore", bad, "--target", work.path("out").string)
        #expect(partial.status == 2 && partial.errorText.contains(".segment"), "\(partial.errorText)")
        #expect(try work.run("show", bad).status == 0)
        #expect(try work.run("restore", good, "--target", work.path("other").string).status == 0)
        #expect(try work.difference(of: work.path("other"), and: "copy") == "")
    }

    @Test("a full disk does not damage the archive", .enabled(if: getuid() == 0))
    func fullDisk() throws {
        let work = try Workplace()
        try FileManager.default.createDirectory(atPath: work.archive.string, withIntermediateDirectories: true)
        guard try mounted("tmpfs", ["-o", "size=2m"], on: work.archive) else { return }
        defer { unmount(work.archive) }
        let first = try work.capture()
        try work.write("noise", noise(4_000_000))
        expectRefusal(try work.run("capture", work.root.string), 1, naming: work.archive.string)
        #expect(try work.run("check", "--data").status == 0)
        #expect(try JSON.array(work.run("list", "--json").output).map { $0["id"] as? String } == [first])
        try work.write("noise", "little")
        _ = try work.capture()
    }

    @Test("on a full disk, the ballast has room for the copy of a mostly needed segment", .enabled(if: getuid() == 0))
    func fullDiskSegment() throws {
        let work = try Workplace()
        try FileManager.default.createDirectory(atPath: work.archive.string, withIntermediateDirectories: true)
        guard try mounted("tmpfs", ["-o", "size=48m"], on: work.archive) else { return }
        defer { unmount(work.archive) }
        try work.write("noise", noise(5_000_000))
        try work.write("other", noise(1_500_000))
        let first = try work.capture()
        try work.write("other", "little")
        let last = try work.capture()
        #expect(try work.run("prune").status == 0)
        #expect(try work.run("forget", first).status == 0)
        let filler = try Descriptor.open(work.archive.appending("filler"), O_WRONLY | O_CREAT, permissions: 0o600)
        let zeros = [UInt8](repeating: 0, count: 1 << 16)
        while write(filler.number, zeros, zeros.count) > 0 {}
        #expect(errno == ENOSPC)
        let pruned = try work.run("prune", "--now", "--json")
        #expect(pruned.status == 0, "\(pruned.errorText)")
        #expect(try #require(JSON.object(pruned.output)["freedBytes"] as? Int) > 1_400_000, "\(pruned.text)")
        #expect(try work.listed() == [last])
        #expect(try work.run("check", "--data").status == 0)
    }

    @Test("without a free inode, lists and checks work, and a capture names the cause", .enabled(if: getuid() == 0))
    func noInodes() throws {
        let work = try Workplace()
        try FileManager.default.createDirectory(atPath: work.archive.string, withIntermediateDirectories: true)
        guard try mounted("tmpfs", ["-o", "size=12m,nr_inodes=64"], on: work.archive) else { return }
        defer { unmount(work.archive) }
        try work.write("file", "1")
        let first = try work.capture()
        var fillers: [FilePath] = []
        while true {
            let path = work.archive.appending("filler \(fillers.count)")
            guard (try? Descriptor.open(path, O_WRONLY | O_CREAT | O_EXCL, permissions: 0o600)) != nil else { break }
            fillers.append(path)
        }
        #expect(try work.listed() == [first])
        #expect(try work.run("check", "--data").status == 0)
        try work.write("file", "2")
        let refused = try work.run("capture", work.root.string)
        #expect(refused.status == 1 && refused.errorText.contains("no room for another file"), "\(refused.errorText)")
        for path in fillers { #expect(unlink(path.string) == 0) }
        _ = try work.capture()
    }

    @Test("a watcher on a full disk reclaims forgotten snapshots and captures again", .enabled(if: getuid() == 0))
    func fullDiskWatched() throws {
        let work = try Workplace()
        try FileManager.default.createDirectory(atPath: work.archive.string, withIntermediateDirectories: true)
        guard try mounted("tmpfs", ["-o", "size=12m"], on: work.archive) else { return }
        defer { unmount(work.archive) }
        try work.write("noise", noise(3_000_000))
        let first = try work.capture()
        try work.write("noise", noise(3_000_000))
        let second = try work.capture()
        try work.write("noise", "little")
        _ = try work.capture()
        #expect(try work.run("forget", first, second).status == 0)
        let watcher = try work.start("watch", work.root.string, "--json")
        _ = try watcher.line { $0.contains(#""watching""#) }
        // The file does not fit, although a part of it would.
        try Data(noise(8_000_000)).write(to: URL(filePath: work.path("noise").string))
        #expect(rename(work.path("noise").string, work.root.appending("noise").string) == 0)
        _ = try watcher.line { $0.contains(#""noSpace""#) }
        let line = try watcher.line { $0.contains(#""maintained""#) }
        let reported = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(try #require(reported["freedBytes"] as? Int) > 5_000_000, "\(line)")
        _ = try watcher.line { $0.contains(#""snapshot""#) && $0.contains(#""storedBytes""#) }
        watcher.send(SIGTERM)
        #expect(try watcher.finish().status == 0)
        #expect(try work.run("check", "--data").status == 0)
        let out = work.path("out")
        #expect(try work.run("restore", "latest", "--root", work.root.string, "--target", out.string).status == 0)
        #expect(try work.difference(of: work.root, and: "out") == "")
    }

    @Test("a watcher that starts on a full disk first reclaims forgotten snapshots", .enabled(if: getuid() == 0))
    func fullDiskAtTheBeginning() throws {
        let work = try Workplace()
        try FileManager.default.createDirectory(atPath: work.archive.string, withIntermediateDirectories: true)
        guard try mounted("tmpfs", ["-o", "size=12m"], on: work.archive) else { return }
        defer { unmount(work.archive) }
        try work.write("noise", noise(6_000_000))
        let first = try work.capture()
        try work.write("noise", "little")
        _ = try work.capture()
        #expect(try work.run("forget", first).status == 0)
        try work.write("noise", noise(8_000_000))
        let watcher = try work.start("watch", work.root.string, "--json")
        let line = try watcher.line { $0.contains(#""watching""#) }
        #expect(line.contains(#""new":true"#), "\(line)")
        watcher.send(SIGTERM)
        #expect(try watcher.finish().status == 0)
        #expect(try work.run("check", "--data").status == 0)
        let out = work.path("out")
        #expect(try work.run("restore", "latest", "--root", work.root.string, "--target", out.string).status == 0)
        #expect(try work.difference(of: work.root, and: "out") == "")
    }

    @Test(
        "a watcher whose first capture finds no room goes on, and captures when there is room",
        .enabled(if: getuid() == 0))
    func noRoomAtTheBeginning() throws {
        let work = try Workplace()
        try FileManager.default.createDirectory(atPath: work.archive.string, withIntermediateDirectories: true)
        guard try mounted("tmpfs", ["-o", "size=12m"], on: work.archive) else { return }
        defer { unmount(work.archive) }
        try work.write("noise", noise(20_000_000))
        let watcher = try work.start("watch", work.root.string, "--json", "--time-scale", "20")
        _ = try watcher.line { $0.contains(#""noSpace""#) }
        // In one step: a file that is cut off first could be captured empty.
        try work.write("../little", "little")
        #expect(rename(work.path("little").string, work.path("tree/noise").string) == 0)
        let line = try watcher.line { $0.contains(#""watching""#) }
        #expect(line.contains(#""new":true"#), "\(line)")
        #expect(try work.run("cat", "latest:noise", "--root", work.root.string).text == "little")
        watcher.send(SIGTERM)
        #expect(try watcher.finish().status == 0)
        // Without room, it ends when it is told to, and says what is missing.
        try work.write("noise", noise(20_000_000))
        let other = try work.start("watch", work.root.string, "--json", "--time-scale", "20")
        _ = try other.line { $0.contains(#""noSpace""#) }
        other.send(SIGTERM)
        #expect(try other.finish().status == 1)
    }

    @Test("prune on a full disk does what its dry run says", .enabled(if: getuid() == 0))
    func fullDiskPruned() throws {
        let work = try Workplace()
        try FileManager.default.createDirectory(atPath: work.archive.string, withIntermediateDirectories: true)
        guard try mounted("tmpfs", ["-o", "size=40m"], on: work.archive) else { return }
        defer { unmount(work.archive) }
        // One commit is one segment, however large; a fourth of this one will not be needed.
        for number in 0..<8 { try work.write("noise\(number)", noise(2_000_000)) }
        _ = try work.capture()
        for number in 0..<2 { try work.write("noise\(number)", noise(2_000_000)) }
        _ = try work.capture()
        #expect(try work.run("forget", "oldest").status == 0)
        // Another program may have filled the disk before there was room for a large ballast.
        #expect(truncate(work.archive.appending("ballast").string, 500_000) == 0)
        let filler = work.archive.appending("filler").string
        _ = FileManager.default.createFile(atPath: filler, contents: nil)
        let fill = try ChildProcess.run("dd", ["if=/dev/zero", "of=\(filler)", "bs=4k"].map { Array($0.utf8) })
        #expect(fill.status != 0, "the disk is not full")

        // The one segment has 12 MB that are needed: there is no room for a copy.
        func prune(_ arguments: String...) throws -> (outcome: ChildProcess.Outcome, json: [String: Any]) {
            let outcome = try work.run(["prune", "--now", "--json"] + arguments)
            return (outcome, try JSON.object(outcome.output))
        }
        let text = try work.run("prune", "--now", "--dry-run")
        #expect(text.text.contains("nothing reclaimed") && text.text.contains("no room for a copy"), "\(text.text)")
        let (foreseen, stuck) = (try prune("--dry-run"), try prune())
        #expect(foreseen.outcome.status == 3 && stuck.outcome.status == 3, "\(stuck.outcome.errorText)")
        for key in ["freedBytes", "droppedSegments", "segmentsWithoutRoom"] {
            #expect(foreseen.json[key] as? Int == stuck.json[key] as? Int, "\(key)")
        }
        #expect(stuck.json["segmentsWithoutRoom"] as? Int == 1)
        let quiet = try work.run("prune", "--now", "--quiet")
        for outcome in [stuck.outcome, quiet] {
            #expect(outcome.status == 3 && outcome.errorText.contains("no room for a copy"), "\(outcome.errorText)")
        }
        #expect(try #require(stuck.json["bytesWithoutRoom"] as? Int) > 3_900_000)
        #expect(try work.run("check", "--data").status == 0)

        // With the room that it names, the prune succeeds.
        let needed = try #require(stuck.json["roomNeededBytes"] as? Int)
        #expect((12_000_000...13_000_000).contains(needed))
        #expect(truncate(filler, off_t(try Data(contentsOf: URL(filePath: filler)).count - needed)) == 0)
        let (promised, freed) = (try prune("--dry-run"), try prune())
        #expect(promised.outcome.status == 0 && freed.outcome.status == 0, "\(freed.outcome.errorText)")
        #expect(freed.json["droppedSegments"] as? Int == 1)
        let difference = try #require(promised.json["freedBytes"] as? Int) - #require(freed.json["freedBytes"] as? Int)
        #expect(abs(difference) < 10_000)
        #expect(try work.run("check", "--data").status == 0)
    }

    @Test("a full disk during a restore leaves existing files intact", .enabled(if: getuid() == 0))
    func fullDiskRestoring() throws {
        let work = try Workplace()
        try work.remove("tree")
        try FileManager.default.createDirectory(atPath: work.root.string, withIntermediateDirectories: true)
        guard try mounted("tmpfs", ["-o", "size=4m"], on: work.root) else { return }
        defer { unmount(work.root) }
        try work.write("big", noise(2_500_000))
        try work.write("little", "little")
        let id = try work.capture()
        try work.write("big", "small now")
        try work.write("filler", noise(3_000_000))
        try work.copyTree(to: "copy")
        // The restore does not concern the file that fills the disk, so it frees no space.
        let outcome = try work.run("restore", "\(id):big", "--root", work.root.string)
        #expect(outcome.status == 3 && outcome.errorText.contains("cannot write big"), "\(outcome.errorText)")
        #expect(try work.difference(of: work.root, and: "copy") == "")
        #expect(try work.leftovers(in: work.root) == [])

        try removeFilling(work.path("tree/filler").string)
        #expect(try work.run("restore", id, "--root", work.root.string).status == 0)
        #expect(try work.read("tree/big").count == 2_500_000)
    }

    @Test("a read-only archive refuses captures, and everything in it can be read")
    func readOnly() throws {
        let work = try Workplace()
        let id = try work.capture()
        try work.copyTree(to: "copy")
        if getuid() == 0 {
            guard try mounted(work.archive.string, ["--bind"], on: work.archive) else { return }
        }
        defer { if getuid() == 0 { unmount(work.archive) } }
        let protect =
            getuid() == 0
            ? ["mount", "-o", "remount,ro,bind", work.archive.string] : ["chmod", "-R", "a-w", work.archive.string]
        #expect(try ChildProcess.run("env", protect.map { Array($0.utf8) }).status == 0)
        defer {
            if getuid() != 0 {
                _ = try? ChildProcess.run("chmod", ["-R", "u+w", work.archive.string].map { Array($0.utf8) })
            }
        }
        try work.write("new", "new")
        expectRefusal(try work.run("capture", work.root.string), 1, naming: work.archive.string)
        // A restore in place could not capture the state that it overwrites.
        expectRefusal(try work.run("restore", id, "--root", work.root.string), 1, naming: work.archive.string)
        #expect(try work.read("tree/new") == Array("new".utf8))
        #expect(try work.listed() == [id])
        #expect(try work.run("check", "--data").status == 0)
        #expect(try work.run("cat", "latest:notes/todo.txt").text == "one\ntwo\n")
        #expect(try work.run("restore", id, "--target", work.path("out").string).status == 0)
        #expect(try work.difference(of: work.path("out"), and: "copy") == "")
    }

    /// Mounts `what` on `directory`.
    ///
    /// - Returns: false if that is not allowed; containers cannot mount, even as root.
    private func mounted(_ what: String, _ options: [String], on directory: FilePath) throws -> Bool {
        let type = options == ["--bind"] ? [] : ["-t", what]
        let arguments = type + options + [what, directory.string]
        return try ChildProcess.run("mount", arguments.map { Array($0.utf8) }).status == 0
    }

    private func unmount(_ directory: FilePath) {
        _ = try? ChildProcess.run("umount", [directory.bytes])
    }

    /// Bytes that cannot be compressed.
    private func noise(_ count: Int) -> [UInt8] {
        var random = SeededGenerator("noise")
        return random.noise(count)
    }
}
