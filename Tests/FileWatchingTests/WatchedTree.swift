// A temporary tree with a watcher on it, for live tests.

import Exclusions
import FileIO
import FileWatching
import Glibc
import Mementos
import SystemPackage
import Testing
import Threading

/// A watched temporary tree whose batches are compared with the actual changes.
final class WatchedTree: Sendable {
    let tree: TemporaryTree
    let watcher: TreeWatcher
    let watch: TreeWatch
    let stats: WatchStats
    let events: Events
    private let slot: WatcherSlot
    private let subscription: Subscription
    private let opened: Opened
    private let seen: Locked<Listing>

    /// The events that the watcher sent.
    final class Events: Sendable {
        private let list = Locked<[WatchEvent]>([])
        var all: [WatchEvent] { list.withLock { $0 } }
        func add(_ event: WatchEvent) { list.withLock { $0.append(event) } }
    }

    /// Runs `setup` and watches the tree.
    init(
        _ setup: String = "", tree: TemporaryTree? = nil, excluding: [String] = [],
        rules: ExclusionRules = ExclusionRules(),
        timing: WatchTiming = WatchTiming(), backend: WatchBackend = .auto, hooks: WatcherHooks = WatcherHooks()
    ) async throws {
        let slot = await WatcherSlot.take()
        let tree = try tree ?? TemporaryTree()
        try tree.run(setup)
        let opened = Opened()
        var hooks = hooks
        hooks.opened = { backend, number in opened.numbers.withLock { $0[backend] = number } }
        let watcher = try TreeWatcher(backend: backend, hooks: hooks)
        let events = Events()
        let identities = try excluding.map { name in
            var status = stat()
            guard lstat(tree.root + "/" + name, &status) == 0 else { throw ScriptError(line: name, code: errno) }
            return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        }
        let watch = watcher.watch(
            FilePath(tree.root), excluding: Set(identities), rules: rules, timing: timing)
        subscription = watch.events.subscribe { events.add($0) }
        stats = try await watch.arm()
        self.slot = slot
        self.tree = tree
        self.watcher = watcher
        self.watch = watch
        self.events = events
        self.opened = opened
        seen = Locked(Listing(of: tree.root))
    }

    private final class Opened: Sendable {
        let numbers = Locked<[WatchBackend: CInt]>([:])
    }

    /// Runs a script.
    func run(_ script: String) throws { try tree.run(script) }

    /// Writes a file whose text may contain blanks.
    func write(_ text: String, to name: String) throws {
        try tree.write(text, to: tree.root + "/" + name, O_TRUNC | O_CREAT, name)
    }

    /// Flushes and takes the batch.
    func batch() async throws -> ChangeBatch {
        await watch.flush()
        return try #require(await watch.nextBatch())
    }

    /// Makes the watcher read its events and its clock, without requesting this root's batch.
    func takeInEvents() async throws {
        let other = watcher.watch(FilePath(tree.base + "/outside"))
        _ = try await other.arm()
        await other.flush()
    }

    /// Takes the batch and compares it with the changes since the last call.
    @discardableResult
    func check(_ comment: String = "", sourceLocation: SourceLocation = #_sourceLocation) async throws -> ChangeBatch {
        let batch = try await batch()
        let now = Listing(of: tree.root)
        let changed = tree.takeChanged()
        let missed = seen.withLock { seen in
            defer { seen = now }
            return Listing.uncovered(from: seen, to: now, by: batch.ranges, changed)
        }
        let explanation = "\(comment) missed \(missed) in \(batch.ranges)"
        #expect(missed.isEmpty, Comment(rawValue: explanation), sourceLocation: sourceLocation)
        return batch
    }

    /// The number of the watcher's watches in the kernel, except for the directories above the root.
    ///
    /// Of fanotify's marks, only those on directories in the tree count.
    var kernelWatches: Int { watchedInodes(.inotify).filter { !inodesAbove.contains($0) }.count + markedDirectories }

    /// The number of the watcher's marks in the kernel, except for the directories above the root.
    var kernelMarks: Int { watchedInodes(.fanotify).filter { !inodesAbove.contains($0) }.count }

    /// Returns the number of marks once it is at most `count`, or after a minute.
    ///
    /// The mark of a removed directory ends with the directory's last open descriptor. If another test is starting a
    /// process, that process has copies of this one's descriptors until exec.
    func kernelMarks(downTo count: Int) -> Int {
        let deadline = ContinuousClock.now + .seconds(60)
        while kernelMarks > count, ContinuousClock.now < deadline { sched_yield() }
        return kernelMarks
    }

    private var inodesAbove: [UInt64] {
        sequence(first: FilePath(tree.root).removingLastComponent()) {
            $0.components.isEmpty ? nil : $0.removingLastComponent()
        }.compactMap { path in
            var status = stat()
            return lstat(path.string, &status) == 0 ? UInt64(status.st_ino) : nil
        }
    }

    /// The number of marked directories in the tree; directories that were moved away are not counted.
    private var markedDirectories: Int {
        let marked = Set(watchedInodes(.fanotify))
        if marked.isEmpty { return 0 }
        return Listing(of: tree.root).facts.values.count { $0.isDirectory && marked.contains($0.inode) }
    }

    /// The number of directories in the tree that some backend watches.
    var watchedDirectories: Int {
        let watched = Set(watchedInodes(.inotify) + watchedInodes(.fanotify))
        return Listing(of: tree.root).facts.values.count { $0.isDirectory && watched.contains($0.inode) }
    }

    /// The inodes that a backend watches, as the kernel reports them (proc(5), fdinfo).
    private func watchedInodes(_ backend: WatchBackend) -> [UInt64] {
        guard let number = opened.numbers.withLock({ $0[backend] }) else { return [] }
        guard let file = fopen("/proc/self/fdinfo/\(number)", "r") else { return [] }
        defer { fclose(file) }
        var inodes = [UInt64]()
        var line = [CChar](repeating: 0, count: 512)
        while fgets(&line, CInt(line.count), file) != nil {
            let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                .split(separator: " ")
            guard words.first == "\(backend.rawValue)" else { continue }
            let inode = words.first { $0.hasPrefix("ino:") }
            if let inode = inode.flatMap({ UInt64($0.dropFirst(4), radix: 16) }) { inodes.append(inode) }
        }
        return inodes
    }

    /// The current number of directories, including the root.
    var directories: Int { Listing(of: tree.root).directories }
}

extension WatchBackend {
    /// The backends that report changes and are available on this machine.
    static let reporting: [WatchBackend] = {
        let hasFanotify = (try? TreeWatcher(backend: .fanotify)) != nil
        return hasFanotify ? [.inotify, .fanotify] : [.inotify]
    }()

    /// All backends available on this machine.
    static let available: [WatchBackend] = reporting + [.poll]
}
