// Checks that capture and restore reproduce a tree exactly. The oracle lists trees with plain system calls.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import CLinux
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct FidelityTests {
    // MARK: Files

    /// An entry stores up to 96 bytes inline; chunks end at 8, 64 and 512 KiB, and files are large from 1 MiB on.
    @Test(
        "files of any size are restored",
        arguments: [
            0, 1, 96, 97, 4095, 4096, 4097, 8 << 10, (8 << 10) + 1, 64 << 10, (64 << 10) + 1, (512 << 10) - 1,
            512 << 10, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (2 << 20) + 1,
        ])
    func sizes(size: Int) throws {
        var random = SeededGenerator(seed: UInt64(size))
        let noise = random.noise(size)
        let text = random.text(size)
        try Sandbox().expectRoundTrip { root in
            try root.write("noise", noise)
            try root.write("text", text)
            try root.write("zeros", [UInt8](repeating: 0, count: size))
        }
    }

    @Test("large files of noise and of text are restored")
    func largeFiles() throws {
        var random = SeededGenerator("large files of noise and of text are restored")
        let noise = random.noise(5 << 20)
        let text = random.text(5 << 20)
        try Sandbox().expectRoundTrip { root in
            try root.write("noise", noise)
            try root.write("text", text)
        }
    }

    @Test("many small files are restored")
    func manySmallFiles() throws {
        try Sandbox().expectRoundTrip { root in
            for number in 0..<1000 { try root.write("\(number)", "this is file number \(number)") }
        }
    }

    @Test("sparse files keep their holes")
    func sparseFiles() throws {
        let block = [UInt8](repeating: 7, count: 4096)
        let sandbox = try Sandbox()
        try sandbox.expectRoundTrip { root in
            try root.setSize("only a hole", 1 << 30)
            try root.setSize("a small hole", 50)
            try root.write("data at both ends", block, at: 0)
            try root.write("data at both ends", block, at: (1 << 30) - 4096)
            try root.write("data in the middle", block, at: 1 << 20)
            try root.setSize("data in the middle", 2 << 20)
            for number in 0..<100 { try root.write("many holes", block, at: number * 12288) }
            try root.write("a hole of odd length", [1, 2, 3], at: 12345)
            try root.setSize("a hole of odd length", 23456)
        }
        // The zeros of the holes were not read either.
        let progress = OperationProgress()
        try sandbox.root.write("another", "file")
        _ = try sandbox.archive.capture(sandbox.root.directory, progress: progress)
        #expect(progress.reading.bytes < 16 << 20)
    }

    // MARK: Metadata

    @Test(
        "permissions are restored",
        arguments: [0o000, 0o200, 0o400, 0o644, 0o777, 0o1777, 0o2755, 0o4755, 0o6711, 0o7777] as [mode_t])
    func permissions(permissions: mode_t) throws {
        try Sandbox().expectRoundTrip { root in
            try root.write("file", [UInt8](repeating: 1, count: 1000))
            try root.makeDirectory("directory/inner")
            try root.write("directory/file", "x")
            // An ordinary user needs read access for the capture.
            let floor: mode_t = isRoot ? 0 : 0o500
            try root.setPermissions("file", permissions | floor)
            try root.setPermissions("directory", permissions | floor)
        }
    }

    @Test("owners are restored", .enabled(if: isRoot))
    func owners() throws {
        try Sandbox().expectRoundTrip { root in
            try root.write("file", "x")
            try root.makeDirectory("directory")
            try root.makeSymbolicLink("link", to: "file")
            try root.makeNode("fifo", S_IFIFO)
            try root.setOwner("file", 1234, 4321)
            try root.setOwner("directory", 65534, 0)
            try root.setOwner("link", 1, 2)
            try root.setOwner("fifo", 3, 4)
            try root.write("program", "x")
            try root.setOwner("program", 1234, 4321)
            try root.setPermissions("program", 0o6755)
        }
    }

    @Test(
        "times are restored to the nanosecond",
        arguments: [
            (0, 0), (1, 1), (-1, 999_999_999), (-86_400 * 365 * 30, 1), (2_147_483_648, 123_456_789),
            (4_294_967_296, 999_999_999), (1_700_000_000, 1),
        ])
    func times(seconds: Int, nanoseconds: Int) throws {
        try Sandbox().expectRoundTrip { root in
            try root.makeDirectory("directory/inner")
            try root.write("directory/file", "x")
            try root.makeSymbolicLink("link", to: "directory")
            try root.makeNode("fifo", S_IFIFO)
            for path in ["directory/file", "directory/inner", "directory", "link", "fifo", ""] as [FilePath] {
                try root.setTime(path, seconds, nanoseconds)
            }
        }
    }

    @Test("extended attributes are restored")
    func extendedAttributes() throws {
        try Sandbox().expectRoundTrip { root in
            try root.write("file", "x")
            try root.write("large", [UInt8](repeating: 3, count: 200))
            try root.makeDirectory("directory")
            for path in ["file", "large", "directory", ""] as [FilePath] {
                try root.setAttribute(path, "user.text", Array("value".utf8))
                try root.setAttribute(path, "user.binary", [0, 255, 0, 10, 128])
                try root.setAttribute(path, "user.empty", [])
            }
            try root.setAttribute("file", "user.long", [UInt8](repeating: 9, count: 2000))
            if isRoot {
                try root.makeSymbolicLink("link", to: "nowhere")
                try root.setAttribute("link", "trusted.of-a-link", [1])
                try root.makeNode("fifo", S_IFIFO)
                try root.setAttribute("fifo", "trusted.of-a-fifo", [2])
            }
        }
    }

    @Test("access control lists are restored")
    func accessControlLists() throws {
        // linux/posix_acl_xattr.h: version 2, then entries of tag, permissions and id, all little-endian.
        func list(_ entries: [(tag: UInt8, permissions: UInt8, id: UInt32)]) -> [UInt8] {
            [2, 0, 0, 0]
                + entries.flatMap { entry in
                    let id = (0..<4).map { UInt8(truncatingIfNeeded: entry.id >> (8 * $0)) }
                    return [entry.tag, 0, entry.permissions, 0] + id
                }
        }
        let access = list([
            (0x01, 7, .max), (0x02, 7, 1234), (0x04, 4, .max), (0x08, 5, 4321), (0x10, 7, .max), (0x20, 0, .max),
        ])
        let preset = list([(0x01, 7, .max), (0x02, 5, 99), (0x04, 5, .max), (0x10, 5, .max), (0x20, 1, .max)])
        try Sandbox().expectRoundTrip { root in
            try root.makeDirectory("directory")
            try root.setAttribute("directory", "system.posix_acl_access", access)
            try root.setAttribute("directory", "system.posix_acl_default", preset)
            try root.write("directory/inherits a list", "x")
            try root.makeDirectory("directory/inherits too")
            try root.write("directory/has none", "x")
            try root.removeAttribute("directory/has none", "system.posix_acl_access")
            try root.write("file", "x")
            try root.setAttribute("file", "system.posix_acl_access", access)
        }
    }

    // MARK: Names

    @Test("names of any bytes are restored")
    func names() throws {
        let names: [[UInt8]] = [
            Array("with\nnewline".utf8), [0xFF], [0xFF, 0xFE, 0x80], Array(repeating: 0xC3, count: 255),
            Array(repeating: UInt8(ascii: "n"), count: 255), Array("-rf".utf8), Array(" ".utf8), Array("a b ".utf8),
            Array("🗂️ déjà".utf8), Array("e\u{301}".utf8), Array("\u{e9}".utf8), [1], [0x7F], Array("\\".utf8),
            Array("*".utf8),
            Array("...".utf8), Array("a.b".utf8), Array("a-b".utf8), Array("a".utf8) + [0x01], Array(".archiver-".utf8),
        ]
        try Sandbox().expectRoundTrip { root in
            try root.makeDirectory("a")
            try root.write("a/b", "x")
            for name in names {
                try root.write(FilePath(raw: name), name)
                let directory = FilePath(raw: Array("in ".utf8) + name.prefix(252))
                try root.makeDirectory(directory)
                try root.write(directory.pushing(FilePath(raw: name)), name)
                try root.makeSymbolicLink(FilePath(raw: Array("to ".utf8) + name.prefix(252)), to: FilePath(raw: name))
            }
        }
    }

    @Test("paths longer than the limit of a system call are restored")
    func longPaths() throws {
        let name = String(repeating: "long", count: 50)
        try Sandbox().expectRoundTrip { root in
            try root.makeChain(of: name, depth: 30) { innermost in
                try FidelityTests.makeOneOfEachKind(in: innermost)
            }
        }
    }

    @Test("trees of five hundred levels are restored")
    func deepTrees() throws {
        try Sandbox().expectRoundTrip { root in
            try root.makeChain(of: "d", depth: 500) { innermost in
                try FidelityTests.makeOneOfEachKind(in: innermost)
            }
        }
    }

    /// Creates a file, a symbolic link, a hard link, a FIFO and an empty directory in an open directory.
    private static func makeOneOfEachKind(in directory: CInt) throws {
        let file = openat(directory, "file", O_WRONLY | O_CREAT, 0o640)
        defer { close(file) }
        let text = String(repeating: "content ", count: 100)
        guard Glibc.write(file, text, text.utf8.count) == text.utf8.count,
            clinux_fsetxattr(file, "user.deep", "value", 5) == 0,
            symlinkat("file", directory, "link") == 0, linkat(directory, "file", directory, "hard", 0) == 0,
            mkfifoat(directory, "fifo", 0o600) == 0, mkdirat(directory, "empty", 0o700) == 0
        else { throw SystemFailure("make", "one of each kind") }
    }

    /// The promise is for 200,000 files; a short run uses a few of them.
    @Test("directories of many files are restored")
    func manyFiles() throws {
        let count = isThorough ? 200_000 : 6_000
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("many")
        for number in 0..<count { try sandbox.root.write("many/\(number)", "\(number)") }
        let before = try TreeListing(of: sandbox.root.directory)
        let snapshot = try sandbox.capture()
        #expect(snapshot.totals.files == UInt64(count))
        try sandbox.restored(snapshot).expect(equals: before, "restored elsewhere")
    }

    // MARK: Other objects

    @Test("empty directories and an empty root are restored")
    func emptyDirectories() throws {
        try Sandbox().expectRoundTrip { _ in }
        try Sandbox().expectRoundTrip { root in
            try root.makeDirectory("empty")
            try root.makeDirectory("a/b/c/empty")
        }
    }

    @Test("hard links are restored")
    func hardLinks() throws {
        try Sandbox().expectRoundTrip { root in
            try root.write("b", "the same file")
            try root.makeLink("a", to: "b")
            try root.makeDirectory("directory/inner")
            try root.makeLink("directory/inner/c", to: "b")
            try root.write("directory/large", [UInt8](repeating: 5, count: 100_000))
            try root.makeLink("z", to: "directory/large")
            try root.makeSymbolicLink("link", to: "b")
            try root.makeLink("the same link", to: "link")
            try root.makeNode("fifo", S_IFIFO)
            try root.makeLink("the same fifo", to: "fifo")
            try root.write("equal content, another file", "the same file")
        }
    }

    @Test("a file with a hard link outside of the root is restored")
    func outsideHardLinks() throws {
        let sandbox = try Sandbox()
        try sandbox.base.write("outside", "content")
        try sandbox.expectRoundTrip { root in
            try Files("/").makeLink(root.full("inside"), to: sandbox.base.full("outside"))
        }
    }

    @Test("symbolic links are restored")
    func symbolicLinks() throws {
        try Sandbox().expectRoundTrip { root in
            try root.makeDirectory("directory")
            try root.makeSymbolicLink("dangling", to: "no/such/file")
            try root.makeSymbolicLink("self", to: "self")
            try root.makeSymbolicLink("directory/up", to: "..")
            try root.makeSymbolicLink("to a directory", to: "directory")
            try root.makeSymbolicLink("absolute", to: "/etc")
            try root.makeSymbolicLink("of any bytes", to: FilePath(raw: [0xFF, 10, 0x80]))
            try root.makeSymbolicLink("long", to: FilePath(String(repeating: "x/", count: 2000)))
        }
    }

    @Test("named pipes are restored")
    func namedPipes() throws {
        try Sandbox().expectRoundTrip { root in
            try root.makeNode("fifo", S_IFIFO)
            try root.setPermissions("fifo", 0o622)
        }
    }

    @Test("devices are restored", .enabled(if: isRoot))
    func devices() throws {
        try Sandbox().expectRoundTrip { root in
            try root.makeNode("null", S_IFCHR, device: dev_t(clinux_makedev(1, 3)))
            try root.makeNode("block", S_IFBLK, device: dev_t(clinux_makedev(259, 1_000_000)))
            try root.setPermissions("null", 0o666)
        }
    }

    @Test("sockets are recorded but not restored")
    func sockets() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("run")
        try sandbox.root.makeNode("run/socket", S_IFSOCK)
        try sandbox.root.write("run/file", "x")
        let before = try TreeListing(of: sandbox.root.directory)
        let snapshot = try sandbox.capture()
        let entry = try sandbox.archive.entry(at: .at("run/socket"), in: snapshot)
        #expect(entry?.kind == .socket)
        let target = sandbox.base.full("target")
        let result = try sandbox.archive.restore(snapshot, RestoreOptions(target: target))
        #expect(result.warningCount == 1)
        #expect(result.warnings.first?.contains("run/socket") == true)
        try TreeListing(of: target).expect(equals: before.without(S_IFSOCK), "restored elsewhere")
        // In place, a socket that still exists stays.
        try sandbox.root.write("run/file", "y")
        let again = try sandbox.archive.restore(snapshot)
        #expect(again.warnings == [])
        try sandbox.expectRoot(equals: before)
    }
}
