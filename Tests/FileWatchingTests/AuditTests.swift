// The audit finds and repairs differences that events did not report, and no others.

import FileIO
import FileWatching
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading

@Suite(.blocking) struct AuditTests {
    private static func deaf(_ isDeaf: Lock) -> WatcherHooks {
        var hooks = WatcherHooks()
        // That a directory is gone is reported, without a name, only when no process has it open any more: one that another
        // test starts may, until it runs its program.
        hooks.losesEvent = { name in isDeaf.isSet || name.isEmpty }
        return hooks
    }

    @Test("an audit of correct watches finds nothing", arguments: WatchBackend.reporting)
    func clean(_ backend: WatchBackend) async throws {
        let watched = try await WatchedTree("mkdir -p a/b/c\nmkdir -p d/e\nwrite a/f 1", backend: backend)
        #expect(await watched.watch.audit() == WatchAudit(checkedDirectories: 6))
        #expect(try await watched.batch().isEmpty)
        #expect(watched.events.all.last == .audited(WatchAudit(checkedDirectories: 6)))
        #expect(OpenFiles.targets.allSatisfy { !$0.hasPrefix(watched.tree.root) })
    }

    @Test("an audit finds and repairs what lost events left", arguments: WatchBackend.reporting)
    func lostEvents(_ backend: WatchBackend) async throws {
        let isDeaf = Lock()
        isDeaf.isSet = false
        let watched = try await WatchedTree(
            "mkdir -p a/b/c\nmkdir -p gone/deep\nmkdir -p replaced/x", backend: backend, hooks: Self.deaf(isDeaf))
        isDeaf.isSet = true
        try watched.run(
            """
            mkdir -p a/new/deep
            write a/new/deep/f 1
            rm -r gone
            mv replaced ../outside/replaced
            mkdir -p replaced/x
            """)
        #expect(try await watched.batch().isEmpty, "no event was reported")
        isDeaf.isSet = false
        let audit = try #require(await watched.watch.audit())
        #expect(audit.missingWatches == 2, "a/new and the new one in place of the old")
        #expect(audit.strayWatches == 1)
        #expect(
            try await watched.batch().ranges
                == [
                    .entry(.root), .entry("a/new"), .subtree("a/new"), .entry("gone"), .subtree("replaced"),
                ].filter { $0 != .entry("a/new") })
        #expect(watched.watchedDirectories == watched.directories)
        try watched.run("write a/new/deep/f 22\nwrite replaced/x/f 1")
        #expect(
            try await watched.batch().ranges == [.entry("a/new/deep/f"), .entry("replaced/x"), .entry("replaced/x/f")])
        #expect(await watched.watch.audit()?.isClean == true)
    }

    /// Events report the changes made between any two steps of an audit, so they are not faults.
    @Test(
        "an audit during changes finds nothing wrong",
        arguments: WatchBackend.reporting, [UInt64(51), 286_393, .random(in: 52...999_999)])
    func concurrentChanges(_ backend: WatchBackend, seed: UInt64) async throws {
        let tree = try TemporaryTree()
        let changes = Locked((churn: Churn(seed: seed), left: 0))
        var hooks = WatcherHooks()
        hooks.watchFailure = { [weak tree] _, _ in
            let line = changes.withLock { changes in
                changes.left -= 1
                return changes.left < 0 ? nil : changes.churn.nextLine()
            }
            if let line { try? tree?.run(line) }
            return nil
        }
        let watched = try await WatchedTree(tree: tree, backend: backend, hooks: hooks)
        for _ in 1...300 { try? tree.run(changes.withLock { $0.churn.nextLine() }) }
        try await watched.check()
        for round in 1...30 {
            changes.withLock { $0.left = 100 }
            let audit = await watched.watch.audit()
            #expect(audit?.isClean == true, "seed \(seed), round \(round): \(String(describing: audit))")
            changes.withLock { $0.left = 0 }
            try await watched.check("seed \(seed), round \(round)")
        }
        #expect(watched.watchedDirectories == watched.directories)
    }

    @Test("an audit does not report polled and excluded directories")
    func exempt() async throws {
        var hooks = WatcherHooks()
        hooks.watchFailure = { _, path in path.bytes.elementsEqual("polled".utf8) ? .noSpace : nil }
        let watched = try await WatchedTree(
            "mkdir -p polled/deep\nmkdir -p archive/deep\nmkdir -p out/deep\nwrite .archiverignore out\nmkdir in",
            excluding: ["archive"], hooks: hooks)
        let audit = await watched.watch.audit()
        #expect(audit == WatchAudit(checkedDirectories: 4))
        let batch = try await watched.check()
        #expect(batch.ranges == [.subtree("polled")], "\(batch), \(watched.events.all)")
    }

    @Test("an audit of a missing root returns nil")
    func absence() async throws {
        let watched = try await WatchedTree("mkdir a")
        try watched.tree.run(["mv", "root", "away"], in: watched.tree.base)
        await watched.watch.flush()
        #expect(await watched.watch.audit() == nil)
        await watched.watcher.stop()
        #expect(await watched.watch.audit() == nil)
    }

    @Test("a suspend starts an audit")
    func suspend() async throws {
        let slept = Locked(Duration.zero)
        var hooks = WatcherHooks()
        hooks.suspendedTime = { slept.withLock { $0 } }
        let watched = try await WatchedTree("mkdir a", hooks: hooks)
        slept.withLock { $0 += .seconds(60) }
        await watched.watch.flush()
        // The suspend's audit was requested first and is answered first.
        #expect(await watched.watch.audit()?.isClean == true)
        #expect(watched.events.all.count { if case .audited = $0 { true } else { false } } == 2)
    }
}
