// The cost of a capture: without changes, nothing is read or stored; after a change of one file, only that file is.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Glibc
import Mementos
import SystemPackage
import TestTraits
import Testing
import Threading

@Suite(.blocking) struct ChangeTests {
    @Test("a capture without changes makes no snapshot")
    func noChange() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "x")
        let first = try sandbox.capture()
        let again = try sandbox.archive.capture(sandbox.root.directory)
        #expect(again.snapshot == nil)
        #expect(again.latest.id == first.id)
        #expect(again.changedPaths == [])
        #expect(try sandbox.archive.snapshots().count == 1)
    }

    @Test("an unchanged tree is not read")
    func unchangedTree() throws {
        let sandbox = try Sandbox()
        for number in 0..<50 { try sandbox.root.write("\(number)", [UInt8](repeating: 1, count: 1000)) }
        try sandbox.capture()
        #expect(try sandbox.bytesRead() == 0)
    }

    @Test("a capture after one change reads only that file")
    func oneChange() throws {
        let sandbox = try Sandbox()
        for number in 0..<50 { try sandbox.root.write("\(number)", [UInt8](repeating: 1, count: 1000)) }
        try sandbox.capture()
        try sandbox.root.append("17", [2, 3, 4])
        #expect(try sandbox.bytesRead() == 1003)
        #expect(try sandbox.archive.snapshots().count == 2)
        #expect(try sandbox.bytesRead() == 0)
    }

    @Test("restored files are not read again")
    func restoredFiles() throws {
        let sandbox = try Sandbox()
        for number in 0..<50 { try sandbox.root.write("\(number)", [UInt8](repeating: 1, count: 1000)) }
        let snapshot = try sandbox.capture()
        try sandbox.root.removeAll(keepingDirectory: true)
        _ = try sandbox.archive.restore(snapshot)
        #expect(try sandbox.bytesRead() == 0)
    }

    /// A file that was written right before a capture could change again without a new time.
    @Test("a change right after a capture is found")
    func immediateChange() throws {
        let sandbox = try Sandbox()
        for number in 0..<30 {
            try sandbox.root.write("file", "content \(number % 10)")
            try sandbox.root.setTime("file", 1_000_000)
            let snapshot = try sandbox.capture()
            let entry = try #require(try sandbox.archive.entry(at: .at("file"), in: snapshot))
            var bytes: [UInt8] = []
            try sandbox.archive.forEachPiece(of: entry) { piece in
                bytes += piece
                return true
            }
            #expect(String(decoding: bytes, as: UTF8.self) == "content \(number % 10)")
        }
    }

    @Test("a rewrite with the same size and time is found")
    func equalSizeAndTime() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "before")
        try sandbox.root.setTime("file", 1_000_000_000, 5)
        let before = try sandbox.capture()
        try sandbox.root.write("file", "after!")
        try sandbox.root.setTime("file", 1_000_000_000, 5)
        let after = try sandbox.capture()
        #expect(after.changes.modified == 1)
        #expect(after.parent == before.id)
    }

    @Test("every kind of change is counted")
    func changeKinds() throws {
        let sandbox = try Sandbox()
        for name in ["kept", "edited", "removed", "chmodded", "turned"] as [FilePath] {
            try sandbox.root.write(name, "x")
        }
        try sandbox.root.makeDirectory("directory/inner")
        try sandbox.root.setTime("", 1)
        try sandbox.capture()
        try sandbox.root.write("edited", "y")
        try sandbox.root.remove("removed")
        try sandbox.root.remove("directory")
        try sandbox.root.setPermissions("chmodded", 0o600)
        try sandbox.root.remove("turned")
        try sandbox.root.makeSymbolicLink("turned", to: "kept")
        try sandbox.root.write("added", "x")
        try sandbox.root.setTime("", 1)
        let snapshot = try sandbox.capture()
        #expect(snapshot.changes.added == 1)
        #expect(snapshot.changes.modified == 3)
        #expect(snapshot.changes.removed == 3)
        #expect(snapshot.totals.files == 4)
        #expect(snapshot.totals.directories == 1)
        #expect(snapshot.totals.others == 1)
        #expect(snapshot.totals.bytes == 4)
        let details = try sandbox.archive.details(of: snapshot)
        let paths = details.changedPaths.map { "\($0.change) \($0.path)" }
        #expect(
            paths == [
                "added added", "modified chmodded", "removed directory", "removed directory/inner", "modified edited",
                "removed removed", "modified turned",
            ])
    }

    @Test("one change among many files stores little")
    func smallChange() throws {
        let sandbox = try Sandbox()
        for directory in 0..<20 {
            try sandbox.root.makeDirectory("\(directory)")
            for number in 0..<100 { try sandbox.root.write("\(directory)/\(number)", "file \(number) of \(directory)") }
        }
        try sandbox.capture()
        try sandbox.root.write("7/7", "something else")
        let snapshot = try sandbox.capture()
        #expect(snapshot.changes.modified == 1)
        #expect(snapshot.storedBytes < 10 << 10)
    }

    @Test("an observer gets the progress of a running capture, and without observers it costs nothing")
    func progressIsObserved() throws {
        let sandbox = try Sandbox()
        for number in 0..<50 { try sandbox.root.write("\(number)", [UInt8](repeating: UInt8(number), count: 5_000)) }
        let progress = OperationProgress()
        let readings = Locked<[OperationProgress.Reading]>([])
        let subscription = progress.readings.subscribe { reading in readings.withLock { $0.append(reading) } }
        _ = try sandbox.archive.capture(sandbox.root.directory, progress: progress)
        subscription.cancel()
        let reported = readings.withLock { $0 }
        #expect(!reported.isEmpty)
        #expect(zip(reported, reported.dropFirst()).allSatisfy { $0.entries <= $1.entries })
        #expect(reported.allSatisfy { $0.entries <= progress.reading.entries && $0.bytes <= 250_000 })
        #expect(!progress.readings.isObserved)
    }
}

extension Sandbox {
    /// Captures the root and returns how many bytes of files were read.
    fileprivate func bytesRead() throws -> UInt64 {
        let progress = OperationProgress()
        _ = try archive.capture(root.directory, progress: progress)
        return progress.reading.bytes
    }
}
