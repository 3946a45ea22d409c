// Several roots in one service: side by side, inside one another, not existing yet.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import Exclusions
import FileIO
import SystemPackage
import TestTraits
import Testing

@Suite(.timeLimit(.minutes(60)), .blocking) struct SeveralRootsTests {
    @Test("a root inside another is captured once") func rootInsideAnother() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("inner/deep")
        let inner = sandbox.root.directory.appending("inner")
        let roots = [inner, sandbox.root.directory, inner.appending("deep")]
        let watcher = try await Watcher(sandbox.archive, roots: roots, watching: 1)
        #expect(watcher.names == ["covered", "covered", "starting", "watching"])
        try sandbox.root.write("inner/deep/file", "x")
        let snapshot = try await watcher.nextSnapshot()
        #expect(FilePath(bytes: snapshot.rootPath) == sandbox.root.directory)
        try await watcher.stop()
        #expect(try sandbox.archive.roots().map(\.path) == [sandbox.root.directory])
        #expect(try sandbox.archive.snapshots().count == 2)
    }

    @Test("a root that the outer one excludes is captured on its own") func excludedRoot() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("inner")
        let inner = sandbox.root.directory.appending("inner")
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory, inner]) {
            $0.exclusions = ExclusionRules(patterns: [Array("/inner/".utf8)])
        }
        try sandbox.root.write("inner/file", "x")
        let snapshot = try await watcher.nextSnapshot()
        #expect(FilePath(bytes: snapshot.rootPath) == inner)
        watcher.service.stop()
        for _ in 0..<2 { try await watcher.next { if case .stopped = $0 { true } else { false } } }
        #expect(try sandbox.archive.snapshots().count == 3)
    }

    @Test("a missing root is an error, or the service waits for it") func missingRoot() async throws {
        let sandbox = try Sandbox()
        let absent = sandbox.base.directory.pushing("not/yet")
        let service = WatchService(sandbox.archive, roots: [absent])
        let error = await #expect(throws: ArchiverError.self) { try await service.run() }
        #expect(error?.code == .noSuchDirectory)

        let watcher = try await Watcher(sandbox.archive, roots: [absent], watching: 0) { $0.waitsForRoots = true }
        try await watcher.next { if case .waiting = $0 { true } else { false } }
        try sandbox.base.makeDirectory("not/yet")
        try sandbox.base.write("not/yet/file", "x")
        try await watcher.next { if case .watching = $0 { true } else { false } }
        try await watcher.service.settle()
        #expect(try sandbox.archive.entry(at: .at("file"), in: sandbox.archive.snapshot(.latest)) != nil)
        try await watcher.stop()
    }

    @Test("stopping the service ends the wait for a root") func stopWaiting() async throws {
        let sandbox = try Sandbox()
        let absent = sandbox.base.directory.pushing("never")
        let watcher = try await Watcher(sandbox.archive, roots: [absent], watching: 0) { $0.waitsForRoots = true }
        try await watcher.next { if case .waiting = $0 { true } else { false } }
        try await watcher.stop()
        #expect(try sandbox.archive.snapshots().isEmpty)
    }
}
