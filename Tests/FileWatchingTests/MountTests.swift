// Mounts and unmounts: in the kernel's table, and live if the process may mount.

import FileIO
import TestTraits
import Testing

@testable import FileWatching

@Suite(.blocking) struct MountTableTests {
    private static let lines = """
        21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
        30 21 0:25 / /srv/with\\040blank rw - tmpfs tmpfs rw
        31 21 0:26 /sub /srv/back\\134slash rw,noatime - btrfs /dev/vdb rw
        torn
        """

    @Test("the lines of a mount table are parsed")
    func parsing() {
        let table = MountTable(Array(Self.lines.utf8))
        #expect(
            table.mounts == [
                .init(id: 21, path: Array("/".utf8)), .init(id: 30, path: Array("/srv/with blank".utf8)),
                .init(id: 31, path: Array("/srv/back\\slash".utf8)),
            ])
    }

    @Test("mounts and unmounts between two tables are reported")
    func changes() {
        let before = MountTable(Array("21 1 0:1 / / rw\n30 21 0:2 / /a rw\n31 21 0:3 / /b rw".utf8))
        let after = MountTable(Array("21 1 0:1 / / rw\n32 21 0:2 / /a rw\n33 21 0:3 / /c rw".utf8))
        #expect(after.changes(from: before) == Set(["/a", "/b", "/c"].map { Array($0.utf8) }), "/a was mounted again")
        #expect(after.changes(from: after).isEmpty)
    }

    @Test(
        "a mount point covers the root, is inside it, or is elsewhere",
        arguments: [
            ("/home/me", MountRelation.covers), ("/home", .covers), ("/", .covers), ("/home/me/a/b", .inside("a/b")),
            ("/home/mean", .elsewhere), ("/mnt", .elsewhere),
        ])
    func relation(_ point: String, _ relation: MountRelation) {
        #expect(MountRelation(of: Array(point.utf8), to: Array("/home/me".utf8)) == relation)
    }

    @Test("every mount point is inside the root directory")
    func slash() {
        #expect(MountRelation(of: Array("/mnt".utf8), to: Array("/".utf8)) == .inside("mnt"))
        #expect(MountRelation(of: Array("/".utf8), to: Array("/".utf8)) == .covers)
    }
}

@Suite(.enabled(if: Mount.isAllowed), .blocking)
struct MountTests {
    @Test("a mount in the tree is noticed", arguments: WatchBackend.reporting)
    func inside(_ backend: WatchBackend) async throws {
        let watched = try await WatchedTree("mkdir -p on/hidden\nmkdir beside", backend: backend)
        let mount = try Mount(at: watched.tree.root + "/on")
        defer { mount.end() }
        #expect(try await watched.batch().ranges == [.subtree("on")])
        #expect(await watched.watch.status()?.stats.mountPoints == 1)
        try watched.run("write on/f 1\nwrite beside/f 1")
        #expect(try await watched.batch().ranges == [.entry("beside"), .entry("beside/f")])

        mount.end()
        #expect(try await watched.batch().ranges == [.subtree("on")])
        #expect(await watched.watch.status()?.stats.mountPoints == 0)
        try watched.run("write on/hidden/f 1")
        #expect(try await watched.batch().ranges == [.entry("on/hidden"), .entry("on/hidden/f")])
    }

    @Test("a mount over the root makes the root unavailable", arguments: WatchBackend.available)
    func covered(_ backend: WatchBackend) async throws {
        let watched = try await WatchedTree("mkdir -p a\nwrite a/f 1", backend: backend)
        let mount = try Mount(at: watched.tree.root)
        defer { mount.end() }
        try watched.run("write stranger 1")
        #expect(try await watched.batch().isEmpty, "the covering mount is not the root")
        #expect(watched.events.all.last == .rootUnavailable)
        mount.end()
        let batch = try await watched.check()
        #expect(batch.ranges == [.subtree(.root)] && batch.gaps.map(\.cause).contains(.rootUnavailable))
        try watched.run("write a/f 22")
        try await watched.check()
    }

    @Test("a mount outside the root is ignored")
    func elsewhere() async throws {
        let watched = try await WatchedTree("mkdir a")
        let mount = try Mount(at: watched.tree.base + "/outside")
        defer { mount.end() }
        #expect(try await watched.batch().isEmpty)
        #expect(!watched.events.all.contains(.rootUnavailable))
    }
}
