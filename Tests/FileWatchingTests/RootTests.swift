// Changes of the root itself, and directories in it that must not be watched.

import FileIO
import FileWatching
import Glibc
import Mementos
import SystemPackage
import TestTraits
import Testing

@Suite(.blocking) struct RootTests {
    @Test("a renamed root is unavailable and not an empty tree", arguments: WatchBackend.reporting)
    func renamed(_ backend: WatchBackend) async throws {
        let watched = try await WatchedTree("mkdir -p a/b\nwrite a/f 1", backend: backend)
        try watched.tree.run(["mv", "root", "away"], in: watched.tree.base)
        let batch = try await watched.batch()
        #expect(batch.isEmpty, "there is nothing to scan while the root is away")
        #expect(watched.events.all.last == .rootUnavailable)
        if backend == .inotify { #expect(watched.kernelWatches == 0, "only the directory above is watched") }

        watched.watch.markDirty([.subtree("a")])
        #expect(try await watched.batch().isEmpty, "ranges put back are dropped too")

        try watched.tree.run(["mv", "away", "root"], in: watched.tree.base)
        try watched.run("write a/f 22")
        let back = try await watched.check("the root is back")
        #expect(back.ranges == [.subtree(.root)])
        #expect(back.gaps.map(\.cause) == [.rootUnavailable])
        #expect(watched.kernelWatches == watched.directories)
        try watched.run("write a/b/g 1")
        try await watched.check("after the return")
    }

    @Test("a root that is removed and recreated is watched again", arguments: WatchBackend.reporting)
    func recreated(_ backend: WatchBackend) async throws {
        let watched = try await WatchedTree("mkdir -p a/b\nwrite a/f 1", backend: backend)
        for round in 1...3 {
            try watched.tree.run(["rm", "-r", "root"], in: watched.tree.base)
            let gone = try await watched.batch()
            #expect(gone.isEmpty && gone.gaps.isEmpty, "the gap ends when the root returns")
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

    @Test("the replacement of the root by another directory is noticed", arguments: WatchBackend.reporting)
    func replaced(_ backend: WatchBackend) async throws {
        let watched = try await WatchedTree("mkdir -p a/b\nwrite a/f 1", backend: backend)
        try watched.run("mkdir ../outside/x\nwrite ../outside/x/f 1")
        try watched.tree.run(["exchange", "root", "outside"], in: watched.tree.base)
        let batch = try await watched.check()
        #expect(batch.ranges == [.subtree(.root)])
        #expect(watched.events.all.contains(.rootUnavailable))
        try watched.run("write x/f 22")
        try await watched.check()
    }

    @Test("a root below a renamed directory is unavailable", arguments: WatchBackend.reporting)
    func parentRenamed(_ backend: WatchBackend) async throws {
        let tree = try TemporaryTree(root: "above/root")
        let watched = try await WatchedTree("write f 1", tree: tree, backend: backend)
        try tree.run(["mv", "above", "elsewhere"], in: tree.base)
        try await watched.takeInEvents()
        #expect(watched.events.all.last == .rootUnavailable, "immediately, before any other change")
        try tree.run(["write", "elsewhere/root/f", "22"], in: tree.base)
        #expect(try await watched.batch().isEmpty)
        #expect(watched.events.all.last == .rootUnavailable)
        try tree.run(["mv", "elsewhere", "above"], in: tree.base)
        #expect(try await watched.check().ranges == [.subtree(.root)])
    }

    @Test("arming waits for a missing root", arguments: WatchBackend.available)
    func waiting(_ backend: WatchBackend) async throws {
        let clock = ManualClock()
        let tree = try TemporaryTree()
        try tree.run(["rmdir", "root"], in: tree.base)
        var hooks = WatcherHooks()
        hooks.now = { clock.now }
        let watcher = try TreeWatcher(backend: backend, hooks: hooks)
        let watch = watcher.watch(FilePath(tree.root + "/deep/inside"))
        let events = WatchedTree.Events()
        let absent = Signal()
        let subscription = watch.events.subscribe { event in
            events.add(event)
            if event == .rootUnavailable { absent.send() }
        }
        async let arming = watch.arm(waiting: true)
        await absent.wait()
        // The root must appear complete, because the watcher may crawl it at any moment.
        for line in [
            ["mkdir", "-p", "stage/inside/a"], ["write", "stage/inside/f", "1"], ["mkdir", "root"],
            ["mv", "stage", "root/deep"],
        ] {
            try tree.run(line, in: tree.base)
        }
        clock.advance(by: .seconds(60))
        await watch.flush()
        let stats = try await arming
        #expect(stats.watchedDirectories == (backend == .poll ? 0 : 2))
        #expect(events.all == [.rootUnavailable, .armed(stats)])
        try tree.run("write deep/inside/a/f 1")
        await watch.flush()
        let batch = try #require(await watch.nextBatch())
        #expect(batch.gaps.isEmpty, "it was never watched before")
        #expect(batch.ranges.contains(backend == .poll ? .subtree(.root) : .entry("a/f")))
        subscription.cancel()
    }

    @Test("stopping the watch ends the wait for a missing root")
    func stopping() async throws {
        let tree = try TemporaryTree()
        let watcher = try TreeWatcher()
        let watch = watcher.watch(FilePath(tree.root + "/none"))
        let absent = Signal()
        let subscription = watch.events.subscribe { _ in absent.send() }
        let arming = Task { try await watch.arm(waiting: true) }
        await absent.wait()
        watch.stop()
        let error = await #expect(throws: FileError.self) { _ = try await arming.value }
        #expect(error?.code == .canceled)
        subscription.cancel()
    }

    /// The kernel does not report changes made by other machines.
    @Test("a root on a remote file system is polled")
    func remote() async throws {
        var hooks = WatcherHooks()
        hooks.fileSystem = { _ in FileSystem(magic: 0x6969) }
        let watched = try await WatchedTree("mkdir -p a/b", hooks: hooks)
        #expect(watched.stats.watchedDirectories == 0 && watched.stats.polledDirectories == 1)
        #expect(watched.events.all == [.armed(watched.stats), .fallback(.remoteFileSystem)])
        try watched.run("write a/b/f 1")
        #expect(try await watched.check().polled == [.subtree(.root)])
        #expect(watched.kernelWatches == 0)
    }

    @Test("watching a path that is not a directory is an error", arguments: ["no/such/directory", "root/file"])
    func notADirectory(_ name: String) async throws {
        let tree = try TemporaryTree()
        try tree.run("write file 1")
        let watch = try TreeWatcher().watch(FilePath(tree.base + "/" + name))
        await #expect(throws: FileError.self) { try await watch.arm() }
    }

    /// Scenario 12: a root that cannot be opened or searched is not treated as empty.
    @Test(
        "watching a root without permissions is an error",
        .enabled(if: geteuid() != 0), arguments: ["000", "444", "111"])
    func permissions(_ mode: String) async throws {
        let tree = try TemporaryTree()
        try tree.run(["chmod", mode, "root"], in: tree.base)
        let watch = try TreeWatcher().watch(FilePath(tree.root))
        let error = await #expect(throws: FileError.self) { try await watch.arm() }
        #expect(error?.code == .permissionDenied)
        #expect(error?.path == FilePath(tree.root))
        try tree.run(["chmod", "700", "root"], in: tree.base)
    }

    /// The same for root, with an injected fault.
    @Test("a root whose watch is denied is an error")
    func denied() async throws {
        var hooks = WatcherHooks()
        hooks.watchFailure = { _, _ in .permissionDenied }
        let tree = try TemporaryTree()
        let watch = try TreeWatcher(hooks: hooks).watch(FilePath(tree.root))
        let error = await #expect(throws: FileError.self) { try await watch.arm() }
        #expect(error?.description == "cannot watch \(tree.root): Permission denied")
    }

    /// The root is still watched, so the return of its permissions is noticed.
    @Test(
        "a root that becomes unreadable keeps its watch",
        .enabled(if: geteuid() != 0), arguments: WatchBackend.reporting)
    func unreadable(_ backend: WatchBackend) async throws {
        let watched = try await WatchedTree("mkdir -p a/b", backend: backend)
        try watched.tree.run(["chmod", "000", "root"], in: watched.tree.base)
        _ = try await watched.batch()
        _ = await watched.watch.audit()
        try watched.tree.run(["chmod", "755", "root"], in: watched.tree.base)
        try watched.run("write a/b/f 1")
        try await watched.check()
        #expect(watched.kernelWatches == 3)
    }

    @Test("watching a pseudo file system is an error")
    func pseudo() async throws {
        let watch = try TreeWatcher().watch("/proc")
        let error = await #expect(throws: FileError.self) { try await watch.arm() }
        #expect(error?.code == .notSupported)
    }

    @Test("changes in an excluded directory are not reported, even after a move", arguments: WatchBackend.reporting)
    func excluded(_ backend: WatchBackend) async throws {
        let watched = try await WatchedTree(
            "mkdir -p archive/segments\nmkdir archived\nwrite archive/f 1", excluding: ["archive"],
            backend: backend)
        #expect(watched.stats.watchedDirectories == 2)
        try watched.run("write archive/g 1\nmkdir archive/more\nwrite archive/segments/s 1\nchmod 700 archive")
        #expect(try await watched.batch().isEmpty)

        try watched.run("write archived/f 1")
        #expect(try await watched.batch().ranges == [.entry("archived"), .entry("archived/f")])
        try watched.run("mv archive archived/inner\nwrite archived/inner/segments/s 22")
        _ = try await watched.batch()
        try watched.run("write archived/inner/segments/s 333")
        #expect(try await watched.batch().isEmpty, "still excluded at its new place")
        #expect(watched.kernelWatches == 2)
    }

    @Test("another mount is not entered", .enabled(if: Mount.isAllowed), arguments: WatchBackend.reporting)
    func mounts(_ backend: WatchBackend) async throws {
        let tree = try TemporaryTree()
        try tree.run("mkdir -p on/hidden\nmkdir beside")
        let mount = try Mount(at: tree.root + "/on")
        defer { mount.end() }
        try tree.run("mkdir -p on/inner/deep")
        let watched = try await WatchedTree(tree: tree, backend: backend)
        #expect(watched.stats.mountPoints == 1)
        #expect(watched.stats.watchedDirectories == 2)
        try tree.run("write on/inner/f 1\nwrite beside/f 1")
        #expect(try await watched.batch().ranges == [.entry("beside"), .entry("beside/f")])
    }

    /// The directory below the mount must not be mistaken for the root that was mounted on it.
    @Test("an unmounted root is unavailable", .enabled(if: Mount.isAllowed))
    func unmounted() async throws {
        let tree = try TemporaryTree()
        let mount = try Mount(at: tree.root)
        defer { mount.end() }
        let watched = try await WatchedTree("mkdir -p a/b", tree: tree)
        mount.end()
        try tree.run("write hidden 1")
        #expect(try await watched.batch().isEmpty)
        #expect(watched.events.all.last == .rootUnavailable)
    }

    @Test("one watcher reports the changes of each of its roots separately", arguments: WatchBackend.reporting)
    func nested(_ backend: WatchBackend) async throws {
        let tree = try TemporaryTree()
        try tree.run("mkdir -p one/deep\nmkdir -p two")
        let watcher = try TreeWatcher(backend: backend)
        let outer = watcher.watch(FilePath(tree.root))
        let inner = watcher.watch(FilePath(tree.root + "/one"))
        _ = try await outer.arm()
        _ = try await inner.arm()
        // On an overlay, arming the inner root causes an event in the outer one.
        await outer.flush()
        _ = await outer.nextBatch()
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
