// Complete reads and writes, holes, and link targets.

import CLinux
import Dispatch
import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct ReadWriteTests {
    /// Both ends of a pipe, which transfers only part of the requested bytes per call.
    private func pipe() throws -> (reader: CInt, writer: CInt) {
        var ends: (CInt, CInt) = (0, 0)
        let result = withUnsafeMutablePointer(to: &ends) {
            $0.withMemoryRebound(to: CInt.self, capacity: 2) { Glibc.pipe($0) }
        }
        try #require(result == 0)
        return ends
    }

    private func read(_ count: Int, from file: borrowing Descriptor, at offset: UInt64? = nil) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let done = try bytes.withUnsafeMutableBytes {
            if let offset { try file.read(into: $0, at: offset, path: "") } else { try file.read(into: $0, path: "") }
        }
        return Array(bytes[..<done])
    }

    @Test("header and payload arrive complete through a pipe")
    func headerAndPayload() async throws {
        var random = SeededGenerator("pipe")
        for (headerCount, payloadCount) in [(300_000, 500_000), (10, 700_000), (0, 5), (5, 0), (0, 0)] {
            let (header, payload) = (random.noise(headerCount), random.noise(payloadCount))
            let ends = try pipe()
            async let written: Void = onThread {
                let writer = Descriptor(owning: ends.writer)
                try header.withUnsafeBytes { header in
                    try payload.withUnsafeBytes { payload in try writer.write(header, then: payload, path: "pipe") }
                }
            }
            let arrived = try await onThread { [self] in
                try read(1_000_000, from: Descriptor(owning: ends.reader))
            }
            try await written
            #expect(arrived == header + payload, "seed \(random.seed)")
        }
    }

    @Test("reading stops once enough bytes are read")
    func enough() throws {
        let directory = try OpenDirectory()
        let file = try directory.root.open(CName("file"), O_RDWR | O_CREAT, permissions: 0o600, path: .root)
        try file.write([1, 2, 3, 4, 5], path: "file")
        var bytes = [UInt8](repeating: 0, count: 4)
        // One call fills the buffer, even if fewer bytes are enough.
        #expect(try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0, enough: 2, path: "file") } == 4)
        #expect(bytes == [1, 2, 3, 4])
        #expect(try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 3, enough: 4, path: "file") } == 2)
        #expect(bytes == [4, 5, 3, 4])
    }

    @Test("reading and writing at an offset does not change the position")
    func offsets() throws {
        let directory = try OpenDirectory()
        let file = try directory.root.open(CName("file"), O_RDWR | O_CREAT, permissions: 0o600, path: .root)
        try file.write(Array("0123456789".utf8), path: "file")
        try Array("abc".utf8).withUnsafeBytes { try file.write($0, at: 4, path: "file") }
        try file.write(Array("!".utf8), path: "file")
        #expect(try directory.contents(of: "file") == "0123abc789!")
        #expect(try read(4, from: file, at: 3) == Array("3abc".utf8))
        #expect(try read(4, from: file, at: 9) == Array("9!".utf8))
        #expect(try read(4, from: file) == [])
        try file.truncate(to: 2, path: "file")
        #expect(try directory.contents(of: "file") == "01")
        try file.truncate(to: 4, path: "file")
        #expect(try directory.contents(of: "file") == "01\0\0")
        try file.synchronizeData(path: "file")
        try file.synchronize(path: "file")
    }

    @Test("a file up to the limit is read and a longer one is an error")
    func limit() throws {
        let directory = try OpenDirectory()
        let text = String(repeating: "x", count: 40_000)
        try directory.write(text, to: "file")
        let path = directory.path.appending("file")
        #expect(try Descriptor.open(path, O_RDONLY).readToEnd(limit: 40_000, path: path) == Array(text.utf8))
        #expect(throws: FileError("read", path, .fileTooLarge)) {
            try Descriptor.open(path, O_RDONLY).readToEnd(limit: 39_999, path: path)
        }
        #expect(throws: FileError("read", directory.path, .isDirectory)) {
            try Descriptor.open(directory.path, O_RDONLY).readToEnd(limit: 1, path: directory.path)
        }
    }

    @Test("the data ranges contain every byte that is not zero")
    func dataRanges() throws {
        var random = SeededGenerator("holes")
        let directory = try OpenDirectory()
        for round in 0..<20 {
            let length = UInt64.random(in: 0...3_000_000, using: &random)
            let file = try Descriptor.open(
                directory.path.appending("\(round)"), O_RDWR | O_CREAT, permissions: 0o600)
            try file.truncate(to: length, path: "file")
            var expected = [UInt8](repeating: 0, count: Int(length))
            for _ in 0..<Int.random(in: 0...4, using: &random) where length > 0 {
                let start = Int.random(in: 0..<Int(length), using: &random)
                let piece = random.noise(min(Int.random(in: 1...50_000, using: &random), Int(length) - start))
                try piece.withUnsafeBytes { try file.write($0, at: UInt64(start), path: "file") }
                expected.replaceSubrange(start..<(start + piece.count), with: piece)
            }
            var restored = [UInt8](repeating: 0, count: Int(length))
            var position: UInt64 = 0
            while let range = try file.nextDataRange(from: position, below: length, path: "file") {
                #expect(range.lowerBound >= position && !range.isEmpty && range.upperBound <= length)
                let piece = try read(range.count, from: file, at: range.lowerBound)
                restored.replaceSubrange(Int(range.lowerBound)..<Int(range.upperBound), with: piece)
                position = range.upperBound
            }
            #expect(restored == expected, "round \(round), seed \(random.seed)")
        }
    }

    @Test("a file that is one hole has no data ranges")
    func hole() throws {
        let directory = try OpenDirectory()
        let file = try directory.root.open(CName("file"), O_RDWR | O_CREAT, permissions: 0o600, path: .root)
        let length: UInt64 = 1 << 40
        try file.truncate(to: length, path: "file")
        #expect(try file.nextDataRange(from: 0, below: length, path: "file") == nil)
        try [1].withUnsafeBytes { try file.write($0, at: 1 << 39, path: "file") }
        let range = try #require(try file.nextDataRange(from: 0, below: length, path: "file"))
        #expect(range.contains(1 << 39) && range.count < 1 << 24)
        #expect(try file.nextDataRange(from: range.upperBound, below: length, path: "file") == nil)
        #expect(try file.nextDataRange(from: 0, below: 1 << 38, path: "file") == nil)
        #expect(try file.nextDataRange(from: length, below: length, path: "file") == nil)
    }

    @Test("link targets of any length are read", arguments: [1, 255, 256, 257, 1_024, 4_095])
    func linkTargets(length: Int) throws {
        let directory = try OpenDirectory()
        let target = (0..<length).map { UInt8($0 % 250 + 1) }
        try directory.root.createSymbolicLink(CName("link"), target: CName(target), path: "link")
        #expect(try directory.root.readLink(CName("link"), path: "link") == target)
    }

    @Test("reading the target of a file that is not a link is an error")
    func notALink() throws {
        let directory = try OpenDirectory()
        try directory.write("", to: "file")
        #expect(throws: FileError("read link", "file", .invalidArgument)) {
            try directory.root.readLink(CName("file"), path: "file")
        }
    }
}
