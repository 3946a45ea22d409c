// Gaps as a running watcher reports them.

import FileIO
import FileWatching
import SystemPackage
import TestTraits
import Testing
import Threading

@Suite(.blocking) struct GapTests {
    @Test("a suspend is a gap")
    func suspend() async throws {
        let slept = Locked(Duration.zero)
        var hooks = WatcherHooks()
        hooks.suspendedTime = { slept.withLock { $0 } }
        let watched = try await WatchedTree("mkdir a", hooks: hooks)
        slept.withLock { $0 = .milliseconds(900) }
        #expect(try await watched.batch().gaps.isEmpty, "a short difference comes from reading two clocks in sequence")
        slept.withLock { $0 += .seconds(3_600) }
        try watched.run("write a/f 1")
        // The first flush only wakes the thread.
        await watched.watch.flush()
        let gap = try #require(try await watched.check().gaps.first)
        #expect(gap.cause == .suspend)
        let seconds = gap.end.seconds - gap.start.seconds
        #expect((3_600...3_601).contains(seconds))
        #expect(watched.events.all.contains(.gap(gap)))
        #expect(try await watched.batch().gaps.isEmpty, "reported once")
    }

    @Test("polling is a gap until everything is watched")
    func polling() async throws {
        let clock = ManualClock()
        let isShort = Lock()
        var hooks = WatcherHooks()
        hooks.now = { clock.now }
        hooks.watchFailure = { _, path in isShort.isSet && path.depth == 1 ? .noSpace : nil }
        let watched = try await WatchedTree("mkdir -p a/b\nmkdir c", hooks: hooks)
        try watched.run("write a/b/f 1")
        let polled = try await watched.check()
        #expect(polled.polled == [.subtree("a"), .subtree("c")])
        #expect(polled.gaps.isEmpty, "the gap is still open")

        isShort.isSet = false
        clock.advance(by: .seconds(60))
        let batch = try await watched.check()
        #expect(batch.gaps.map(\.cause) == [.polling])
        #expect(watched.kernelWatches == watched.directories)
        try watched.run("write a/b/f 22")
        let later = try await watched.check()
        #expect(later.polled.isEmpty && later.gaps.isEmpty)
    }

    @Test("an open gap ends with the watch")
    func stopping() async throws {
        let watched = try await WatchedTree(backend: .poll)
        await watched.watcher.stop()
        let causes = watched.events.all.compactMap { event in
            if case .gap(let gap) = event { gap.cause } else { nil }
        }
        #expect(causes == [.polling])
    }

    @Test("the time to the next poll depends on the last one's result")
    func intervals() async throws {
        let clock = ManualClock()
        var hooks = WatcherHooks()
        hooks.now = { clock.now }
        let watched = try await WatchedTree(backend: .poll, hooks: hooks)
        async let first = watched.watch.nextBatch()
        clock.advance(by: .seconds(1))
        try await watched.takeInEvents()
        clock.advance(by: .milliseconds(100))
        try await watched.takeInEvents()
        #expect(await first?.polled == [.subtree(.root)])

        watched.watch.polled(found: false, took: .milliseconds(200))
        try await watched.takeInEvents()
        async let second = watched.watch.nextBatch()
        clock.advance(by: .milliseconds(3_999))
        try await watched.takeInEvents()
        clock.advance(by: .milliseconds(1))
        try await watched.takeInEvents()
        clock.advance(by: .milliseconds(100))
        try await watched.takeInEvents()
        let batch = await second
        #expect(batch?.polled == [.subtree(.root)])
        #expect(batch?.firstChange == clock.now - .milliseconds(100), "not too early")
    }
}
