// Large files of a watched root: captured on their own, and less often than the rest.

import ArchiveFormat
import ArchiveStorage
import Dispatch
import FileIO
import Glibc
import Mementos
import Roots
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading

@testable import ArchiverKit
@testable import Capturing

/// The time limit only ends a test whose event never arrives.
@Suite("Large files of a watched root", .timeLimit(.minutes(60)), .blocking) struct WatchedLargeFileTests {
    /// Blocks callers of `pass` while it is closed.
    private final class Gate: Sendable {
        private let isClosed = Locked(false)
        private let reached = DispatchSemaphore(value: 0)
        private let opened = DispatchSemaphore(value: 0)

        func close() { isClosed.withLock { $0 = true } }

        func pass() {
            guard isClosed.withLock({ $0 }) else { return }
            reached.signal()
            opened.wait()
        }

        /// Waits until a caller is blocked.
        func waitForSomebody() async throws {
            let reached = reached
            try await onThread { reached.wait() }
        }

        func open() {
            isClosed.withLock { $0 = false }
            opened.signal()
        }
    }

    fileprivate static let smallest = 100_000

    /// Noise that is long enough for a large file.
    fileprivate static func noise(_ more: Int) -> [UInt8] {
        var random = SeededGenerator(seed: UInt64(more))
        return random.noise(smallest + more)
    }

    /// A sandbox with a large file, and settings that postpone it for an hour.
    private static func scene() throws -> (Sandbox, WatchSettings) {
        let sandbox = try Sandbox()
        try sandbox.root.write("large", noise(0))
        try sandbox.root.write("small", "first")
        let settings = WatchSettings(
            settle: .milliseconds(20), maxDelay: .milliseconds(300), auditInterval: .zero,
            largeFile: UInt64(smallest), largeFileDelay: .seconds(3600))
        return (sandbox, settings)
    }

    private static func more(in snapshot: ListedSnapshot, _ archive: Archive) throws -> Int {
        let entry = try #require(try archive.entry(at: .at("large"), in: snapshot))
        return Int(entry.size) - smallest
    }

    private static func small(in snapshot: ListedSnapshot, _ archive: Archive) throws -> String {
        guard case .inline(let bytes) = try archive.entry(at: .at("small"), in: snapshot)?.content else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func postponed(in snapshot: ListedSnapshot, _ archive: Archive) throws -> [RelativePath] {
        try archive.details(of: snapshot).problems.filter { $0.reason == .postponed }.map(\.path)
    }

    @Test("small files are captured while a large file is being read, and the snapshot lists the file as postponed")
    func beside() async throws {
        let (sandbox, settings) = try Self.scene()
        let (archive, gate) = (sandbox.archive, Gate())
        let watcher = try await Watcher(archive, roots: [sandbox.root.directory]) { options in
            options.settings = settings
            options.hooks.beforeReading = { _ in gate.pass() }
        }
        gate.close()
        try sandbox.root.write("large", Self.noise(1))
        try await gate.waitForSomebody()
        for text in ["second", "third"] {
            try sandbox.root.write("small", text)
            let snapshot = try await watcher.nextSnapshot()
            #expect(try Self.small(in: snapshot, archive) == text)
            #expect(try Self.more(in: snapshot, archive) == 0)
            #expect(try Self.postponed(in: snapshot, archive) == [.at("large")])
        }
        gate.open()
        let snapshot = try await watcher.nextSnapshot()
        #expect(try Self.more(in: snapshot, archive) == 1)
        #expect(try Self.small(in: snapshot, archive) == "third")
        #expect(try Self.postponed(in: snapshot, archive) == [])
        #expect(snapshot.changes == ChangeCounts(modified: 1))
        try await watcher.stop()
        #expect(!watcher.names.contains("problems") && !watcher.names.contains("error"), "\(watcher.seen)")
        try sandbox.expectCleanArchive()
    }

    @Test("only a large file that changes constantly waits; the barrier and the end capture it")
    func waiting() async throws {
        let (sandbox, settings) = try Self.scene()
        let archive = sandbox.archive
        let watcher = try await Watcher(archive, roots: [sandbox.root.directory]) { options in
            options.settings = settings
            options.hooks.readingTime = { _ in .seconds(100) }
        }
        // This watcher has not read it yet, so it does so immediately.
        try sandbox.root.write("large", Self.noise(1))
        let first = try await watcher.nextSnapshot()
        #expect(try Self.more(in: first, archive) == 1)
        try sandbox.root.write("large", Self.noise(2))
        let event = try await watcher.next { if case .largeFile = $0 { true } else { false } }
        guard case .largeFile(_, let file) = event else { return }
        let large = try RelativePath.at("large")
        #expect(file.path == large && file.readSeconds == 100 && file.intervalSeconds == 1000)
        try sandbox.root.write("small", "second")
        let snapshot = try await watcher.nextSnapshot()
        #expect(try Self.small(in: snapshot, archive) == "second" && Self.more(in: snapshot, archive) == 1)
        #expect(try Self.postponed(in: snapshot, archive) == [.at("large")])

        // Status does not wait for it, and lists it.
        let path = sandbox.root.directory
        let status = try await onThread { try archive.status(of: path) }
        #expect(status.isWell && status.roots.first?.watcher?.largeFiles.map(\.path) == [large])
        #expect(try Self.more(in: archive.snapshot(.latest), archive) == 1)

        try await watcher.service.settle()
        #expect(try Self.more(in: archive.snapshot(.latest), archive) == 2)
        #expect(try Self.postponed(in: archive.snapshot(.latest), archive) == [])
        try sandbox.root.write("large", Self.noise(3))
        try await watcher.stop()
        #expect(try Self.more(in: archive.snapshot(.latest), archive) == 3)
        #expect(watcher.names.count { $0 == "largeFile" } == 1)
        #expect(!watcher.names.contains("error"), "\(watcher.seen)")
    }

    @Test("a large file is captured after its longest delay, however long reading takes")
    func longestDelay() async throws {
        let (sandbox, settings) = try Self.scene()
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory]) { options in
            options.settings = settings
            options.settings.largeFileDelay = .milliseconds(400)
            options.hooks.readingTime = { _ in .seconds(100_000) }
        }
        for more in 1...4 {
            try sandbox.root.write("large", Self.noise(more))
            try await watcher.nextSnapshot { try Self.more(in: $0, sandbox.archive) == more }
        }
        try await watcher.stop()
    }

    @Test("sync and audit capture a postponed large file, and the audit does not count it as missed")
    func questions() async throws {
        let (sandbox, settings) = try Self.scene()
        let (archive, path) = (sandbox.archive, sandbox.root.directory)
        let watcher = try await Watcher(archive, roots: [path]) { options in
            options.settings = settings
            options.hooks.readingTime = { _ in .seconds(1000) }
        }
        try sandbox.root.write("large", Self.noise(1))
        try await watcher.nextSnapshot()
        try sandbox.root.write("large", Self.noise(2))
        let synced = try await onThread { try archive.sync(path) }
        #expect(try Self.more(in: synced, archive) == 2)
        try sandbox.root.write("large", Self.noise(3))
        try await watcher.next { if case .largeFile = $0 { true } else { false } }
        let audit = try await onThread { try archive.audit(path) }
        #expect(audit.found == 0)
        #expect(try Self.more(in: archive.snapshot(.latest), archive) == 3)
        try await watcher.stop()
    }

    @Test("a capture by another process is not reverted, and the file is captured again")
    func superseded() async throws {
        let (sandbox, settings) = try Self.scene()
        let (archive, gate) = (sandbox.archive, Gate())
        let watcher = try await Watcher(archive, roots: [sandbox.root.directory]) { options in
            options.settings = settings
            options.hooks.beforeReading = { _ in gate.pass() }
        }
        gate.close()
        try sandbox.root.write("large", Self.noise(1))
        try await gate.waitForSomebody()
        try sandbox.root.write("large", Self.noise(2))
        // An explicit capture includes all files.
        #expect(try Self.more(in: sandbox.capture(), archive) == 2)
        try sandbox.root.write("large", Self.noise(3))
        gate.open()
        try await watcher.service.settle()
        #expect(try Self.more(in: archive.snapshot(.latest), archive) == 3)
        try sandbox.root.remove("large")
        try await watcher.service.settle()
        #expect(try archive.entry(at: .at("large"), in: archive.snapshot(.latest)) == nil)
        try await watcher.stop()
        #expect(!watcher.names.contains("error"), "\(watcher.seen)")
        try sandbox.expectCleanArchive()
    }

    /// A change of a large file.
    enum Fate: String, CaseIterable, CustomTestStringConvertible {
        case changed, replaced, removed, renamed, exchanged, emptied, linked
        case replacedAndLinked = "replaced and linked"
        case linkedAndUnlinked = "linked and unlinked"
        case turnedIntoDirectory = "turned into a directory"
        case movedWithDirectory = "moved with its directory"
        case leftOut = "left out"
        case chmod = "given other permissions"

        var testDescription: String { rawValue }

        /// Applies it to `dir/large`; `other` is a large file, and `dir/new` does not exist.
        func strike(_ root: Files, outside: Files) throws {
            switch self {
            case .changed: try root.write("dir/large", WatchedLargeFileTests.noise(7))
            case .replaced: try replace(root, outside)
            case .removed: try root.remove("dir/large")
            case .renamed: try root.rename("dir/large", to: "dir/new")
            case .exchanged: try root.exchange("dir/large", "other")
            case .emptied: try root.setSize("dir/large", 0)
            case .linked: try root.makeLink("dir/new", to: "dir/large")
            case .replacedAndLinked:
                try replace(root, outside)
                try root.makeLink("dir/new", to: "dir/large")
            case .linkedAndUnlinked:
                try root.makeLink("dir/new", to: "dir/large")
                try root.remove("dir/large")
            case .turnedIntoDirectory:
                try root.remove("dir/large")
                try root.makeDirectory("dir/large/in")
            case .movedWithDirectory: try root.rename("dir", to: "moved")
            case .leftOut: try root.write(".archiverignore", "large\n")
            case .chmod: try root.setPermissions("dir/large", 0o600)
            }
        }

        private func replace(_ root: Files, _ outside: Files) throws {
            try outside.write("next", WatchedLargeFileTests.noise(8))
            try outside.rename("next", to: root.full("dir/large"))
        }
    }

    /// When the change happens.
    enum Moment: String, CaseIterable, CustomTestStringConvertible {
        case waiting = "while it waits"
        case reading = "before it is read"
        case read = "after it was read, before the commit"

        var testDescription: String { rawValue }
    }

    /// Returns a watcher of a root with `dir/large`, which has changed and is at `moment`.
    private static func watched(_ moment: Moment, _ gate: Gate) async throws -> (Sandbox, Watcher) {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("dir")
        try sandbox.root.write("dir/large", noise(0))
        try sandbox.root.write("other", noise(1))
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory]) { options in
            options.settings.largeFile = UInt64(smallest)
            options.settings.largeFileDelay = .seconds(3600)
            options.timeScale = 10
            options.hooks.readingTime = { _ in .seconds(100) }
            if moment == .reading { options.hooks.beforeReading = { _ in gate.pass() } }
            if moment == .read { options.hooks.afterReading = { _ in gate.pass() } }
        }
        if moment == .waiting {
            // A file that was just read is postponed the next time.
            try sandbox.root.write("dir/large", noise(2))
            try await watcher.nextSnapshot()
            try sandbox.root.write("dir/large", noise(3))
            try await watcher.next { if case .largeFile = $0 { true } else { false } }
        } else {
            gate.close()
            try sandbox.root.write("dir/large", noise(3))
            try await gate.waitForSomebody()
        }
        return (sandbox, watcher)
    }

    @Test(
        "after the barrier the snapshot equals the tree, whatever happens to a large file", arguments: Moment.allCases,
        Fate.allCases)
    func barrier(_ moment: Moment, _ fate: Fate) async throws {
        let gate = Gate()
        let (sandbox, watcher) = try await Self.watched(moment, gate)
        try fate.strike(sandbox.root, outside: sandbox.base)
        // Everything else is captured before the large file is read completely.
        try sandbox.root.write("small", "x")
        try await watcher.nextSnapshot { try sandbox.archive.entry(at: .at("small"), in: $0) != nil }
        if moment != .waiting { gate.open() }
        try await watcher.service.settle()
        try Self.expect(sandbox, fate, "after the barrier")
        try await watcher.stop()
        try Self.expect(sandbox, fate, "at the end")
        #expect(!watcher.names.contains("error"), "\(watcher.seen)")
        try sandbox.expectCleanArchive()
    }

    @Test(
        "the last capture equals the tree, whatever happens to a large file", arguments: Moment.allCases,
        Fate.allCases)
    func end(_ moment: Moment, _ fate: Fate) async throws {
        let gate = Gate()
        let (sandbox, watcher) = try await Self.watched(moment, gate)
        try fate.strike(sandbox.root, outside: sandbox.base)
        watcher.service.stop()
        if moment != .waiting { gate.open() }
        try await watcher.stop()
        try Self.expect(sandbox, fate, "at the end")
        #expect(!watcher.names.contains("error"), "\(watcher.seen)")
        try sandbox.expectCleanArchive()
    }

    @Test("a replaced large file that gets another name is captured with both names", arguments: Moment.allCases)
    func linkedLater(_ moment: Moment) async throws {
        let gate = Gate()
        let (sandbox, watcher) = try await Self.watched(moment, gate)
        try Fate.replaced.strike(sandbox.root, outside: sandbox.base)
        // The replacement was visited, but the archive still has the old file at the path.
        try sandbox.root.write("small", "x")
        try await watcher.nextSnapshot { try sandbox.archive.entry(at: .at("small"), in: $0) != nil }
        try Fate.linked.strike(sandbox.root, outside: sandbox.base)
        let both = try await watcher.nextSnapshot { try sandbox.archive.entry(at: .at("dir/new"), in: $0) != nil }
        let names = try ["dir/large", "dir/new"].map { try sandbox.archive.entry(at: .at($0), in: both)?.linkGroup }
        #expect(names[0] != nil && names[0] == names[1], "\(names)")
        if moment != .waiting { gate.open() }
        try await watcher.service.settle()
        try Self.expect(sandbox, .linked, "after the barrier")
        try await watcher.stop()
        #expect(!watcher.names.contains("error"), "\(watcher.seen)")
        try sandbox.expectCleanArchive()
    }

    private static func expect(_ sandbox: Sandbox, _ fate: Fate, _ note: String) throws {
        let latest = try sandbox.archive.snapshot(.latest)
        #expect(try postponed(in: latest, sandbox.archive) == [])
        if fate == .leftOut {
            #expect(try sandbox.archive.entry(at: .at("dir/large"), in: latest) == nil)
            return
        }
        let listing = try TreeListing(of: sandbox.root.directory)
        try sandbox.restored(latest).expect(equals: listing, "\(note)")
    }

    /// Maps the file at `path` into memory for writing.
    private static func map(_ path: FilePath) throws -> UnsafeMutableRawPointer {
        let file = try Descriptor.open(path, O_RDWR)
        let map = mmap(nil, smallest, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0)
        return try #require(map == MAP_FAILED ? nil : map)
    }

    @Test("the last capture includes writes through a memory map to a postponed large file")
    func mapped() async throws {
        let (sandbox, settings) = try Self.scene()
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory]) { options in
            options.settings = settings
            options.hooks.readingTime = { _ in .seconds(100_000) }
        }
        // A file that was just read on its own is postponed the next time.
        try sandbox.root.write("large", Self.noise(1))
        try await watcher.nextSnapshot()
        let map = try Self.map(sandbox.root.directory.appending("large"))
        map.storeBytes(of: 1, as: UInt8.self)
        // An open mapping causes no event; the audit finds the change.
        let (archive, path) = (sandbox.archive, sandbox.root.directory)
        #expect(try await onThread { try archive.audit(path) }.found == 1)
        // This does not change the file's times; the event arrives when the mapping ends.
        map.storeBytes(of: 2, as: UInt8.self)
        munmap(map, Self.smallest)
        try await watcher.next { if case .largeFile = $0 { true } else { false } }
        try sandbox.root.write("small", "third")
        try await watcher.nextSnapshot { try Self.small(in: $0, sandbox.archive) == "third" }
        try sandbox.root.write("small", "fourth")
        try await watcher.nextSnapshot { try Self.small(in: $0, sandbox.archive) == "fourth" }
        try await watcher.stop()
        let target = sandbox.base.directory.appending("restored")
        _ = try await sandbox.archive.restore(sandbox.archive.snapshot(.latest), RestoreOptions(target: target))
        #expect(try Files(target).read("large").first == 2)
    }

    @Test("a file that could not be committed on its own waits until it is visited")
    func leftForLater() throws {
        let (sandbox, settings) = try Self.scene()
        let files = LargeFiles(LargeFileRule(settings))
        let path = try RelativePath.at("large")
        let root = try RootDirectory.open(sandbox.root.directory)
        let status = try #require(try FileStatus.read(CName("large".utf8), in: root.directory.descriptor))
        let old = Entry(unread: status, at: path)
        #expect(files.postpones(path, status, old))
        #expect(files.begin(all: false, passed: []) == path)
        #expect(files.waiting.map(\.path) == [path])
        files.end(path, .superseded, began: .now, took: .zero, retryAfter: .seconds(1))
        #expect(files.waiting.map(\.path) == [path])
        #expect(files.begin(all: true, passed: []) == nil)
    }

    /// The audit is for a change without an event: a write through a removed name of a file that has another one.
    @Test("if every file is large, the barrier and an audit make the snapshot equal the tree")
    func random() async throws {
        let sandbox = try Sandbox()
        let random = SeededGenerator("every file is large")
        try sandbox.root.makeDirectory("tree")
        var edits = RandomEdits(Files(sandbox.root.full("tree")), random)
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory]) { options in
            options.settings.largeFile = 1
            options.timeScale = 10
            options.hooks.readingTime = { _ in .milliseconds(50) }
        }
        for _ in 0..<25 {
            let log = try (0..<10).map { _ in try edits.edit() }
            try await watcher.service.settle()
            _ = try await watcher.service.audit()
            try Self.expectLatest(sandbox, "after the barrier, after \(log)")
        }
        try await watcher.stop()
        #expect(!watcher.names.contains("error"), "\(watcher.seen)")
        try Self.expectLatest(sandbox, "at the end")
        try sandbox.expectCleanArchive()
    }

    /// Compares everything except directories' times, which alone make no snapshot.
    private static func expectLatest(_ sandbox: Sandbox, _ note: String) throws {
        let listing = try TreeListing(of: sandbox.root.directory).withoutDirectoryTimes
        let found = try sandbox.restored(sandbox.archive.snapshot(.latest)).withoutDirectoryTimes
        found.expect(equals: listing, note)
    }

    @Test("reading takes at most a tenth of the time, within the longest delay")
    func rule() {
        var settings = WatchSettings(largeFile: 1, largeFileDelay: .seconds(60))
        let rule = LargeFileRule(settings)
        let start = ContinuousClock.now
        #expect(rule.due(changed: start, last: nil) == start)
        for (took, changed, due) in [
            (4.0, 0.0, 36.0), (4, 30, 36), (4, 50, 50), (20, 0, 60), (20, 100, 100), (20, 50, 60), (20, 200, 200),
        ] {
            let last = (end: start, took: Duration.seconds(took))
            #expect(
                rule.due(changed: start + .seconds(changed), last: last) == start + .seconds(due), "\(took) \(changed)")
        }
        settings.maxDelay = .seconds(600)
        #expect(LargeFileRule(settings).longestDelay == .seconds(600))
        settings.largeFile = 0
        #expect(LargeFileRule(settings).smallest == nil)
    }
}
