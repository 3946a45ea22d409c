// Many roots of one watcher: a change in one root causes no work for the others.

import Dispatch
import Exclusions
import FileIO
import FileWatching
import SystemPackage
import TestTraits
import Testing
import Threading

@Suite("Many roots of one watcher", .blocking)
struct ManyRootsTests {
    @Test("the watcher visits only the root in which something changes")
    func visits() async throws {
        let slot = await WatcherSlot.take()
        let tree = try TemporaryTree()
        try tree.run((0..<200).map { "mkdir root\($0)" }.joined(separator: "\n"))
        let visits = Locked(0)
        var hooks = WatcherHooks()
        hooks.beforeVisiting = { visits.withLock { $0 += 1 } }
        let watcher = try TreeWatcher(hooks: hooks)
        var watches: [TreeWatch] = []
        for number in 0..<200 {
            let watch = watcher.watch(
                FilePath(tree.root + "/root\(number)"), timing: WatchTiming(settle: .milliseconds(5)))
            _ = try await watch.arm()
            watches.append(watch)
        }
        let waiting = watches.dropFirst().map { watch in Task { await watch.nextBatch() } }
        for watch in watches { _ = await watch.status() }
        var counts: [Int] = []
        for number in 0..<10 {
            let before = visits.withLock { $0 }
            try tree.run("write root0/file \(number)")
            let batch = try #require(await watches[0].nextBatch())
            #expect(!batch.isEmpty)
            counts.append(visits.withLock { $0 } - before)
        }
        // Waiting callers may be late, and a mount by another test makes the watcher visit all roots; not ten times.
        #expect(counts.contains { $0 < 20 }, "number of visits for each of ten changes in one of 200 roots: \(counts)")
        await watcher.stop()
        for task in waiting { #expect(await task.value == nil) }
        withExtendedLifetime(slot) {}
    }

    @Test("a pulse returns only once the watcher's thread comes round to it")
    func pulse() async throws {
        let isStuck = Locked(true)
        let isFree = DispatchSemaphore(value: 0)
        let stuck = Signal()
        var hooks = WatcherHooks()
        hooks.beforeSleeping = { _ in
            let isFirst = isStuck.withLock { isStuck in
                defer { isStuck = false }
                return isStuck
            }
            guard isFirst else { return }
            stuck.send()
            isFree.wait()
        }
        let watcher = try TreeWatcher(hooks: hooks)
        await stuck.wait()
        let answers = Locked(0)
        let pulse = Task {
            let isAlive = await watcher.pulse()
            answers.withLock { $0 += 1 }
            return isAlive
        }
        #expect(answers.withLock { $0 } == 0)
        isFree.signal()
        #expect(await pulse.value)
        await watcher.stop()
        #expect(await watcher.pulse() == false)
    }

    @Test("a root that is restarted with other timing and rules answers earlier callers")
    func restarted() async throws {
        let slot = await WatcherSlot.take()
        let tree = try TemporaryTree()
        let watch = try TreeWatcher().watch(
            FilePath(tree.root), timing: WatchTiming(settle: .seconds(3600), maxDelay: .seconds(3600)))
        _ = try await watch.arm()
        let waiting = Task { await watch.nextBatch() }
        _ = await watch.status()
        _ = try await watch.restart(rules: .init(), timing: WatchTiming(settle: .milliseconds(5)))
        let batch = try #require(await waiting.value)
        #expect(batch.ranges == [.subtree(.root)])
        #expect(await watch.flush() == 1)
        _ = await watch.nextBatch()
        watch.retime(WatchTiming(settle: .milliseconds(1), maxDelay: .milliseconds(1)))
        try tree.run("write file x")
        #expect(
            try #require(await watch.nextBatch()).ranges.contains(
                .entry(try #require(RelativePath(Array("file".utf8))))))
        withExtendedLifetime(slot) {}
    }
}
