// A full kernel queue: no change is missed, and a gap is reported.

import Dispatch
import FileIO
import FileWatching
import TestSupport
import TestTraits
import Testing
import Threading

/// Blocks a watcher before it reads events until the gate is opened.
final class ReadingGate: Sendable {
    private let isClosed = Locked(false)
    private let semaphore = DispatchSemaphore(value: 0)

    var hooks: WatcherHooks {
        var hooks = WatcherHooks()
        hooks.beforeReading = { [self] in
            if isClosed.withLock({ $0 }) { semaphore.wait() }
        }
        return hooks
    }

    func close() { isClosed.withLock { $0 = true } }

    func open() {
        isClosed.withLock { $0 = false }
        semaphore.signal()
    }
}

@Suite(.blocking) struct OverflowTests {
    @Test("no change is missed when the queue is full", arguments: WatchBackend.reporting)
    func fullQueue(_ backend: WatchBackend) async throws {
        let gate = ReadingGate()
        let watched = try await WatchedTree(
            "mkdir -p a/b\nmkdir -p gone/deep\nmkdir -p moved/deep\nmkdir many", backend: backend,
            hooks: gate.hooks)
        gate.close()
        try watched.run("each 17000 write many/f% 1")
        // The kernel drops events from here on.
        try watched.run(
            """
            mkdir -p new/x/y
            write new/x/y/f 1
            rm -r gone
            mv moved a/b/moved
            write a/b/moved/deep/f 1
            mv a c
            mkdir a
            """)
        gate.open()
        let batch = try await watched.check()
        #expect(batch.ranges == [.subtree(.root)])
        let gap = try #require(batch.gaps.first)
        #expect(batch.gaps.count == 1)
        #expect(gap.cause == .overflow && gap.start <= gap.end)
        #expect(watched.events.all.contains(.gap(gap)))
        #expect(watched.kernelWatches == watched.directories)

        try watched.run("write c/b/moved/deep/f 22\nwrite new/x/y/f 22\nwrite a/f 1")
        let later = try await watched.check("after the overflow")
        #expect(later.gaps.isEmpty)
        #expect(!later.ranges.contains(.subtree(.root)))
    }

    @Test(
        "random changes during an overflow are covered",
        arguments: WatchBackend.reporting, (isThorough ? [21] : []) + [UInt64.random(in: 22...999_999)])
    func random(_ backend: WatchBackend, seed: UInt64) async throws {
        let gate = ReadingGate()
        let watched = try await WatchedTree("mkdir many", backend: backend, hooks: gate.hooks)
        var churn = Churn(seed: seed)
        for _ in 1...150 { try? watched.run(churn.nextLine()) }
        try await watched.check("seed \(seed)")
        gate.close()
        for _ in 1...50 { try? watched.run(churn.nextLine()) }
        try watched.run("each 17000 write many/f% 1")
        for _ in 1...100 { try? watched.run(churn.nextLine()) }
        gate.open()
        let batch = try await watched.check("seed \(seed), overflow")
        #expect(batch.gaps.map(\.cause) == [.overflow])
        #expect(watched.kernelWatches == watched.directories, "seed \(seed)")
        for _ in 1...150 { try? watched.run(churn.nextLine()) }
        try await watched.check("seed \(seed), later")
    }
}
