// What becomes of the root itself, and of what lies in it but is not to be watched.

import FileIO
import FileWatching
import Glibc
import SystemPackage
import Testing

@Suite struct RootTests {
    @Test func aRootRenamedAwayIsUnavailableAndNeverAnEmptyTree() async throws {
        let watched = try await WatchedTree("mkdir -p a/b\nwrite a/f 1")
        try watched.tree.run(["mv", "root", "away"], in: watched.tree.base)
        let batch = try await watched.batch()
        #expect(batch.isEmpty, "nothing is to be looked at where the root is not")
        #expect(watched.events.all.last == .rootUnavailable)
        #expect(watched.kernelWatches == 1, "only the directory above is watched")

        watched.watch.markDirty([.subtree("a")])
        #expect(try await watched.batch().isEmpty, "not even what is put back")

        try watched.tree.run(["mv", "away", "root"], in: watched.tree.base)
        try watched.run("write a/f 22")
        let back = try await watched.check("the root is back")
        #expect(back.ranges == [.subtree(.root)])
        #expect(back.gaps.map(\.cause) == [.rootUnavailable])
        #expect(watched.kernelWatches == watched.directories)
        try watched.run("write a/b/g 1")
        try await watched.check("after the return")
    }

    @Test func aRootRemovedAndMadeAnewIsWatchedAgain() async throws {
        let watched = try await WatchedTree("mkdir -p a/b\nwrite a/f 1")
        for round in 1...3 {
            try watched.tree.run(["rm", "-r", "root"], in: watched.tree.base)
            let gone = try await watched.batch()
            #expect(gone.isEmpty && gone.gaps.isEmpty, "the gap ends when the root is back")
            #expect(watched.events.all.last == .rootUnavailable, "round \(round)")
            try watched.tree.run(["mkdir", "root"], in: watched.tree.base)
            try watched.run("mkdir -p c/d\nwrite c/d/f 1")
            let batch = try await watched.check("round \(round)")
            #expect(batch.ranges == [.subtree(.root)])
            #expect(batch.gaps.map(\.cause) == [.rootUnavailable])
            try watched.run("write c/d/f 22")
            #expect(try await watched.check("round \(round)").ranges == [.entry("c/d/f")])
        }
    }

    @Test func aRootReplacedByAnotherDirectoryIsSeen() async throws {
        let watched = try await WatchedTree("mkdir -p a/b\nwrite a/f 1")
        try watched.run("mkdir ../outside/x\nwrite ../outside/x/f 1")
        try watched.tree.run(["exchange", "root", "outside"], in: watched.tree.base)
        let batch = try await watched.check()
        #expect(batch.ranges == [.subtree(.root)])
        #expect(watched.events.all.contains(.rootUnavailable))
        try watched.run("write x/f 22")
        try await watched.check()
    }

    @Test func theDirectoryAboveTheRootIsRenamed() async throws {
        let tree = try TemporaryTree(root: "above/root")
        let watched = try await WatchedTree("write f 1", tree: tree)
        try tree.run(["mv", "above", "elsewhere"], in: tree.base)
        try tree.run(["write", "elsewhere/root/f", "22"], in: tree.base)
        #expect(try await watched.batch().isEmpty)
        #expect(watched.events.all.last == .rootUnavailable)
        try tree.run(["mv", "elsewhere", "above"], in: tree.base)
        #expect(try await watched.check().ranges == [.subtree(.root)])
    }

    @Test(arguments: ["no/such/directory", "root/file"])
    func whatIsNoDirectoryCannotBeWatched(_ name: String) async throws {
        let tree = try TemporaryTree()
        try tree.run("write file 1")
        let watch = try TreeWatcher().watch(FilePath(tree.base + "/" + name))
        await #expect(throws: FileError.self) { try await watch.arm() }
    }

