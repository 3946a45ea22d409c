// A temporary tree with a watcher on it: what a live test works with.

import FileIO
import FileWatching
import Glibc
import Mementos
import Synchronization
import SystemPackage
import Testing

/// A watched temporary tree whose batches are compared with what really changed.
final class WatchedTree: Sendable {
    let tree: TemporaryTree
    let watcher: TreeWatcher
    let watch: RootWatch
    let stats: WatchStats
    let events: Events
    private let subscription: Subscription
    private let inotify: Mutex<CInt>
    private let seen: Mutex<Listing>

    /// What the watcher told about itself.
    final class Events: Sendable {
        private let list = Mutex<[WatchEvent]>([])
        var all: [WatchEvent] { list.withLock { $0 } }
        func add(_ event: WatchEvent) { list.withLock { $0.append(event) } }
    }

    /// Runs `setup` and watches the tree.
    init(
        _ setup: String = "", tree: TemporaryTree? = nil, excluding: [String] = [],
        timing: WatchTiming = WatchTiming(), hooks: WatcherHooks = WatcherHooks()
    ) async throws {
        let tree = try tree ?? TemporaryTree()
        try tree.run(setup)
        let opened = Opened()
        var hooks = hooks
        hooks.opened = { number in opened.number.withLock { $0 = number } }
        let watcher = try TreeWatcher(hooks: hooks)
        let events = Events()
        let identities = try excluding.map { name in
            var status = stat()
            guard lstat(tree.root + "/" + name, &status) == 0 else { throw ScriptError(line: name, code: errno) }
            return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        }
        let watch = watcher.watch(
            FilePath(tree.root), excluding: Set(identities), timing: timing)
        subscription = watch.events.subscribe { events.add($0) }
        stats = try await watch.arm()
        self.tree = tree
        self.watcher = watcher
        self.watch = watch
        self.events = events
        inotify = Mutex(opened.number.withLock { $0 })
        seen = Mutex(Listing(of: tree.root))
    }

    private final class Opened: Sendable {
        let number = Mutex<CInt>(-1)
    }

    /// Runs a script.
    func run(_ script: String) throws { try tree.run(script) }

    /// Flushes and takes the batch.
    func batch() async throws -> ChangeBatch {
        await watch.flush()
        return try #require(await watch.nextBatch())
    }

    /// Makes the watcher read its events and look at its clock, but does not ask for this root's batch.
    func takeInEvents() async throws {
        let other = watcher.watch(FilePath(tree.base + "/outside"))
        _ = try await other.arm()
        await other.flush()
    }

    /// Takes the batch and compares it with what changed since the last time.
    @discardableResult
    func check(_ comment: String = "", sourceLocation: SourceLocation = #_sourceLocation) async throws -> ChangeBatch {
        let batch = try await batch()
        let now = Listing(of: tree.root)
        let missed = seen.withLock { seen in
            defer { seen = now }
            return Listing.uncovered(from: seen, to: now, by: batch.ranges)
        }
        let explanation = "\(comment) missed \(missed) in \(batch.ranges)"
        #expect(missed.isEmpty, Comment(rawValue: explanation), sourceLocation: sourceLocation)
        return batch
    }

    /// How many watches the kernel holds for the watcher (proc(5), fdinfo).
    var kernelWatches: Int {
        let path = "/proc/self/fdinfo/\(inotify.withLock { $0 })"
        guard let file = fopen(path, "r") else { return -1 }
        defer { fclose(file) }
        var count = 0
        var line = [CChar](repeating: 0, count: 512)
        while fgets(&line, CInt(line.count), file) != nil {
            if line.starts(with: "inotify".utf8.map { CChar(bitPattern: $0) }) { count += 1 }
        }
        return count
    }

    /// How many directories there are now, the root among them.
    var directories: Int { Listing(of: tree.root).directories }
}
