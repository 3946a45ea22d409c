// The watch service live: its events are awaited, and its snapshots compared with the tree.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

/// The time limit only ends a test whose event never comes.
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

    @Test func anEditGivesASnapshot() async throws {
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

    @Test func stoppingCapturesTheLastChange() async throws {
        let sandbox = try Sandbox()
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try sandbox.root.makeDirectory("d/inner")
        try sandbox.root.write("d/inner/file", "the last change")
        try await expectCaptured(watcher, sandbox)
    }

    @Test func nothingHappeningGivesNothing() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "x")
        try sandbox.capture()
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        // What comes and goes before it is looked at is no change.
        try sandbox.root.write("temporary", "x")
        try sandbox.root.remove("temporary")
        try await watcher.stop()
        #expect(watcher.names == ["starting", "watching", "stopped"])
        #expect(try sandbox.archive.snapshots().count == 1)
    }

    @Test func burstsAndRenamesAreCaptured() async throws {
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

    @Test func randomEditsAreCaptured() async throws {
        let sandbox = try Sandbox()
        let random = SeededGenerator("randomEditsAreCaptured")
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

    @Test func changesThroughAnotherNameAreCaptured() async throws {
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

    @Test func aSecondServiceIsRefused() async throws {
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
        // When the first has ended, another may begin, though the first service is still there.
        let third = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try await third.stop()
        withExtendedLifetime(watcher) {}
    }

    @Test func whatCannotBeWatchedIsRefused() async throws {
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

    @Test func severalRootsAreWatched() async throws {
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

    @Test func anotherProcessMayCaptureMeanwhile() async throws {
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

    @Test func aRestoreMeanwhileIsOneChange() async throws {
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

    @Test func aRootThatIsGoneIsNotAnEmptyRoot() async throws {
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

    @Test func aServiceWhoseRootIsGoneStops() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "x")
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try sandbox.root.removeAll()
        try await watcher.next { if case .unavailable = $0 { true } else { false } }
        try await watcher.stop()
        // The directory was emptied before it was removed: that may have been seen, but not its absence.
        #expect(try sandbox.archive.snapshots().allSatisfy { $0.totals.directories == 1 })
    }

    /// Memory, time and storage of a change are those of the change, not of the tree.
    @Test func aChangeCostsWhatChanged() async throws {
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