    @Test func theKernelsStateCannotBeWatched() async throws {
        let watch = try TreeWatcher().watch("/proc")
        let error = await #expect(throws: FileError.self) { try await watch.arm() }
        #expect(error?.code == .notSupported)
    }

    @Test func anExcludedDirectoryIsSilent() async throws {
        let watched = try await WatchedTree(
            "mkdir -p archive/segments\nmkdir archived\nwrite archive/f 1", excluding: ["archive"])
        #expect(watched.stats.watchedDirectories == 2)
        try watched.run("write archive/g 1\nmkdir archive/more\nwrite archive/segments/s 1\nchmod 700 archive")
        #expect(try await watched.batch().isEmpty)

        try watched.run("write archived/f 1")
        #expect(try await watched.batch().ranges == [.entry("archived"), .entry("archived/f")])
        try watched.run("mv archive archived/inner\nwrite archived/inner/segments/s 22")
        _ = try await watched.batch()
        try watched.run("write archived/inner/segments/s 333")
        #expect(try await watched.batch().isEmpty, "still left out where it was moved to")
        #expect(watched.kernelWatches == 2)
    }

    @Test(.enabled(if: Mount.isAllowed))
    func anotherMountIsNotEntered() async throws {
        let tree = try TemporaryTree()
        try tree.run("mkdir -p on/hidden\nmkdir beside")
        let mount = try Mount(at: tree.root + "/on")
        defer { mount.end() }
        try tree.run("mkdir -p on/inner/deep")
        let watched = try await WatchedTree(tree: tree)
        #expect(watched.stats.mountPoints == 1)
        #expect(watched.stats.watchedDirectories == 2)
        try tree.run("write on/inner/f 1\nwrite beside/f 1")
        #expect(try await watched.batch().ranges == [.entry("beside"), .entry("beside/f")])
    }

    /// What a mount point hid must not pass for the root that was mounted on it.
    @Test(.enabled(if: Mount.isAllowed))
    func anUnmountedRootIsUnavailable() async throws {
        let tree = try TemporaryTree()
        let mount = try Mount(at: tree.root)
        defer { mount.end() }
        let watched = try await WatchedTree("mkdir -p a/b", tree: tree)
        mount.end()
        try tree.run("write hidden 1")
        #expect(try await watched.batch().isEmpty)
        #expect(watched.events.all.last == .rootUnavailable)
    }

    @Test func rootsOfOneWatcherAreToldApart() async throws {
        let tree = try TemporaryTree()
        try tree.run("mkdir -p one/deep\nmkdir -p two")
        let watcher = try TreeWatcher()
        let outer = watcher.watch(FilePath(tree.root))
        let inner = watcher.watch(FilePath(tree.root + "/one"))
        _ = try await outer.arm()
        _ = try await inner.arm()
        try tree.run("write one/deep/f 1\nwrite two/g 1")
        await outer.flush()
        await inner.flush()
        #expect(
            await outer.nextBatch()?.ranges == [
                .entry("one/deep"), .entry("one/deep/f"), .entry("two"), .entry("two/g"),
            ])
        #expect(await inner.nextBatch()?.ranges == [.entry("deep"), .entry("deep/f")])

        inner.stop()
        try tree.run("write one/deep/f 22")
        await outer.flush()
        #expect(await outer.nextBatch()?.ranges == [.entry("one/deep/f")], "the watches are still in use")
        #expect(await inner.nextBatch() == nil)
    }
}

/// A temporary file system in memory.
private struct Mount {
    private let path: String

    /// Whether this process may mount, which even root may not everywhere.
    static let isAllowed: Bool = {
        guard let tree = try? TemporaryTree(), let mount = try? Mount(at: tree.root) else { return false }
        mount.end()
        return true
    }()

    init(at path: String) throws {
        if mount("tmpfs", path, "tmpfs", 0, nil) != 0 { throw ScriptError(line: "mount \(path)", code: errno) }
        self.path = path
    }

    func end() { umount(path) }
}
