// Owner, permissions and times of files and of symbolic links themselves.

import CLinux
import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct MetadataTests {
    static let times = [
        Timestamp(seconds: 0), Timestamp(seconds: 1_700_000_000, nanoseconds: 123_456_789),
        Timestamp(seconds: -1, nanoseconds: 999_999_999), Timestamp(seconds: 4_102_444_800, nanoseconds: 1),
    ]

    @Test("times are set exactly", arguments: times)
    func exactTimes(time: Timestamp) throws {
        let directory = try OpenDirectory()
        try directory.write("", to: "file")
        let before = try #require(try directory.status(CName("file")))
        try directory.root.createSymbolicLink(CName("link"), target: CName("file"), path: "link")
        try directory.root.setModified(time, of: CName("link"), path: "link")
        #expect(try directory.status(CName("link"))?.modified == time)
        #expect(try directory.status(CName("file")) == before, "the link's target does not change")
        try directory.root.setModified(time, of: CName("file"), path: "file")
        #expect(try directory.status(CName("file"))?.modified == time)
        try directory.root.setModified(time, path: ".")
        #expect(try FileStatus.read(directory.root).modified == time)
    }

    @Test("setting the modification time does not change the access time")
    func accessTime() throws {
        let directory = try OpenDirectory()
        try directory.write("", to: "file")
        let path = directory.path.appending("file").string
        var before = stat()
        var after = stat()
        #expect(stat(path, &before) == 0)
        try directory.root.setModified(Timestamp(seconds: 5), of: CName("file"), path: "file")
        #expect(stat(path, &after) == 0)
        #expect(after.st_atim.tv_sec == before.st_atim.tv_sec && after.st_atim.tv_nsec == before.st_atim.tv_nsec)
    }

    @Test(
        "all twelve permission bits can be set",
        arguments: [0o000, 0o644, 0o4755, 0o2755, 0o1777, 0o7777] as [UInt16])
    func permissions(permissions: UInt16) throws {
        let directory = try OpenDirectory()
        try directory.write("", to: "file")
        try directory.root.setPermissions(permissions, of: CName("file"), path: "file")
        #expect(try directory.status(CName("file"))?.permissions == permissions)
        try directory.root.setPermissions(0o600, of: CName("file"), path: "file")
        let file = try directory.root.open(CName("file"), O_RDWR, path: .root)
        try file.setPermissions(permissions, path: "file")
        #expect(try directory.status(CName("file"))?.permissions == permissions)
    }

    @Test("setting permissions through a symbolic link fails and does not change the target")
    func linkPermissions() throws {
        let directory = try OpenDirectory()
        try directory.write("", to: "file")
        try directory.root.setPermissions(0o640, of: CName("file"), path: "file")
        try directory.root.createSymbolicLink(CName("link"), target: CName("file"), path: "link")
        #expect(throws: FileError("change permissions of", "link", .notSupportedOnSocket)) {
            try directory.root.setPermissions(0o777, of: CName("link"), path: "link")
        }
        #expect(try directory.status(CName("file"))?.permissions == 0o640)
    }

    @Test("root can set owners", .enabled(if: CurrentProcess.isRoot))
    func owners() throws {
        let directory = try OpenDirectory()
        try directory.write("", to: "file")
        try directory.root.createSymbolicLink(CName("link"), target: CName("file"), path: "link")
        try directory.root.setOwner(1_234, group: 5_678, of: CName("link"), path: "link")
        let link = try #require(try directory.status(CName("link")))
        #expect(link.owner == 1_234 && link.group == 5_678)
        #expect(try directory.status(CName("file"))?.owner == 0)
        try directory.root.open(CName("file"), O_RDWR, path: .root).setOwner(4_000_000_000, group: 1, path: "file")
        let file = try #require(try directory.status(CName("file")))
        #expect(file.owner == 4_000_000_000 && file.group == 1)
    }

    @Test("an ordinary user cannot change the owner", .enabled(if: !CurrentProcess.isRoot))
    func unprivileged() throws {
        let directory = try OpenDirectory()
        try directory.write("", to: "file")
        #expect(throws: FileError("change owner of", "file", .notPermitted)) {
            try directory.root.setOwner(0, group: 0, of: CName("file"), path: "file")
        }
    }
}
