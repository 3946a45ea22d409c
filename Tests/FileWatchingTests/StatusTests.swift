// The status that the watcher's thread reports, and that the thread sleeps while idle.

import FileIO
import FileWatching
import Glibc
import SystemPackage
import TestTraits
import Testing
import Threading

@Suite(.blocking) struct StatusTests {
    @Test("the status includes everything that happened before the request", arguments: WatchBackend.reporting)
    func complete(_ backend: WatchBackend) async throws {
        let watched = try await WatchedTree("mkdir -p a/b", backend: backend)
        let before = try #require(await watched.watch.status())
        #expect(before.phase == .armed && before.backends == [backend])
        #expect(before.stats == watched.stats)
        #expect(before.dirtyRanges == 0 && before.pendingCrawls == 0 && before.openGaps.isEmpty)
        #expect(before.pollInterval == nil)

        try watched.run("write a/f 1\nmkdir a/b/c")
        let after = try #require(await watched.watch.status())
        #expect(after.eventCount > before.eventCount)
        #expect(after.lastEvent.map { $0 <= .now } == true)
        #expect(after.dirtyRanges > 0)
        // The thread may have woken for the event before the request; then it has crawled the new directory already.
        #expect(after.pendingCrawls == 1 || after.stats.watchedDirectories == 4, "\(after)")
        try await watched.check()
        let settled = try #require(await watched.watch.status())
        #expect(settled.dirtyRanges == 0 && settled.pendingCrawls == 0)
        #expect(settled.stats.watchedDirectories == 4)
    }

    @Test("the status reports polled directories and open gaps")
    func polled() async throws {
        let watched = try await WatchedTree("mkdir -p a/b", backend: .poll)
        let status = try #require(await watched.watch.status())
        #expect(status.backends.isEmpty && status.stats.polledDirectories == 1)
        #expect(status.openGaps.keys.sorted { $0.rawValue < $1.rawValue } == [.polling])
        #expect(status.pollInterval == .seconds(1))
    }

    @Test("the status reports a missing root")
    func absence() async throws {
        let watched = try await WatchedTree("mkdir a")
        try watched.tree.run(["mv", "root", "away"], in: watched.tree.base)
        await watched.watch.flush()
        let status = try #require(await watched.watch.status())
        #expect(status.phase == .unavailable)
        #expect(status.stats.watchedDirectories == 0)
        #expect(status.openGaps.keys.contains(.rootUnavailable))
        watched.watch.stop()
        #expect(await watched.watch.status() == nil)
    }

    /// Only an event or a request ends the thread's sleep; without them it makes no system call.
    @Test("an idle watcher sleeps without a timeout", arguments: WatchBackend.reporting)
    func idle(_ backend: WatchBackend) async throws {
        let sleeps = Locked<[ContinuousClock.Instant?]>([])
        var hooks = WatcherHooks()
        hooks.beforeSleeping = { deadline in sleeps.withLock { $0.append(deadline) } }
        let watched = try await WatchedTree("mkdir -p a/b", backend: backend, hooks: hooks)
        async let next = watched.watch.nextBatch()
        try watched.run("write a/f 1")
        #expect(await next?.ranges.isEmpty == false)
        sleeps.withLock { $0 = [] }
        async let further = watched.watch.nextBatch()
        _ = await watched.watch.status()
        await watched.watcher.stop()
        #expect(sleeps.withLock { $0 }.allSatisfy { $0 == nil })
        _ = await further
    }

    @Test("a file system that reports no events is polled")
    func silent() async throws {
        var hooks = WatcherHooks()
        hooks.fileSystem = { _ in FileSystem(magic: 0x794C_7630) }
        hooks.losesEvent = { $0.isEmpty }
        let watched = try await WatchedTree("mkdir a", hooks: hooks)
        #expect(watched.stats.watchedDirectories == 0 && watched.stats.polledDirectories == 1)
        #expect(watched.events.all == [.armed(watched.stats), .fallback(.silentFileSystem)])
        try watched.run("write a/f 1")
        #expect(try await watched.check().ranges == [.subtree(.root)])
        #expect(watched.kernelWatches == 0, "the probe's watch was removed")
    }

    @Test("an overlay that reports events is watched", arguments: WatchBackend.reporting)
    func overlay(_ backend: WatchBackend) async throws {
        var hooks = WatcherHooks()
        hooks.fileSystem = { _ in FileSystem(magic: 0x794C_7630) }
        let watched = try await WatchedTree("mkdir a", backend: backend, hooks: hooks)
        #expect(watched.stats.watchedDirectories == 2)
        #expect(try await watched.batch().isEmpty, "the probe is not reported as a change")
    }
}
