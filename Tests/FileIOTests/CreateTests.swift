// Creating, renaming and removing objects of every kind.

import CLinux
import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct CreateTests {
    static let names: [[UInt8]] = [
        Array("plain".utf8), Array("new\nline".utf8), [0xFF, 0xFE, 0x80], [UInt8](repeating: 0xC3, count: 255),
        Array("-rf".utf8), Array(" ".utf8), Array("...".utf8), [1],
    ]

    @Test("an object of every kind can have any name", arguments: names)
    func anyName(name: [UInt8]) throws {
        let directory = try OpenDirectory()
        let name = CName(name)
        try directory.root.createDirectory(name, permissions: 0o700, path: "name")
        #expect(try directory.status(name)?.kind == .directory)
        #expect(throws: FileError("create directory", "name", .fileExists)) {
            try directory.root.createDirectory(name, permissions: 0o700, path: "name")
        }
        try directory.root.removeDirectory(name, path: "name")
        for kind in [FileKind.file, .fifo, .socket] {
            try directory.root.createSpecialFile(name, kind: kind, permissions: 0o600, path: "name")
            #expect(try directory.status(name)?.kind == kind)
            try directory.root.removeFile(name, path: "name")
        }
        try directory.root.createSymbolicLink(name, target: name, path: "name")
        #expect(try directory.status(name)?.kind == .symbolicLink)
        var reader = DirectoryReader()
        let records = try reader.read(directory.root, path: .root)
        #expect(records.map(\.name) == [name.bytes])
        try directory.root.removeFile(name, path: "name")
        #expect(try directory.status(name) == nil)
    }

    @Test("a hard link is the same file")
    func links() throws {
        let directory = try OpenDirectory()
        try directory.write("x", to: "a")
        try directory.root.createDirectory(CName("sub"), permissions: 0o700, path: "sub")
        let sub = try directory.root.open(CName("sub"), O_RDONLY | O_DIRECTORY, path: .root)
        try sub.createLink(CName("b"), to: CName("a"), in: directory.root, path: "sub/b")
        let first = try #require(try directory.status(CName("a")))
        let second = try FileStatus.read(CName("b"), in: sub)
        #expect(second == first && first.links == 2)
        // A hard link to a symbolic link refers to the link itself.
        try directory.root.createSymbolicLink(CName("s"), target: CName("a"), path: "s")
        try directory.root.createLink(CName("t"), to: CName("s"), in: directory.root, path: "t")
        #expect(try directory.status(CName("t"))?.kind == .symbolicLink)
    }

    @Test("renaming replaces an existing file")
    func renaming() throws {
        let directory = try OpenDirectory()
        try directory.write("new", to: "a")
        try directory.write("old", to: "b")
        try directory.root.rename(CName("a"), to: CName("b"), in: directory.root, path: "b")
        #expect(try directory.names() == ["b"])
        #expect(try directory.contents(of: "b") == "new")
        #expect(throws: FileError("rename", "b", .noSuchFileOrDirectory)) {
            try directory.root.rename(CName("a"), to: CName("b"), in: directory.root, path: "b")
        }
    }

    @Test("removing a directory as a file, or one that is not empty, fails")
    func removal() throws {
        let directory = try OpenDirectory()
        try directory.root.createDirectory(CName("d"), permissions: 0o700, path: "d")
        try directory.write("", to: "d/f")
        #expect(throws: FileError("remove", "d", .directoryNotEmpty)) {
            try directory.root.removeDirectory(CName("d"), path: "d")
        }
        #expect(throws: FileError("remove", "d", .isDirectory)) {
            try directory.root.removeFile(CName("d"), path: "d")
        }
        #expect(try directory.contents(of: "d/f") == "")
    }

    @Test("root can create devices", .enabled(if: CurrentProcess.isRoot))
    func devices() throws {
        let directory = try OpenDirectory()
        // null(4): major 1, minor 3.
        let null = clinux_makedev(1, 3)
        do throws(FileError) {
            try directory.root.createSpecialFile(
                CName("null"), kind: .characterDevice, permissions: 0o666, device: null, path: "null")
        } catch {
            guard error.code == .notPermitted else { throw error }
            return  // root in a container may lack the permission
        }
        let status = try #require(try directory.status(CName("null")))
        #expect(status.kind == .characterDevice)
        let real = try Descriptor.open("/dev/null", CInt(CLINUX_O_PATH))
        let expected = try FileStatus.read(real).specialDevice
        #expect(status.specialDevice == expected)
    }

    @Test("a duplicated descriptor outlives the original")
    func duplicates() throws {
        let directory = try OpenDirectory()
        let copy = try Descriptor.open(directory.path, O_RDONLY | O_DIRECTORY).duplicate(path: directory.path)
        let status = try FileStatus.read(copy)
        let flags = fcntl(copy.number, F_GETFD)
        #expect(try status.inode == FileStatus.read(directory.root).inode)
        #expect(flags & FD_CLOEXEC != 0)
    }
}
