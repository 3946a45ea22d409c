// The running watch service: tests wait for its events, and compare its snapshots with the tree.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Glibc
import Mementos
import Roots
import SystemPackage
import TestSupport
import TestTraits
import Testing

/// The time limit only ends a test whose event never arrives.
@Suite(.timeLimit(.minutes(60)), .blocking) struct WatchServiceTests {
    /// Stops the service and expects the latest snapshot to be the tree.
    private func expectCaptured(
        _ watcher: Watcher, _ sandbox: Sandbox, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await watcher.stop()
        #expect(!watcher.names.contains("error"), "\(watcher.seen)", sourceLocation: sourceLocation)
        let listing = try TreeListing(of: sandbox.root.directory)
        let latest = try sandbox.archive.snapshot(.latest)
        let restored = try sandbox.restored(latest, sourceLocation: sourceLocation)
        restored.expect(equals: listing, "the last snapshot", sourceLocation: sourceLocation)
    }

    @Test("an edit makes a snapshot") func edit() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("d")
        try sandbox.root.write("d/file", "before")
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        #expect(watcher.names == ["starting", "watching"])
        #expect(try sandbox.archive.snapshots().count == 1)
        try sandbox.root.write("d/file", "after")
        let snapshot = try await watcher.nextSnapshot()
        #expect(snapshot.cause == .watch)
        let listing = try TreeListing(of: sandbox.root.directory)
        try sandbox.restored(snapshot).expect(equals: listing, "the snapshot")
        try await expectCaptured(watcher, sandbox)
        #expect(watcher.names == ["starting", "watching", "snapshot", "stopped"])
    }

    @Test("a service that has ended is released, with everything that it had open") func released() async throws {
        let sandbox = try Sandbox()
        weak var service: WatchService?
        do {
            let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
            service = watcher.service
            try await watcher.stop()
        }
        // Its last threads may still be ending.
        let end = ContinuousClock.now + .seconds(60)
        while service != nil, .now < end { await Task.yield() }
        #expect(service == nil)
    }

    @Test("settling right after the start waits until every root is captured") func settlingAtTheStart() async throws {
        let sandbox = try Sandbox()
        let roots = ["a", "b", "c"].map { sandbox.base.directory.appending($0) }
        for root in roots {
            try sandbox.base.makeDirectory(FilePath(root.lastComponent?.string ?? ""))
            try Files(root).write("file", "1")
        }
        let service = WatchService(sandbox.archive, roots: roots)
        let run = Task { try await service.run() }
        try await service.settle()
        #expect(try sandbox.archive.snapshots().count == 3)
        service.stop()
        try await run.value
    }

    @Test("settling throws if the service has ended or could not begin") func settlingAtTheEnd() async throws {
        let sandbox = try Sandbox()
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try await watcher.stop()
        await #expect(throws: ArchiverError.self) { try await watcher.service.settle() }
        let service = WatchService(sandbox.archive, roots: [sandbox.base.directory.appending("missing")])
        let run = Task { try await service.run() }
        await #expect(throws: ArchiverError.self) { try await service.settle() }
        await #expect(throws: ArchiverError.self) { try await run.value }
    }

    @Test("a service that has run does not run again") func runningTwice() async throws {
        let sandbox = try Sandbox()
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        await #expect(throws: ArchiverError.self) { try await watcher.service.run() }
        try sandbox.root.write("file", "1")
        try await watcher.nextSnapshot()
        try await watcher.stop()
        await #expect(throws: ArchiverError.self) { try await watcher.service.run() }
    }

    @Test("cancelling the task of a service stops it: the last change is captured, and all events are sent")
    func cancelling() async throws {
        let sandbox = try Sandbox()
        let service = WatchService(sandbox.archive, roots: [sandbox.root.directory])
        var events = service.events.events().makeAsyncIterator()
        let run = Task { try await service.run() }
        while let event = await events.next(isolation: #isolation) { if case .watching = event { break } }
        try sandbox.root.write("last", "1")
        run.cancel()
        try await run.value
        var last: [String] = []
        while let event = await events.next(isolation: #isolation) {
            if case .snapshot = event { last.append("snapshot") }
            if case .stopped = event { break }
        }
        #expect(last == ["snapshot"])
        #expect(try sandbox.archive.entry(at: .at("last"), in: sandbox.archive.snapshot(.latest)) != nil)
    }

    @Test("stopping captures the last change") func stop() async throws {
        let sandbox = try Sandbox()
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try sandbox.root.makeDirectory("d/inner")
        try sandbox.root.write("d/inner/file", "the last change")
        try await expectCaptured(watcher, sandbox)
    }

    @Test("a last capture that fails is the service's failure, and the next watcher captures the change")
    func failingLastCapture() async throws {
        let sandbox = try Sandbox()
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory]) { $0.timeScale = 5000 }
        do {
            let lock = try RootLock.capturing(sandbox.root.directory, in: sandbox.archive.store.layout)
            defer { withExtendedLifetime(lock) {} }
            try sandbox.root.write("last", "x")
            try await watcher.stop()
        }
        #expect(watcher.service.failures[sandbox.root.directory]?.code == .locked)
        try await expectCaptured(try await Watcher(sandbox.archive, roots: [sandbox.root.directory]), sandbox)
    }

    @Test("a root that was moved and left a link is watched on at its new place, with its history")
    func movedWithLink() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("f", "1")
        let (root, away) = (sandbox.root.directory, sandbox.base.directory.appending("away"))
        let watcher = try await Watcher(sandbox.archive, roots: [root]) { $0.timeScale = 100 }
        try sandbox.root.write("f", "2")
        try await watcher.nextSnapshot()
        #expect(rename(root.string, away.string) == 0 && symlink(away.string, root.string) == 0)
        let event = try await watcher.next { if case .related = $0 { true } else { false } }
        guard case .related(let place, let related) = event else { return }
        #expect(place == away && related == RelatedRoot(ArchivedRoot(here: root), .moved), "\(place), \(related)")
        try await watcher.next { if case .watching = $0 { true } else { false } }
        try Files(away).write("f", "3")
        try await watcher.nextSnapshot { $0.totals.files == 1 && $0.rootPath == away.bytes }
        #expect(try sandbox.archive.roots().map(\.path) == [away])
        let status = try sandbox.archive.status(of: root)
        #expect(status.roots.map(\.root.path) == [away] && status.roots.allSatisfy(\.isWatched))
        // A second watcher of the directory is refused, by either path.
        for path in [root, away] {
            let second = WatchService(sandbox.archive, roots: [path])
            await #expect(throws: ArchiverError.self) { try await second.run() }
        }
        try await watcher.stop()
        let snapshots = try sandbox.archive.snapshots()
        #expect(snapshots.map(\.sequence) == [1, 2, 3] && snapshots.allSatisfy { $0.rootPath == away.bytes })
        #expect(!watcher.names.contains("error"), "\(watcher.seen)")
    }

    @Test("an audit that fails leaves no change out of the archive")
    func failingAudit() async throws {
        let sandbox = try Sandbox()
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory]) { $0.timeScale = 100 }
        let (root, aside) = (sandbox.root.directory, sandbox.base.directory.appending("aside"))
        #expect(rename(root.string, aside.string) == 0)
        try await watcher.next { if case .unavailable = $0 { true } else { false } }
        await #expect(throws: ArchiverError.self) { try await watcher.service.audit() }
        #expect(rename(aside.string, root.string) == 0)
        try await watcher.next { if case .available = $0 { true } else { false } }
        try await watcher.stop()
        #expect(watcher.names.contains("error"))
        #expect(watcher.service.failures.isEmpty)
    }

    @Test("no change makes no snapshot") func idle() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "x")
        try sandbox.capture()
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        // A file that is removed before the visit is not a change.
        try sandbox.root.write("temporary", "x")
        try sandbox.root.remove("temporary")
        try await watcher.stop()
        #expect(watcher.names == ["starting", "watching", "stopped"])
        #expect(try sandbox.archive.snapshots().count == 1)
    }

    @Test("bursts and renames are captured") func bursts() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("d/inner")
        for number in 0..<50 { try sandbox.root.write("d/inner/\(number)", "\(number)") }
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        for number in 0..<300 { try sandbox.root.write("d/burst \(number)", "\(number)") }
        try await watcher.nextSnapshot { $0.totals.files == 350 }
        try sandbox.root.rename("d", to: "e")
        try sandbox.root.write("e/inner/7", "after the rename")
        try sandbox.root.write("e/inner/new", "x")
        try await watcher.nextSnapshot { snapshot in
            let path = try RelativePath.at("e/inner/new")
            return try sandbox.archive.entry(at: path, in: snapshot) != nil
        }
        try sandbox.root.makeDirectory("other")
        try sandbox.root.exchange("e/inner", "other")
        try sandbox.root.rename("other", to: "e/inner/back")
        try await expectCaptured(watcher, sandbox)
    }

    @Test("random edits are captured") func randomEdits() async throws {
        let sandbox = try Sandbox()
        let random = SeededGenerator("random edits")
        try sandbox.root.makeDirectory("tree")
        var edits = RandomEdits(Files(sandbox.root.full("tree")), random)
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        for round in 0..<15 {
            for _ in 0..<10 { _ = try edits.edit() }
            try sandbox.root.write("round", "\(round)")
            let path = try RelativePath.at("round")
            try await watcher.nextSnapshot { snapshot in
                try sandbox.archive.entry(at: path, in: snapshot)?.content == .inline(Array("\(round)".utf8))
            }
        }
        try await expectCaptured(watcher, sandbox)
        try sandbox.expectCleanArchive()
    }

    @Test("changes through another name are captured") func hardLink() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("d")
        try sandbox.root.write("d/a", "before")
        try sandbox.root.makeDirectory("e")
        try sandbox.root.makeLink("e/b", to: "d/a")
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try sandbox.root.write("d/a", "after")
        try await watcher.nextSnapshot()
        try sandbox.root.remove("e/b")
        try await expectCaptured(watcher, sandbox)
    }

    @Test("a second service is refused") func secondService() async throws {
        let sandbox = try Sandbox()
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        let second = WatchService(try sandbox.reopened(), roots: [sandbox.root.directory])
        do {
            try await second.run()
            Issue.record("a second service watches the same root")
        } catch {
            #expect(error.code == .locked)
            #expect(error.message.contains("\(getpid())"))
            #expect(error.remedy != nil)
        }
        try await expectCaptured(watcher, sandbox)
        // After the first has ended, another may start, even if the first object still exists.
        let third = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try await third.stop()
        withExtendedLifetime(watcher) {}
    }

    @Test("a path that cannot be watched is refused") func unwatchable() async throws {
        let sandbox = try Sandbox()
        try sandbox.base.write("file", "x")
        let cases: [(FilePath, ArchiverError.Code)] = [("missing", .noSuchDirectory), ("file", .notDirectory)]
        for (path, code) in cases {
            let service = WatchService(sandbox.archive, roots: [sandbox.root.directory, sandbox.base.full(path)])
            do {
                try await service.run()
                Issue.record("\(path) is watched")
            } catch {
                #expect(error.code == code)
            }
        }
        // Nothing is left locked.
        try await Watcher(sandbox.archive, roots: [sandbox.root.directory]).stop()
    }

    @Test("several roots are watched") func severalRoots() async throws {
        let sandbox = try Sandbox()
        try sandbox.base.makeDirectory("other")
        let other = Files(sandbox.base.full("other"))
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory, other.directory])
        try sandbox.root.write("in the root", "x")
        try other.write("in the other", "x")
        var roots: Set<FilePath> = []
        while roots.count < 2 { roots.insert(FilePath(raw: try await watcher.nextSnapshot().rootPath)) }
        #expect(roots == [sandbox.root.directory, other.directory])
        watcher.service.stop()
        for _ in 0..<2 { try await watcher.next { if case .stopped = $0 { true } else { false } } }
    }

    @Test("another process may capture a watched root") func otherProcess() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "0")
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        let other = try sandbox.reopened()
        for number in 1...10 {
            try sandbox.root.write("file", "\(number)")
            try sandbox.root.write("file \(number)", "\(number)")
            let captured = try await onThread {
                try other.capture(sandbox.root.directory, CaptureOptions(label: "mine"))
            }
            let path = try RelativePath.at("file \(number)")
            #expect(try other.entry(at: path, in: captured.latest) != nil)
        }
        try await expectCaptured(watcher, sandbox)
        let snapshots = try sandbox.archive.snapshots()
        #expect(snapshots.first?.parent == nil)
        for (earlier, later) in zip(snapshots, snapshots.dropFirst()) { #expect(later.parent == earlier.id) }
        try sandbox.expectCleanArchive()
    }

    @Test("a restore of a watched root is one change") func restore() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "first")
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        let first = try sandbox.archive.snapshot(.latest)
        let listing = try TreeListing(of: sandbox.root.directory)
        try sandbox.root.write("file", "second")
        try sandbox.root.makeDirectory("d")
        try await watcher.nextSnapshot { try sandbox.archive.entry(at: .at("d"), in: $0) != nil }
        let other = try sandbox.reopened()
        let result = try await onThread { try other.restore(first) }
        #expect(result.warnings == [])
        try await expectCaptured(watcher, sandbox)
        try sandbox.expectRoot(equals: listing)
    }

    @Test("a missing root is not an empty root") func missingRoot() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "x")
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try sandbox.base.rename("root", to: "elsewhere")
        try await watcher.next { if case .unavailable = $0 { true } else { false } }
        try sandbox.base.write("elsewhere/while away", "x")
        try sandbox.base.rename("elsewhere", to: "root")
        try await watcher.next { if case .available = $0 { true } else { false } }
        try await watcher.nextSnapshot { try sandbox.archive.entry(at: .at("while away"), in: $0) != nil }
        try sandbox.root.write("file", "back")
        let path = try RelativePath.at("file")
        try await watcher.nextSnapshot { snapshot in
            try sandbox.archive.entry(at: path, in: snapshot)?.content == .inline(Array("back".utf8))
        }
        try await watcher.stop()
        #expect(watcher.names.contains("gap"))
        #expect(try sandbox.archive.snapshots().allSatisfy { $0.totals.files > 0 })
        let listing = try TreeListing(of: sandbox.root.directory)
        try sandbox.restored(sandbox.archive.snapshot(.latest)).expect(equals: listing, "the last snapshot")
    }

    @Test("a root that was captured at another path while it was away goes on with its one history")
    func capturedElsewhere() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "1")
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory]) { $0.timeScale = 100 }
        try sandbox.base.rename("root", to: "elsewhere")
        try await watcher.next { if case .unavailable = $0 { true } else { false } }
        try sandbox.base.write("elsewhere/file", "2")
        let (other, elsewhere) = (try sandbox.reopened(), sandbox.base.directory.appending("elsewhere"))
        let captured = try await onThread { try other.capture(elsewhere) }
        #expect(captured.snapshot?.rootPath == elsewhere.bytes)
        try sandbox.base.write("elsewhere/file", "3")
        try sandbox.base.rename("elsewhere", to: "root")
        try await watcher.next { if case .available = $0 { true } else { false } }
        let path = try RelativePath.at("file")
        try await watcher.nextSnapshot { snapshot in
            try sandbox.archive.entry(at: path, in: snapshot)?.content == .inline(Array("3".utf8))
        }
        try await watcher.stop()
        #expect(try sandbox.archive.roots().map(\.path) == [sandbox.root.directory])
        let sequences = try sandbox.archive.snapshots().map(\.sequence)
        #expect(sequences.count >= 3 && sequences == Array(Set(sequences)).sorted(), "\(sequences)")
    }

    @Test("a service stops even if its root is missing") func stopWithoutRoot() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "x")
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try sandbox.root.removeAll()
        try await watcher.next { if case .unavailable = $0 { true } else { false } }
        try await watcher.stop()
        // The directory was emptied before it was removed: the service may have captured that, but not its absence.
        #expect(try sandbox.archive.snapshots().allSatisfy { $0.totals.directories == 1 })
    }

    /// The memory, time and storage for a change depend on the change, not on the tree.
    @Test("the cost of a change depends on the change alone") func cost() async throws {
        let sandbox = try Sandbox()
        for directory in 0..<100 {
            try sandbox.root.makeDirectory("\(directory)")
            for number in 0..<200 { try sandbox.root.write("\(directory)/\(number)", "file \(number)") }
        }
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try sandbox.root.write("50/100", "something else")
        let snapshot = try await watcher.nextSnapshot()
        let reading = watcher.service.progress.reading
        #expect(snapshot.totals.files == 20_000)
        #expect(snapshot.storedBytes < 10 << 10)
        #expect(reading.entries < 10)
        #expect(reading.bytes < 100)
        try await watcher.stop()
    }
}
