// Paths below a directory whose contents somebody else has arranged.

import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct EnclosedPathTests {
    private let scene: OpenDirectory
    private let enclosing: EnclosedPath

    init() throws {
        scene = try OpenDirectory()
        try scene.write("precious", to: "outside")
        mkdir(scene.path.appending("inside").string, 0o700)
        enclosing = EnclosedPath(scene.path.appending("inside"))
    }

    private func link(_ name: String, to target: String) {
        #expect(symlink(target, enclosing.appending(name).path.string) == 0)
    }

    private func code(_ body: () throws -> Void) -> Errno? {
        do {
            try body()
            return nil
        } catch {
            return (error as? FileError)?.code
        }
    }

    private var outside: String { get throws { try scene.contents(of: "outside") } }

    @Test("a file is not reached over a link, and the error names the link")
    func links() throws {
        link("file", to: "../outside")
        link("dangling", to: "../created")
        link("folder", to: "..")
        for name in ["file", "dangling", "folder/outside", "folder/created"] {
            let path = enclosing.appending(name)
            #expect(code { _ = try path.open(O_RDONLY) } == .notSupported, "\(name)")
            let error = #expect(throws: FileError.self) { _ = try path.openOrCreate(O_RDWR) }
            #expect(error.map { "\($0)" }?.contains("use the symbolic link at") == true, "\(name)")
            #expect(code { try DurableFile.create(enclosing.appending("folder/created"), contents: []) } != nil)
        }
        #expect(code { try enclosing.appending("folder/made").createDirectory(durable: false) } != nil)
        #expect(code { try DurableFile.replace(enclosing.appending("folder/outside"), contents: [1]) } != nil)
        #expect(code { try enclosing.appending("folder/outside").remove() } != nil)
        #expect(try enclosing.appending("folder/outside").status == nil)
        #expect(try outside == "precious")
        for name in ["created", "made"] { #expect(try scene.status(CName(name.utf8)) == nil, "\(name)") }
    }

    @Test("only a regular file is opened, and no open waits")
    func kinds() throws {
        #expect(mkfifo(enclosing.appending("fifo").path.string, 0o600) == 0)
        try enclosing.appending("folder").createDirectory(durable: false)
        #expect(code { _ = try enclosing.appending("fifo").open(O_RDWR) } == .notSupported)
        #expect(code { _ = try enclosing.appending("folder").open(O_RDONLY) } == .notSupported)
    }

    @Test("a file is created empty, and an existing one is opened as it is")
    func creation() throws {
        let path = enclosing.appending("file")
        try path.openOrCreate(O_RDWR).write([1, 2, 3], path: path.path)
        #expect(try path.openOrCreate(O_RDWR).readToEnd(limit: 10, path: path.path) == [1, 2, 3])
        #expect(try path.remove())
        #expect(try !path.remove())
        #expect(code { _ = try enclosing.appending("none/file").openOrCreate(O_RDWR) } == .noSuchFileOrDirectory)
    }

    @Test(
        "new files are private, unless the group may write to the enclosing directory",
        arguments: [(0o700, 0o600, 0o700), (0o755, 0o600, 0o700), (0o770, 0o660, 0o770), (0o2770, 0o660, 0o2770)])
    func permissions(directory: UInt32, file: UInt16, folder: UInt16) throws {
        #expect(chmod(enclosing.path.string, directory) == 0)
        try DurableFile.replace(enclosing.appending("a/b/file"), contents: [])
        _ = try enclosing.appending("other").openOrCreate(O_RDWR)
        for name in ["a/b/file", "other"] {
            #expect(try enclosing.appending(name).status?.permissions == file, "\(name)")
        }
        for name in ["a", "a/b"] { #expect(try enclosing.appending(name).status?.permissions == folder, "\(name)") }
    }

    @Test("what root creates belongs to the owner of the enclosing directory", .enabled(if: geteuid() == 0))
    func ownership() throws {
        #expect(chown(enclosing.path.string, 65_533, 65_532) == 0)
        try DurableFile.replace(enclosing.appending("a/b/file"), contents: [])
        _ = try enclosing.appending("other").openOrCreate(O_RDWR)
        #expect(mknod(enclosing.appending("made").path.string, S_IFREG | 0o600, 0) == 0)
        enclosing.appending("made").passOn()
        for name in ["a", "a/b", "a/b/file", "other", "made"] {
            let status = try #require(try enclosing.appending(name).status)
            #expect(status.owner == 65_533 && status.group == 65_532, "\(name)")
        }
    }
}
