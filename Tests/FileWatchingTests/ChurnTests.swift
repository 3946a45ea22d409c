// Random operations with a printed seed, compared with the actual tree; also with injected faults.

import FileIO
import FileWatching
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading

@Suite(.blocking) struct ChurnTests {
    @Test(
        "batches cover every random change",
        arguments: WatchBackend.reporting, (isThorough ? [1, 2, 3] : []) + [UInt64.random(in: 4...999_999)])
    func random(_ backend: WatchBackend, seed: UInt64) async throws {
        let watched = try await WatchedTree(backend: backend)
        try await churn(watched, seed: seed, operations: 1_500) {
            #expect(watched.kernelWatches == watched.directories, "seed \(seed)")
        }
    }

    /// Adding a watch fails at random while the tree changes.
    @Test(
        "batches cover every change when watches run out",
        arguments: WatchBackend.reporting, (isThorough ? [11] : []) + [UInt64.random(in: 12...999_999)])
    func shortage(_ backend: WatchBackend, seed: UInt64) async throws {
        let random = Locked(SeededGenerator(seed: seed))
        var hooks = WatcherHooks()
        hooks.watchFailure = { _, path in
            let isUnlucky = random.withLock { $0.next() % 3 == 0 }
            return isUnlucky && !path.isRoot ? .noSpace : nil
        }
        let watched = try await WatchedTree(backend: backend, hooks: hooks)
        try await churn(watched, seed: seed, operations: 800) {}
    }

    /// fanotify watches directories beyond inotify's limit, and directories move between the two.
    @Test(
        "batches cover every change when two backends share the root",
        .enabled(if: WatchBackend.reporting.contains(.fanotify)),
        arguments: (isThorough ? [41, 42] : []) + [UInt64.random(in: 43...999_999)])
    func twoBackends(seed: UInt64) async throws {
        let random = Locked(SeededGenerator(seed: seed))
        var hooks = WatcherHooks()
        hooks.watchFailure = { backend, _ in
            backend == .inotify && random.withLock { $0.next() % 2 == 0 } ? .noSpace : nil
        }
        let watched = try await WatchedTree(hooks: hooks)
        try await churn(watched, seed: seed, operations: 1_500) {
            #expect(watched.watchedDirectories == watched.directories, "seed \(seed)")
        }
    }

    /// The tree changes while batches are taken when they are due, without any synchronization.
    @Test(
        "a caller that scans only the ranges of the batches sees every change",
        arguments: WatchBackend.reporting, [UInt64(31), 32, .random(in: 33...999_999)])
    func concurrent(_ backend: WatchBackend, seed: UInt64) async throws {
        // Every other seed produces few batches with hundreds of changes each, as on a busy machine.
        let timing =
            seed.isMultiple(of: 2)
            ? WatchTiming(settle: .milliseconds(100), maxDelay: .milliseconds(200))
            : WatchTiming(settle: .microseconds(300), maxDelay: .milliseconds(3))
        let watched = try await WatchedTree(timing: timing, backend: backend)
        let tree = watched.tree
        async let changes: Void = {
            var churn = Churn(seed: seed, hasHardLinks: false)
            for _ in 1...4_000 { try? tree.run(churn.nextLine()) }
            try tree.run("write end 1")
        }()
        var known = Listing(of: tree.root)
        var batches = 0
        while known.facts["end"] == nil {
            known.update(try #require(await watched.watch.nextBatch()).ranges, of: tree.root)
            batches += 1
        }
        try await changes
        known.update(try await watched.batch().ranges, of: tree.root)
        let differences = known.differences(from: Listing(of: tree.root))
        #expect(differences.isEmpty, "seed \(seed), \(batches) batches")
        #expect(watched.kernelWatches == watched.directories, "seed \(seed)")
    }

    /// A batch may name `c/ab` after the directory `c` was replaced by a link to another directory.
    @Test("the test's listing does not follow symbolic links")
    func links() throws {
        let tree = try TemporaryTree()
        try tree.run("mkdir -p ab/ab\nmkdir -p c/ab")
        var known = Listing(of: tree.root)
        try tree.run("rm -r c\nln -s ab c")
        known.update([.entry("c"), .entry("c/ab")], of: tree.root)
        known.update([.entry(.root)], of: tree.root)
        #expect(known.differences(from: Listing(of: tree.root)) == [])
    }

    private func churn(
        _ watched: WatchedTree, seed: UInt64, operations: Int, afterEach: () -> Void
    ) async throws {
        var churn = Churn(seed: seed)
        var history = [String]()
        for number in 1...operations {
            let line = churn.nextLine()
            // Some lines are impossible in the current tree; they fail and change nothing.
            if (try? watched.run(line)) != nil { history.append(line) }
            if number % churn.pause == 0 {
                try await watched.check("seed \(seed): \(history.suffix(40).joined(separator: "; "))")
                afterEach()
                history = []
            }
        }
        try await watched.check("seed \(seed)")
    }
}

/// Generates random lines of a script with a small set of names, so that they often collide.
struct Churn {
    private var random: SeededGenerator
    /// The number of operations between two comparisons; changes with every line.
    private(set) var pause = 7

    private let hasHardLinks: Bool

    init(seed: UInt64, hasHardLinks: Bool = true) {
        random = SeededGenerator(seed: seed)
        self.hasHardLinks = hasHardLinks
    }

    mutating func nextLine() -> String {
        pause = Int.random(in: 1...40, using: &random)
        let (path, other) = (nextPath(), nextPath())
        switch Int.random(in: 0..<20, using: &random) {
        case 0...2: return "mkdir \(path)"
        case 3: return "mkdir -p \(path)/\(other)"
        case 4...6: return "write \(path) \(String(repeating: "x", count: .random(in: 1...9, using: &random)))"
        case 7: return "append \(path) y"
        case 8, 9: return "rm \(path)"
        case 10: return "rm -r \(path)"
        case 11...13: return "mv \(path) \(other)"
        case 14: return "exchange \(path) \(other)"
        case 15: return "mv \(path) ../outside/\(name())"
        case 16: return "mv ../outside/\(name()) \(path)"
        case 17: return "ln -s \(other) \(path)"
        case 18 where hasHardLinks: return "ln \(path) \(other)"
        default: return "chmod 7\(Int.random(in: 0...7, using: &random))5 \(path)"
        }
    }

    private mutating func nextPath() -> String {
        (0..<Int.random(in: 1...4, using: &random)).map { _ in name() }.joined(separator: "/")
    }

    private mutating func name() -> String { ["a", "b", "c", "ab", "d"].randomElement(using: &random) ?? "a" }
}
