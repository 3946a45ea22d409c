// Batches: their contents, when they are due, and how waiting for them ends.

import FileIO
import Glibc
import TestTraits
import Testing

@testable import FileWatching

@Suite(.blocking) struct BatchTests {
    @Test("a batch contains the changed paths and no others")
    func precision() async throws {
        let watched = try await WatchedTree("mkdir -p a/b\nwrite a/b/f 1\nwrite a/g 1")
        try watched.run("write a/b/f 22")
        #expect(try await watched.check().ranges == [.entry("a/b/f")])
        try watched.run("rm a/g")
        #expect(try await watched.check().ranges == [.entry("a"), .entry("a/g")])
        try watched.run("mkdir a/n")
        #expect(try await watched.check().ranges == [.entry("a"), .subtree("a/n")])
        try watched.run("mv a c")
        #expect(try await watched.check().ranges == [.entry(.root), .entry("a"), .subtree("c")])
        #expect(try await watched.check().isEmpty)
    }

    @Test("reading files is not a change", arguments: WatchBackend.reporting)
    func reading(_ backend: WatchBackend) async throws {
        let watched = try await WatchedTree("mkdir -p a/b\nwrite a/b/f 1", backend: backend)
        _ = Listing(of: watched.tree.root)
        let file = try #require(fopen(watched.tree.root + "/a/b/f", "r"))
        _ = fgetc(file)
        fclose(file)
        #expect(try await watched.batch().isEmpty)
    }

    @Test("many changed names in one directory are reported as its children", arguments: WatchBackend.reporting)
    func manyNames(_ backend: WatchBackend) async throws {
        let watched = try await WatchedTree("mkdir -p d/sub", backend: backend)
        try watched.run("each 1000 write d/f% 1\nwrite d/sub/g 1")
        #expect(try await watched.check().ranges == [.children("d"), .entry("d/sub/g")])
    }

    @Test("a flush waits until new directories are watched", arguments: WatchBackend.reporting)
    func flush(_ backend: WatchBackend) async throws {
        let gate = ReadingGate()
        let watched = try await WatchedTree(backend: backend, hooks: gate.hooks)
        let chain = (1...400).map(String.init).joined(separator: "/")
        gate.close()
        try watched.run("mkdir -p \(chain)")
        gate.open()
        try await watched.check()
        #expect(watched.kernelWatches == 401)
        try watched.run("write \(chain)/f 1")
        try await watched.check()
    }

    @Test("a batch is returned without a flush when it is due", arguments: WatchBackend.reporting)
    func due(_ backend: WatchBackend) async throws {
        let watched = try await WatchedTree(timing: WatchTiming(settle: .milliseconds(1)), backend: backend)
        async let next = watched.watch.nextBatch()
        try watched.run("write f 1")
        let batch = try #require(await next)
        // The file's creation and its content may come in two batches.
        #expect(batch.ranges.contains(.entry("f")))
        #expect(batch.firstChange != nil)
    }

    @Test(
        "a batch waits until the root is quiet, but not longer than the maximum delay",
        arguments: WatchBackend.reporting)
    func maxDelay(_ backend: WatchBackend) async throws {
        let clock = ManualClock()
        var hooks = WatcherHooks()
        hooks.now = { clock.now }
        let watched = try await WatchedTree(backend: backend, hooks: hooks)
        async let next = watched.watch.nextBatch()
        for round in 1...3 {
            try watched.run("write f\(round) 1")
            try await watched.takeInEvents()
            clock.advance(by: round < 3 ? .milliseconds(99) : .milliseconds(100))
        }
        try await watched.takeInEvents()
        #expect(await next?.ranges == [.entry(.root), .entry("f1"), .entry("f2"), .entry("f3")])
    }

    @Test("ranges put back are in the next batch")
    func putBack() async throws {
        let watched = try await WatchedTree("mkdir d", timing: WatchTiming(settle: .zero))
        watched.watch.markDirty([.entry("f"), .subtree("d"), .entry("d/g")])
        #expect(await watched.watch.nextBatch()?.ranges == [.subtree("d"), .entry("f")])
    }

    @Test("stopping the watcher ends the wait for a batch")
    func stopping() async throws {
        let watched = try await WatchedTree()
        async let next = watched.watch.nextBatch()
        await watched.watcher.stop()
        #expect(await next == nil)
        #expect(await watched.watch.nextBatch() == nil)
        await watched.watch.flush()
        await #expect(throws: FileError.self) { try await watched.watch.arm() }
    }

    @Test("requests after the end of the watcher are answered", .timeLimit(.minutes(60)))
    func lateRequests() async throws {
        let mailbox = try Mailbox()
        let hooks = WatcherHooks()
        let loop = WatchLoop(try EventSources(.auto, hooks: hooks), mailbox, hooks)
        mailbox.post(.stop(nil))
        async let flush = withCheckedContinuation { mailbox.post(.flush(1, $0)) }
        async let status = withCheckedContinuation { mailbox.post(.status(1, $0)) }
        while mailbox.count < 3 { await Task.yield() }
        loop.run()
        #expect(await flush == nil)
        #expect(await status == nil)
    }

    @Test("cancelling ends the wait and does not consume a batch", arguments: WatchBackend.reporting)
    func cancelling(_ backend: WatchBackend) async throws {
        let watched = try await WatchedTree(backend: backend)
        let watch = watched.watch
        let task = Task { await watch.nextBatch() }
        task.cancel()
        #expect(await task.value == nil)
        // The cancelled wait does not consume a batch.
        try watched.run("write f 1")
        #expect(try await watched.check().ranges == [.entry(.root), .entry("f")])
    }

    @Test("a directory with a path longer than PATH_MAX is watched", arguments: WatchBackend.reporting)
    func longPath(_ backend: WatchBackend) async throws {
        let tree = try TemporaryTree()
        let name = String(repeating: "n", count: 200)
        let depth = 40
        try tree.makeChain(of: name, depth: depth)
        let watched = try await WatchedTree(tree: tree, backend: backend)
        #expect(watched.stats.watchedDirectories == depth + 1)
        try tree.makeChain(of: name, depth: depth, file: "f")
        let path = Array(repeating: name, count: depth).joined(separator: "/")
        let directory = RelativePath(unchecked: Array(path.utf8))
        #expect(try await watched.batch().ranges == [.entry(directory), .entry(directory.appending("f".utf8))])
    }

    @Test("no file of the root is open while the watcher is idle", arguments: WatchBackend.reporting)
    func openFiles(_ backend: WatchBackend) async throws {
        let watched = try await WatchedTree("mkdir -p a/b\nmkdir c", backend: backend)
        try watched.run("mkdir c/d")
        _ = try await watched.batch()
        let open = OpenFiles.targets.filter { $0.hasPrefix(watched.tree.root) }
        #expect(open.isEmpty)
    }
}

/// The files that this process has open.
enum OpenFiles {
    static var targets: [String] {
        (0..<1_024).compactMap { number in
            var target = [CChar](repeating: 0, count: 4_096)
            let length = readlink("/proc/self/fd/\(number)", &target, target.count)
            if length <= 0 { return nil }
            return String(decoding: target.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}
