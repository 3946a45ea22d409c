// What reaches the disk while a restore goes on.

import ArchiverKit
import Dispatch
import FileIO
import Roots
import SnapshotTree
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading

@testable import Restoring

@Suite(.blocking)
struct BackgroundSyncTests {
    @Test("what could not be written while a restore went on fails its end, though the end itself succeeds")
    func failure() throws {
        let calls = Locked(0)
        let sync = BackgroundSync(stepBytes: 1, slow: .seconds(3600)) { () throws(FileError) in
            let count = calls.withLock { calls in
                calls += 1
                return calls
            }
            if count == 1 { throw FileError("synchronize", FilePath("target"), .ioError) }
        }
        sync.add(files: 1, bytes: 1)
        #expect { try sync.finish() } throws: { ($0 as? FileError)?.code == .ioError }
    }

    @Test("one synchronization runs at a time, and what is restored meanwhile is for the next one")
    func oneAtATime() throws {
        let calls = Locked(0)
        let begun = DispatchSemaphore(value: 0)
        let gate = DispatchSemaphore(value: 0)
        let sync = BackgroundSync(stepBytes: 100_000, slow: .seconds(3600)) {
            calls.withLock { $0 += 1 }
            begun.signal()
            gate.wait()
        }
        sync.add(files: 1, bytes: 50_000)
        #expect(calls.withLock { $0 } == 0)
        for _ in 0..<50 { sync.add(files: 1, bytes: 50_000) }
        begun.wait()
        #expect(calls.withLock { $0 } == 1)
        gate.signal()
        gate.signal()
        try sync.finish()
        #expect(calls.withLock { $0 } == 2)
    }

    @Test("where the disk is slow, nothing more is synchronized before the end")
    func slowDisk() throws {
        let calls = Locked(0)
        let sync = BackgroundSync(stepBytes: 1, slow: .zero) { calls.withLock { $0 += 1 } }
        for _ in 0..<1000 { sync.add(files: 1, bytes: 1) }
        try sync.finish()
        #expect(calls.withLock { $0 } == 2)
    }

    @Test("a small restore is synchronized once, at its end") func small() throws {
        let calls = Locked(0)
        let sync = BackgroundSync { calls.withLock { $0 += 1 } }
        for _ in 0..<1000 { sync.add(files: 1, bytes: 1000) }
        #expect(calls.withLock { $0 } == 0)
        try sync.finish()
        #expect(calls.withLock { $0 } == 1)
    }

    @Test("empty files count, too") func emptyFiles() throws {
        let calls = Locked(0)
        let sync = BackgroundSync(stepBytes: 4 << 20, slow: .zero) { calls.withLock { $0 += 1 } }
        sync.add(files: 1023, bytes: 0)
        #expect(calls.withLock { $0 } == 0)
        sync.add(files: 1, bytes: 0)
        try sync.finish()
        #expect(calls.withLock { $0 } == 2)
    }

    @Test("what a restore writes is synchronized while it goes on") func writer() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("a", "one")
        let snapshot = try sandbox.capture()
        try sandbox.base.makeDirectory("target")
        let calls = Locked(0)
        let sync = BackgroundSync(stepBytes: 1, slow: .zero) { calls.withLock { $0 += 1 } }
        let writer = RestoreWriter(
            try RootDirectory.open(sandbox.base.full("target")), from: sandbox.archive.nodes.store,
            owners: OwnerMapping(nil), links: LinkGroups { [:] }, isMarked: true, crossesMounts: true,
            interruption: nil, wantedDirectory: { _ in nil }, progress: nil, sync: sync)
        let wanted = try #require(try sandbox.archive.entry(at: .at("a"), in: snapshot))
        try writer.run { try writer.apply(RestoreStep(path: wanted.path, present: nil, wanted: wanted)) }
        try sync.finish()
        #expect(calls.withLock { $0 } == 2)
        #expect(try sandbox.base.read("target/a") == Array("one".utf8))
    }
}
