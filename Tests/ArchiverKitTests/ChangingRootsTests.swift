// A service whose roots change while it runs: nothing is lost, and what stays is not disturbed.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import Exclusions
import FileIO
import SystemPackage
import TestTraits
import Testing
import Watching

@Suite(.timeLimit(.minutes(60)), .blocking) struct ChangingRootsTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private func root(_ name: String, excluding pattern: String? = nil) throws -> WatchService.Root {
        try sandbox.base.makeDirectory(FilePath(name))
        let rules = ExclusionRules(patterns: pattern.map { [Array($0.utf8)] } ?? [])
        let settings = WatchSettings(settle: .milliseconds(20), maxDelay: .milliseconds(300), auditInterval: .zero)
        return WatchService.Root(sandbox.base.directory.pushing(FilePath(name)), settings, rules)
    }

    private func holds(_ file: String, _ root: WatchService.Root) throws -> Bool {
        let latest = try sandbox.archive.snapshots(SnapshotQuery(root: ArchivedRoot(here: root.path))).last
        guard let latest else { return false }
        return try sandbox.archive.entry(at: .at(FilePath(file)), in: latest) != nil
    }

    @Test("an added root is watched, and a removed one ends after a last capture")
    func addAndRemove() async throws {
        let (a, b) = (try root("a"), try root("b"))
        let watcher = try await Watcher(changing: [a], in: sandbox.archive, watching: 1)
        #expect(await watcher.service.change(to: [a, b]).isEmpty)
        try await watcher.next { if case .watching(let path, _, _, _) = $0 { path == b.path } else { false } }
        try sandbox.base.write("a/last", "x")
        // Without a pause: the last change is captured although nothing has settled.
        #expect(await watcher.service.change(to: [b]).isEmpty)
        #expect(try holds("last", a))
        #expect(try sandbox.archive.watchedRoots().map(\.path) == [b.path])
        try sandbox.base.write("a/after", "x")
        try sandbox.base.write("b/file", "x")
        try await watcher.service.settle()
        #expect(try holds("file", b))
        #expect(try !holds("after", a))
        try await watcher.end()
    }

    @Test("changed rules apply to what exists, and a root that stays goes on without a gap")
    func rules() async throws {
        let (a, b) = (try root("a"), try root("b"))
        try sandbox.base.write("a/file.o", "x")
        let watcher = try await Watcher(changing: [a, b], in: sandbox.archive, watching: 2)
        #expect(try holds("file.o", a))
        let changed = try root("a", excluding: "*.o")
        try sandbox.base.write("b/file", "x")
        #expect(await watcher.service.change(to: [changed, b]).isEmpty)
        #expect(try !holds("file.o", a))
        try await watcher.service.settle()
        #expect(try holds("file", b))
        #expect(try sandbox.archive.gaps().allSatisfy { $0.rootPath == a.path.bytes })
        try await watcher.end()
    }

    @Test("a service without roots runs until it gets one or is stopped")
    func empty() async throws {
        let watcher = try await Watcher(changing: [], in: sandbox.archive, watching: 0)
        let a = try root("a")
        #expect(await watcher.service.change(to: [a]).isEmpty)
        try await watcher.next { if case .watching = $0 { true } else { false } }
        #expect(await watcher.service.pulse())
        #expect(await watcher.service.change(to: []).isEmpty)
        try await watcher.end()
        #expect(await watcher.service.pulse() == false)
    }

    @Test("a root that another process watches is tried again, and the others are watched meanwhile")
    func locked() async throws {
        let (a, b) = (try root("a"), try root("b"))
        let other = try await Watcher(try sandbox.reopened(), roots: [a.path])
        let watcher = try await Watcher(changing: [a, b], in: sandbox.archive, watching: 1)
        try await other.stop()
        try await watcher.next { if case .watching(let path, _, _, _) = $0 { path == a.path } else { false } }
        #expect(watcher.names.contains("error"))
        try await watcher.end()
    }

    @Test("a missing root is waited for, and can be removed meanwhile")
    func missing() async throws {
        let absent = WatchService.Root(sandbox.base.directory.appending("none"), WatchSettings(), ExclusionRules())
        let watcher = try await Watcher(changing: [absent], in: sandbox.archive, watching: 0)
        try await watcher.next { if case .waiting = $0 { true } else { false } }
        #expect(await watcher.service.change(to: []).isEmpty)
        try await watcher.end()
    }

    @Test("a root around another takes its files over")
    func covered() async throws {
        let inner = try root("outer/inner")
        let watcher = try await Watcher(changing: [inner], in: sandbox.archive, watching: 1)
        try sandbox.base.write("outer/inner/file", "x")
        let outer = try root("outer")
        #expect(await watcher.service.change(to: [inner, outer]).isEmpty)
        try await watcher.next { if case .watching = $0 { true } else { false } }
        #expect(try holds("file", inner))
        #expect(try holds("inner/file", outer))
        #expect(watcher.names.contains("covered"))
        try await watcher.end()
    }
}
