// Spans without a watcher are recorded as gaps, with their causes.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import SystemPackage
import TestTraits
import Testing
import Threading

@Suite(.timeLimit(.minutes(60)), .blocking) struct GapTests {
    @Test("the time between two watchers is a gap")
    func downtime() async throws {
        let sandbox = try Sandbox()
        let first = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        #expect(try sandbox.archive.gaps().isEmpty, "there was no watcher before, so nothing was interrupted")
        try await first.stop()
        let stopped = Timestamp.now
        try sandbox.root.write("meanwhile", "x")
        let second = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        let watching = Timestamp.now
        try await second.stop()

        let gap = try #require(try sandbox.archive.gaps().first)
        #expect(try sandbox.archive.gaps().count == 1)
        #expect(gap.cause == .downtime)
        #expect(gap.rootPath == sandbox.root.directory.bytes)
        #expect(gap.start <= stopped && gap.end >= stopped && gap.end <= watching)
        #expect(second.names.prefix(3) == ["starting", "gap", "watching"])
        // The gap is in the segments, not only in the catalogue.
        let archive = try sandbox.reopened()
        #expect(try archive.gaps() == [gap])
        let check = try archive.check(data: true)
        #expect(check.findings == [] && check.gaps == 1)
    }

    @Test("the time in which a root is missing is a gap")
    func absentRoot() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "x")
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try sandbox.base.rename("root", to: "elsewhere")
        try await watcher.next { if case .unavailable = $0 { true } else { false } }
        let (archive, path) = (sandbox.archive, sandbox.root.directory)
        let status = try await onThread { try archive.status(of: path) }
        #expect(status.roots.first?.watcher?.phase == .unavailable)
        #expect(status.roots.first?.watcher?.openGaps.map(\.cause) == [.unavailable])
        #expect(!status.isWell)
        try sandbox.base.rename("elsewhere", to: "root")
        try await watcher.next { if case .available = $0 { true } else { false } }
        try await watcher.stop()
        #expect(try sandbox.archive.gaps().map(\.cause) == [.unavailable])
    }

    /// The end of watching closes the gap.
    @Test("a gap that is still open when watching ends is recorded")
    func openGap() async throws {
        let sandbox = try Sandbox()
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try sandbox.root.removeAll()
        try await watcher.next { if case .unavailable = $0 { true } else { false } }
        try await watcher.stop()
        #expect(try sandbox.archive.gaps().map(\.cause) == [.unavailable])
    }

    @Test("a snapshot is announced even if a gap cannot be recorded, and the gap is recorded with a later one")
    func gapsAreKept() async throws {
        let sandbox = try Sandbox()
        try await Watcher(sandbox.archive, roots: [sandbox.root.directory]).stop()
        let isBroken = Locked(true)
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory]) { options in
            options.hooks.beforeEnteringGaps = {
                if isBroken.withLock({ $0 }) { throw FileError("write to", "the archive", .ioError) }
            }
        }
        try sandbox.root.write("file", "1")
        try await watcher.nextSnapshot()
        #expect(try sandbox.archive.gaps().isEmpty)
        isBroken.withLock { $0 = false }
        try sandbox.root.write("file", "2")
        try await watcher.nextSnapshot()
        try await watcher.stop()
        #expect(try sandbox.archive.gaps().map(\.cause) == [.downtime])
    }
}
