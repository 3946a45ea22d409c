// The durable write: it leaves the old or the new content, and no other file.

import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct DurableFileTests {
    @Test("replace creates a missing file and replaces an existing one")
    func replacing() throws {
        let directory = try OpenDirectory()
        for contents in ["first", "", String(repeating: "long ", count: 100_000), "last"] {
            try DurableFile.replace(directory: directory.path, name: "file", contents: Array(contents.utf8))
            #expect(try directory.contents(of: "file") == contents)
            #expect(try directory.names() == ["file"])
        }
        #expect(try directory.status(CName("file"))?.permissions == 0o600)
        try DurableFile.replace(directory: directory.path, name: "file", contents: [], permissions: 0o400)
        #expect(try directory.status(CName("file"))?.permissions == 0o400)
    }

    @Test("a failed replace leaves the old content and no other file")
    func failures() throws {
        let directory = try OpenDirectory()
        try directory.root.createDirectory(CName("d"), permissions: 0o700, path: "d")
        try directory.write("kept", to: "d/file")
        #expect(throws: FileError("rename", directory.path.appending("d"), .isDirectory)) {
            try DurableFile.replace(directory: directory.path, name: "d", contents: [1])
        }
        #expect(try directory.names() == ["d"])
        #expect(try directory.contents(of: "d/file") == "kept")
        let missing = directory.path.appending("missing")
        #expect(throws: FileError("open", missing, .noSuchFileOrDirectory)) {
            try DurableFile.replace(directory: missing, name: "file", contents: [1])
        }
    }

    @Test("create does not replace an existing file or link")
    func creating() throws {
        let directory = try OpenDirectory()
        try DurableFile.create(directory: directory.path, name: CName("file".utf8), contents: [65], permissions: 0o640)
        #expect(try directory.contents(of: "file") == "A")
        #expect(try directory.status(CName("file"))?.permissions == 0o640)
        try directory.root.createSymbolicLink(CName("link".utf8), target: CName("nowhere".utf8), path: "link")
        for name in ["file", "link"] {
            #expect(throws: FileError("create", directory.path.appending(name), .fileExists)) {
                try DurableFile.create(directory: directory.path, name: CName(name.utf8), contents: [66])
            }
        }
        #expect(try directory.contents(of: "file") == "A")
        #expect(Set(try directory.names()) == ["file", "link"])
    }

    @Test("a temporary file that is not renamed is removed")
    func unrenamed() throws {
        let directory = try OpenDirectory()
        do {
            let temporary = try TemporaryFile(in: directory.root, path: "file")
            try temporary.file.write([1, 2, 3], path: "file")
            let names = try directory.names()
            #expect(names.count == 1 && names[0].hasPrefix(TemporaryFile.namePrefix))
        }
        #expect(try directory.names() == [])
    }

    @Test("a temporary file can be renamed to any name")
    func names() throws {
        let directory = try OpenDirectory()
        for name in CreateTests.names {
            let temporary = try TemporaryFile(in: directory.root, permissions: 0o640, path: "file")
            try temporary.file.write(name, path: "file")
            try temporary.rename(to: CName(name))
            #expect(try directory.status(CName(name))?.size == UInt64(name.count))
        }
        #expect(try directory.names().count == CreateTests.names.count)
    }

    @Test("a renamed temporary file stays locked by a copy of its descriptor, unless it is to be unlocked")
    func locks() throws {
        let directory = try OpenDirectory()
        for unlocks in [false, true] {
            let temporary = try TemporaryFile(in: directory.root, path: "file")
            // Also a process that was forked a moment ago has such a copy, until its execve(2).
            let copy = try temporary.file.duplicate(path: "file")
            let name = CName("\(unlocks)".utf8)
            try temporary.rename(to: name, unlocks: unlocks)
            let other = try directory.root.open(name, O_RDONLY, path: "file")
            #expect((flock(other.number, LOCK_EX | LOCK_NB) == 0) == unlocks)
            withExtendedLifetime(copy) {}
        }
    }

    @Test("a symbolic link is replaced and not followed")
    func links() throws {
        let directory = try OpenDirectory()
        try directory.write("target", to: "target")
        try directory.root.createSymbolicLink(CName("link"), target: CName("target"), path: "link")
        try DurableFile.replace(directory: directory.path, name: "link", contents: Array("new".utf8))
        #expect(try directory.status(CName("link"))?.kind == .file)
        #expect(try directory.contents(of: "target") == "target")
    }

    @Test("a directory is created with its missing parents", arguments: [true, false])
    func parents(durable: Bool) throws {
        let directory = try OpenDirectory()
        let path = directory.path.appending("a/b/c")
        try Directory.create(path, permissions: 0o700, durable: durable)
        for name in ["a", "a/b", "a/b/c"] {
            let made = try FileStatus.read(try Descriptor.open(directory.path.appending(name), O_RDONLY))
            #expect(made.kind == .directory && made.permissions == 0o700)
        }
        try Directory.create(path, permissions: 0o755, durable: durable)
        #expect(try FileStatus.read(try Descriptor.open(path, O_RDONLY)).permissions == 0o700)
        try directory.root.createSymbolicLink(CName("link"), target: CName("a"), path: "link")
        try Directory.create(directory.path.appending("link/d"), permissions: 0o700, durable: durable)
        #expect(try directory.names() == ["a", "link"])
    }

    @Test("a file in the place of a directory is an error")
    func obstacles() throws {
        let directory = try OpenDirectory()
        try directory.write("kept", to: "file")
        for name in ["file", "file/a", "file/a/b"] {
            #expect(throws: FileError.self) {
                try Directory.create(directory.path.appending(name), permissions: 0o700, durable: false)
            }
        }
        #expect(try directory.contents(of: "file") == "kept")
    }
}
