// Reading a file takes few system calls; reusing the walk's status saves one, and hides no change.

import ArchiveFormat
import Dispatch
import FileIO
import Foundation
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit
@testable import Capturing

@Suite(.blocking) struct QuickReadTests {
    private let sandbox: Sandbox
    private let reader: EntryReader
    private let directory: SharedDirectory

    init() throws {
        sandbox = try Sandbox()
        let packer = ChunkPacker(sandbox.archive.store, nil)
        directory = SharedDirectory(try Descriptor.open(sandbox.root.directory, O_RDONLY | O_DIRECTORY))
        let device = try FileStatus.read(directory.descriptor).device
        reader = EntryReader(FileReader(packer, progress: nil), device: device, isLocal: true)
    }

    /// What a walk finds now, after waiting until the file's change time is old enough to be reliable.
    private func suspect(_ name: String) throws -> Suspect {
        let status = try #require(try FileStatus.read(CName(name.utf8), in: directory.descriptor))
        while !(status.changed.advanced(byNanoseconds: 50_000_000) < .now) { sched_yield() }
        return Suspect(
            path: try RelativePath.at(FilePath(name)), directory: directory, name: CName(name.utf8), status: status,
            old: nil)
    }

    /// How many read(2)-like calls this thread has made (proc_pid_io(5)).
    private func readCalls() throws -> Int {
        let path: FilePath = "/proc/thread-self/io"
        let bytes = try Descriptor.open(path, O_RDONLY).readToEnd(limit: 4096, path: path)
        let line = try #require(
            String(decoding: bytes, as: UTF8.self).split(separator: "\n").first {
                $0.hasPrefix("syscr: ")
            })
        return try #require(Int(line.dropFirst("syscr: ".count)))
    }

    @Test("a file is read in one call", arguments: [1, 40, Content.inlineLimit, Content.inlineLimit + 1, 50_000])
    func oneCall(size: Int) throws {
        let names = (0..<20).map { "file \($0)" }
        for name in names { try sandbox.root.write(FilePath(name), [UInt8](repeating: 7, count: size)) }
        let suspects = try names.map { try suspect($0) }
        let first = try readCalls()
        let second = try readCalls()
        for suspect in suspects {
            let entry = try #require(try reader.read(suspect).new)
            #expect(entry.size == UInt64(size))
            #expect(entry.signature?.changed == suspect.status.changed)
        }
        #expect(try readCalls() - second - (second - first) == names.count)
    }

    @Test("a change since the walk is read") func changedSinceWalk() throws {
        try sandbox.root.write("file", "as the walk saw it")
        let suspect = try suspect("file")
        try sandbox.root.write("file", "as it is now")
        try sandbox.root.setPermissions("file", 0o600)
        let change = try reader.read(suspect)
        let entry = try #require(change.new)
        #expect(change.problem == nil)
        #expect(entry.content == .inline(Array("as it is now".utf8)))
        #expect(entry.permissions == 0o600)
        #expect(!entry.isUnstable)
    }

    @Test("a file that changes while it is read is read as it was or as it is") func changedWhileRead() throws {
        let size = 24 << 20
        var random = SeededGenerator("a file that changes while it is read")
        try sandbox.root.write("file", random.noise(size))
        let progress = OperationProgress()
        let device = try FileStatus.read(directory.descriptor).device
        let packer = ChunkPacker(sandbox.archive.store, nil)
        let reader = EntryReader(FileReader(packer, progress: progress), device: device, isLocal: true)
        let before = try suspect("file")
        let old = try #require(try reader.read(before).new).content
        let (path, done) = (sandbox.root.full("file").string, DispatchSemaphore(value: 0))
        let isOver = Atomic(false)
        defer { isOver.store(true, ordering: .relaxed) }
        Thread.detachNewThread {
            while progress.reading.bytes <= UInt64(size) {
                if isOver.load(ordering: .relaxed) { return }
                sched_yield()
            }
            // The reader has the old first byte and will have the new last one.
            let file = open(path, O_WRONLY)
            pwrite(file, "a", 1, 0)
            pwrite(file, "z", 1, off_t(size - 1))
            close(file)
            done.signal()
        }
        let found = try #require(try reader.read(before).new).content
        done.wait()
        let new = try #require(try reader.read(try suspect("file")).new).content
        #expect(old != new)
        #expect(found == old || found == new)
    }

    /// The new file has the size and possibly the time that the walk saw, as after a change within one clock tick.
    @Test("the entry records the status after the read") func statusAfterReading() throws {
        try sandbox.root.write("file", "one")
        let suspect = try suspect("file")
        let seen = suspect.status
        try sandbox.root.write("other", "two")
        try sandbox.root.rename("other", to: "file")
        let entry = try #require(try reader.read(suspect).new)
        #expect(entry.content == .inline(Array("two".utf8)))
        #expect(entry.signature.map { $0.inode != seen.inode } ?? true)
    }

    @Test("another object in the file's place is detected", arguments: [S_IFIFO, S_IFDIR, S_IFLNK])
    func otherObject(type: mode_t) throws {
        try sandbox.root.write("file", "a file")
        let suspect = try suspect("file")
        try sandbox.root.remove("file")
        switch type {
        case S_IFIFO: try sandbox.root.makeNode("file", S_IFIFO)
        case S_IFDIR: try sandbox.root.makeDirectory("file")
        default: try sandbox.root.makeSymbolicLink("file", to: "elsewhere")
        }
        let change = try reader.read(suspect)
        #expect(change.new?.kind != .file)
    }
}
