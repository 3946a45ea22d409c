// Directories that cannot be watched are polled, and the watcher reports it.

import FileIO
import FileWatching
import Glibc
import SystemPackage
import TestTraits
import Testing
import Threading

@Suite(.blocking) struct FallbackTests {
    /// Allows a limited number of inotify watches.
    private final class Budget: Sendable {
        private let left: Locked<Int>

        init(_ count: Int) { left = Locked(count) }

        func allow(_ count: Int) { left.withLock { $0 = count } }

        var hooks: WatcherHooks {
            var hooks = WatcherHooks()
            hooks.watchFailure = { [self] backend, _ in
                if backend == .fanotify { return nil }
                return left.withLock { left in
                    left -= 1
                    return left < 0 ? .noSpace : nil
                }
            }
            return hooks
        }
    }

    @Test("directories that cannot be watched are polled")
    func polled() async throws {
        let budget = Budget(3)
        let watched = try await WatchedTree(
            "mkdir -p a/b\nmkdir -p c/d\nwrite c/d/f 1\nmkdir -p e/g", backend: .inotify,
            hooks: budget.hooks)
        #expect(watched.stats.watchedDirectories == 3)
        #expect(watched.stats.polledDirectories == 2, "c and e, with everything below them")
        let fallbacks = watched.events.all.compactMap { event in
            if case .fallback(.limit(.inotifyWatches, let needed, _)) = event { needed } else { nil }
        }
        #expect(fallbacks == [5], "reported once")
        try watched.run("write c/d/f 22\nwrite e/g/h 1\nwrite a/b/f 1")
        try await watched.check()

        try watched.run("mkdir -p new/deep\nwrite new/deep/f 1")
        try await watched.check("a new directory")
        try watched.run("write new/deep/f 22")
        try await watched.check("in a new directory")
        try watched.run("mv c a/c\nwrite a/c/d/f 333")
        try await watched.check("a polled directory is moved")
        #expect(watched.events.all.count { if case .fallback = $0 { true } else { false } } == 1)
    }

    @Test("polling ends when watches are available again")
    func recovery() async throws {
        let clock = ManualClock()
        let budget = Budget(1)
        var hooks = budget.hooks
        hooks.now = { clock.now }
        let watched = try await WatchedTree("mkdir -p a/b\nwrite a/b/f 1", backend: .inotify, hooks: hooks)
        #expect(watched.kernelWatches == 1)

        budget.allow(100)
        clock.advance(by: .seconds(60))
        // The poll is due: when the thread wakes up, it crawls the directory and can watch it now.
        try watched.run("write other 1")
        let batch = try await watched.batch()
        #expect(batch.ranges.contains(.subtree("a")))
        #expect(watched.kernelWatches == 3)
    }

    @Test(
        "fanotify watches the directories beyond inotify's limit",
        .enabled(if: WatchBackend.reporting.contains(.fanotify)))
    func fanotify() async throws {
        let budget = Budget(3)
        let watched = try await WatchedTree(
            "mkdir -p a/b\nmkdir -p c/d\nwrite c/d/f 1\nmkdir -p e/g", hooks: budget.hooks)
        #expect(watched.stats.inotifyDirectories == 3)
        #expect(watched.stats.fanotifyDirectories == 4)
        #expect(watched.stats.polledDirectories == 0)
        let limit = KernelLimits.current[.inotifyWatches]
        #expect(
            watched.events.all == [
                .armed(watched.stats), .fallback(.limit(.inotifyWatches, needed: 7, limit: limit)),
            ])
        try watched.run("write c/d/f 22\nmkdir e/g/new")
        #expect(try await watched.check().ranges == [.entry("c/d/f"), .entry("e/g"), .subtree("e/g/new")])
        try watched.run("mv c/d a/b/d\nwrite a/b/d/f 333\nwrite e/g/new/f 1")
        try await watched.check("a directory is moved between the two")
        #expect(watched.watchedDirectories == watched.directories)

