// Opening paths below a root: paths of any length, and none that leads outside.

import CLinux
import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct BeneathTests {
    static let resolutions: [Descriptor.Resolution] = [.kernel, .componentwise]

    /// Creates a directory below the root, one component at a time, so that its path can have any length.
    private func createDirectory(_ path: RelativePath, in directory: OpenDirectory) throws {
        var made = RelativePath.root
        for component in path.components {
            made = made.appending(component)
            let place = try directory.root.openParent(of: made)
            try place.directory.createDirectory(place.name, permissions: 0o755, path: FilePath(made))
        }
    }

    private func path(levels: Int, nameLength: Int) -> RelativePath {
        (0..<levels).reduce(RelativePath.root) { path, level in
            path.appending([UInt8](repeating: UInt8(ascii: "a") + UInt8(level % 26), count: nameLength))
        }
    }

    private func read(
        _ path: RelativePath, in directory: OpenDirectory, by resolution: Descriptor.Resolution
    ) throws -> String {
        let file = try directory.root.open(beneath: path, O_RDONLY, by: resolution)
        return String(decoding: try file.readToEnd(limit: 100, path: FilePath(path)), as: UTF8.self)
    }

    @Test("paths much longer than PATH_MAX can be opened", arguments: resolutions)
    func longPaths(resolution: Descriptor.Resolution) throws {
        let directory = try OpenDirectory()
        let deep = path(levels: 60, nameLength: 255)
        #expect(deep.bytes.count > 3 * Int(PATH_MAX))
        try createDirectory(deep, in: directory)
        let file = deep.appending([0xFF, 0x0A])
        let created = try directory.root.open(
            beneath: file, O_WRONLY | O_CREAT | O_EXCL, permissions: 0o640, by: resolution)
        try created.write(Array("deep".utf8), path: FilePath(file))
        for reader in Self.resolutions { #expect(try read(file, in: directory, by: reader) == "deep") }
        let status = try #require(try FileStatus.read(file, beneath: directory.root))
        #expect(status.kind == .file && status.size == 4 && status.permissions == 0o640)
        #expect(try FileStatus.read(deep, beneath: directory.root)?.kind == .directory)
        #expect(try FileStatus.read(deep.appending([1]), beneath: directory.root) == nil)
    }

    @Test("paths of every length around the limit of one system call can be opened")
    func pathLengths() throws {
        let directory = try OpenDirectory()
        let parent = path(levels: 15, nameLength: 255)
        try createDirectory(parent, in: directory)
        let place = try directory.root.openParent(of: parent.appending([1]))
        for length in 1...255 {
            let name = [UInt8](repeating: UInt8(ascii: "n"), count: length)
            try place.directory.createSpecialFile(
                CName(name), kind: .file, permissions: 0o600, path: FilePath(parent.appending(name)))
            let status = try FileStatus.read(parent.appending(name), beneath: directory.root)
            #expect(status?.kind == .file, "a path of \(parent.bytes.count + 1 + length) bytes")
        }
        #expect((parent.bytes.count...(parent.bytes.count + 256)).contains(4_000))
    }

    @Test("a name that is too long is an error", arguments: resolutions)
    func longNames(resolution: Descriptor.Resolution) throws {
        let directory = try OpenDirectory()
        for length in [256, 4_000, 4_001, 9_000] {
            let name = RelativePath.root.appending([UInt8](repeating: 1, count: length))
            for path in [name, name.appending([2]), RelativePath.root.appending([2]).appending(path: name)] {
                #expect(throws: FileError.self, "\(length) bytes") {
                    _ = try directory.root.open(beneath: path, O_RDONLY, by: resolution)
                }
            }
        }
    }

    @Test("no symbolic link leads out of the root", arguments: resolutions)
    func symbolicLinks(resolution: Descriptor.Resolution) throws {
        let outside = try OpenDirectory()
        try outside.write("secret", to: "file")
        let directory = try OpenDirectory()
        try directory.root.createDirectory(CName("real"), permissions: 0o755, path: "real")
        try directory.write("own", to: "real/file")
        let links = [
            ("absolute", outside.path.string), ("relative", "../\(outside.path.lastComponent?.string ?? "")"),
            ("chain", "absolute"), ("inner", "real"), ("parent", ".."), ("self", "."), ("loop", "loop"),
            ("magic", "/proc/self/root"), ("toFile", "real/file"), ("toSecret", outside.path.appending("file").string),
        ]
        for (name, target) in links {
            try directory.root.createSymbolicLink(CName(name), target: CName(target), path: FilePath(name))
        }
        for (name, _) in links {
            let link = try #require(RelativePath(name))
            for path in [link, link.appending("file".utf8), link.appending("new".utf8)] {
                for flags in [O_RDONLY, O_RDWR | O_CREAT, O_RDONLY | O_DIRECTORY] {
                    #expect(throws: FileError.self, "\(path) with \(flags)") {
                        _ = try directory.root.open(beneath: path, flags, permissions: 0o600, by: resolution)
                    }
                }
            }
            #expect(try FileStatus.read(link, beneath: directory.root)?.kind == .symbolicLink)
            #expect(try FileStatus.read(link.appending("file".utf8), beneath: directory.root) == nil)
            #expect(throws: FileError.self) { _ = try directory.root.openParent(of: link.appending("file".utf8)) }
        }
        #expect(try outside.names() == ["file"])
        #expect(try outside.contents(of: "file") == "secret")
        #expect(try read(RelativePath("real/file"), in: directory, by: resolution) == "own")
    }

    @Test("with O_NOFOLLOW a symbolic link at the end is opened itself", arguments: resolutions)
    func lastLink(resolution: Descriptor.Resolution) throws {
        let directory = try OpenDirectory()
        try directory.root.createSymbolicLink(CName("link"), target: CName("nowhere"), path: "link")
        let path = RelativePath("link")
        let link = try directory.root.open(beneath: path, CInt(CLINUX_O_PATH) | O_NOFOLLOW, by: resolution)
        let status = try FileStatus.read(link)
        #expect(status.kind == .symbolicLink)
    }

    @Test("the root itself can be opened", arguments: resolutions)
    func root(resolution: Descriptor.Resolution) throws {
        let directory = try OpenDirectory()
        try directory.write("", to: "file")
        let root = try directory.root.open(beneath: .root, O_RDONLY | O_DIRECTORY, by: resolution)
        var reader = DirectoryReader()
        let records = try reader.read(root, path: .root)
        #expect(records.map(\.name) == [Array("file".utf8)])
        let place = try directory.root.openParent(of: .root)
        let status = try FileStatus.read(place.name, in: place.directory)
        #expect(try status?.inode == FileStatus.read(directory.root).inode)
    }

    @Test("errors name the path")
    func errors() throws {
        let directory = try OpenDirectory()
        try directory.write("", to: "file")
        let missing = RelativePath("a/b")
        #expect(throws: FileError("open", "a/b", .noSuchFileOrDirectory)) {
            _ = try directory.root.open(beneath: missing, O_RDONLY)
        }
        let behindFile = RelativePath("file/b")
        #expect(throws: FileError("open", "file/b", .notDirectory)) {
            _ = try directory.root.openForReading(beneath: behindFile)
        }
        #expect(try FileStatus.read(behindFile, beneath: directory.root) == nil)
    }
}
