// An audit finds changes that no event reported.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Glibc
import Roots
import SystemPackage
import TestTraits
import Testing
import Threading

@Suite(.timeLimit(.minutes(60)), .blocking) struct AuditTests {
    @Test("an audit finds a write through a hard link outside of the root")
    func writeThroughOutsideLink() async throws {
        let sandbox = try Sandbox()
        try sandbox.base.write("outside", "before")
        try sandbox.root.makeLink("inside", to: "../outside")
        try sandbox.root.write("other", "x")
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try sandbox.base.write("outside", "after")
        try await watcher.service.settle()
        #expect(try sandbox.archive.snapshots().count == 1, "no event reported it")

        let result = try #require(try await watcher.service.audit()[sandbox.root.directory])
        #expect(result.found == 1)
        #expect(result.entries == 3)
        let snapshot = try sandbox.archive.snapshot(.latest)
        #expect(snapshot.id == result.snapshot)
        #expect(snapshot.cause == .audit)
        let content = try sandbox.archive.entry(at: .at("inside"), in: snapshot)?.content
        #expect(content == .inline(Array("after".utf8)))
        try await watcher.stop()
        #expect(watcher.names == ["starting", "watching", "snapshot", "audited", "stopped"])
    }

    @Test("an audit finds a write through an open memory map")
    func openMemoryMap() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", [UInt8](repeating: 0, count: 4096))
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        let file = try Descriptor.open(sandbox.root.directory.appending("file"), O_RDWR)
        let map = try #require(mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0))
        map.storeBytes(of: 7, as: UInt8.self)
        try await watcher.service.settle()
        #expect(try sandbox.archive.snapshots().count == 1, "no event reports a write to a map that is still open")
        #expect(try await watcher.service.audit()[sandbox.root.directory]?.found == 1)
        let latest = try sandbox.archive.snapshot(.latest)
        let target = sandbox.base.directory.appending("restored")
        _ = try await sandbox.archive.restore(latest, RestoreOptions(target: target))
        #expect(try Files(target).read("file").first == 7)
        munmap(map, 4096)
        try await watcher.stop()
    }

    @Test("an audit finds nothing if all changes were reported")
    func reportedChanges() async throws {
        let sandbox = try Sandbox()
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory]) {
            ($0.settings.settle, $0.settings.maxDelay) = (.seconds(600), .seconds(600))
        }
        // The event has arrived and the capture has not run yet: nothing was missed.
        try sandbox.root.write("file", "x")
        let (archive, path) = (sandbox.archive, sandbox.root.directory)
        let result = try await onThread { try archive.audit(path) }
        #expect(result.found == 0)
        #expect(result.snapshot == nil)
        #expect(try sandbox.archive.snapshot(.latest).cause == .watch)
        #expect(try sandbox.archive.entry(at: .at("file"), in: sandbox.archive.snapshot(.latest)) != nil)
        let again = try await onThread { try archive.audit(path) }
        #expect(again.found == 0)
        #expect(try sandbox.archive.snapshots().count == 2)
        try await watcher.stop()
    }

    @Test("audits repeat automatically")
    func repeats() async throws {
        let sandbox = try Sandbox()
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory]) {
            $0.settings.auditInterval = .milliseconds(20)
        }
        for _ in 0..<2 { try await watcher.next { if case .audited = $0 { true } else { false } } }
        try await watcher.stop()
    }

    @Test("a stop waits for the capture of an audit, and loses no change")
    func stopDuringCapture() async throws {
        let sandbox = try Sandbox()
        try sandbox.base.write("outside", "before")
        try sandbox.root.makeLink("inside", to: "../outside")
        let (root, layout) = (sandbox.root, sandbox.archive.store.layout)
        let service = Locked<WatchService?>(nil)
        let watcher = try await Watcher(sandbox.archive, roots: [root.directory]) {
            $0.timeScale = 5000
            $0.hooks.underCaptureLock = { cause in
                guard cause == .audit, let service = service.withLock({ $0 }) else { return }
                try? root.write("last", "a change before the stop")
                service.stop()
                // The last capture has reached its limit too when these have.
                for _ in 0..<10 { _ = try? RootLock.capturing(root.directory, in: layout) { true } }
            }
        }
        service.withLock { $0 = watcher.service }
        try sandbox.base.write("outside", "after")
        let audited = try await watcher.service.audit()
        #expect(audited[root.directory]?.found == 1)
        try await watcher.stop()
        #expect(watcher.service.failures.isEmpty)
        let latest = try sandbox.archive.snapshot(.latest)
        for (name, content) in [("inside", "after"), ("last", "a change before the stop")] {
            let entry = try sandbox.archive.entry(at: .at(FilePath(name)), in: latest)
            #expect(entry?.content == .inline(Array(content.utf8)))
        }
    }
}