        budget.allow(100)
        try watched.run("mkdir later\nchmod 755 a/b/d")
        try await watched.check("watches are available again")
        #expect(watched.watchedDirectories == watched.directories)
    }

    @Test("directories beyond the limits of both backends are polled")
    func bothLimits() async throws {
        var hooks = WatcherHooks()
        hooks.watchFailure = { _, path in path.depth > 1 ? .noSpace : nil }
        let watched = try await WatchedTree("mkdir -p a/b/c\nwrite a/b/f 1", hooks: hooks)
        #expect(watched.stats.watchedDirectories == 2)
        #expect(watched.stats.polledDirectories == 1)
        let reported = watched.events.all.compactMap { event in
            if case .fallback(.limit(let limit, needed: 3, limit: _)) = event { limit } else { nil }
        }
        #expect(reported == [.fanotifyMarks, .inotifyWatches])
        try watched.run("write a/b/f 22")
        try await watched.check()
    }

    @Test("fanotify watches everything if no inotify instance is available")
    func noInstance() async throws {
        var hooks = WatcherHooks()
        hooks.openFailure = { $0 == .inotify ? .tooManyOpenFiles : nil }
        let watched = try await WatchedTree("mkdir -p a/b", hooks: hooks)
        #expect(watched.stats.inotifyDirectories == 0)
        #expect(watched.stats.fanotifyDirectories == (WatchBackend.reporting.contains(.fanotify) ? 3 : 0))
        #expect(
            watched.events.all.contains { event in
                if case .fallback(.limit(.inotifyInstances, _, _)) = event { true } else { false }
            })
        try watched.run("write a/b/f 1")
        try await watched.check()
    }

    @Test("everything is polled until a backend is available")
    func noBackend() async throws {
        let clock = ManualClock()
        let isShort = Lock()
        var hooks = WatcherHooks()
        hooks.now = { clock.now }
        hooks.openFailure = { _ in isShort.isSet ? .tooManyOpenFiles : nil }
        let watched = try await WatchedTree("mkdir -p a/b\nwrite a/f 1", hooks: hooks)
        #expect(watched.stats.polledDirectories == 1, "the root, with everything below it")
        try watched.run("write a/f 22\nmkdir -p c/d")
        #expect(try await watched.check().ranges == [.subtree(.root)])

        isShort.isSet = false
        clock.advance(by: .seconds(60))
        #expect(try await watched.check().ranges == [.subtree(.root)])
        #expect(watched.kernelWatches == watched.directories)
        try watched.run("write c/d/f 1")
        #expect(try await watched.check().ranges == [.entry("c/d"), .entry("c/d/f")])
    }

    @Test("a requested backend that is not available is an error", arguments: [WatchBackend.inotify, .fanotify])
    func unavailable(_ backend: WatchBackend) {
        var hooks = WatcherHooks()
        hooks.openFailure = { $0 == backend ? .noFunction : nil }
        let error = #expect(throws: FileError.self) { _ = try TreeWatcher(backend: backend, hooks: hooks) }
        #expect(error?.description == "cannot watch \(backend.rawValue): Function not implemented")
    }

    @Test("polling needs no backend and is not reported as a fallback")
    func polling() async throws {
        let watched = try await WatchedTree("mkdir -p a/b", backend: .poll)
        #expect(watched.stats.polledDirectories == 1 && watched.stats.watchedDirectories == 0)
        #expect(watched.events.all == [.armed(watched.stats)], "a requested backend is not reported as a fallback")
        try watched.run("write a/b/f 1\nrm -r a/b")
        #expect(try await watched.check().ranges == [.subtree(.root)])
    }

    @Test(
        "an unreadable directory is counted, and watched when it becomes readable",
        arguments: WatchBackend.reporting)
    func unreadable(_ backend: WatchBackend) async throws {
        var hooks = WatcherHooks()
        let lock = Lock()
        hooks.watchFailure = { _, path in
            lock.isSet && path.bytes.elementsEqual("secret".utf8) ? .permissionDenied : nil
        }
        let watched = try await WatchedTree("mkdir -p secret/deep\nwrite secret/f 1", backend: backend, hooks: hooks)
        #expect(watched.stats.unreadableDirectories == 1)
        #expect(watched.stats.polledDirectories == 0)
        lock.isSet = false
        try watched.run("chmod 700 secret\nwrite secret/deep/g 1\nwrite secret/f 22")
        try await watched.check()
        #expect(watched.kernelWatches == 3)
    }

    /// Scenario 11 with real permissions, which do not apply to root.
    @Test(
        "a directory without permissions is unreadable",
        .enabled(if: geteuid() != 0), arguments: WatchBackend.reporting)
    func permissions(_ backend: WatchBackend) async throws {
        let watched = try await WatchedTree("mkdir secret\nchmod 000 secret\nmkdir open", backend: backend)
        #expect(watched.stats.unreadableDirectories == 1)
        #expect(watched.stats.watchedDirectories == 2)
        try watched.run("chmod 700 secret\nwrite secret/f 1")
        try await watched.check()
    }

    /// Scenario 24: directories disappear, move and grow while they are crawled.
    @Test("changes during arming are covered", arguments: WatchBackend.reporting)
    func setUp(_ backend: WatchBackend) async throws {
        let tree = try TemporaryTree()
        try tree.run("mkdir -p a/b/c\nmkdir p\nmkdir -p z/y")
        var hooks = WatcherHooks()
        hooks.watchFailure = { [weak tree] _, path in
            if path.isRoot { try? tree?.run("rm -r a") }
            if path.bytes.elementsEqual("z".utf8) { try? tree?.run("mv z x\nwrite x/y/f 1") }
            if path.bytes.elementsEqual("p".utf8) { try? tree?.run("mkdir -p p/late/later") }
            return nil
        }
        let watched = try await WatchedTree(tree: tree, backend: backend, hooks: hooks)
        try watched.run("write x/y/f 22\nwrite p/late/later/f 1")
        try await watched.check()
        #expect(watched.kernelWatches == watched.directories)
    }
}

/// A flag that tests set from outside.
final class Lock: Sendable {
    private let value = Locked(true)
    var isSet: Bool {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}

/// A clock that moves only when it is advanced.
final class ManualClock: Sendable {
    private let instant = Locked(ContinuousClock.now)
    var now: ContinuousClock.Instant { instant.withLock { $0 } }
    func advance(by duration: Duration) { instant.withLock { $0 += duration } }
}
