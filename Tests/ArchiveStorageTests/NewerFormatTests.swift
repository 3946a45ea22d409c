// Segments of a newer format: they are refused by their version, never skipped.

import ArchiveFormat
import ArchiveStorage
import Compression
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Segments of a newer format", .blocking)
struct NewerFormatTests {
    @Test("an archive with a segment of a newer version is refused with that version", arguments: [true, false])
    func newerSegment(isKnown: Bool) throws {
        let directory = try TemporaryDirectory()
        _ = try ArchiveStore.open(directory.path, creating: true).commit(1, [[1]])
        if isKnown { _ = try ArchiveStore.open(directory.path, creating: false).commit(2, [[2]]) }
        let segment = try onlySegment(in: directory.path)
        var bytes = try segment.readFile()
        bytes[8] = 2
        let checksum = bytes[..<60].withUnsafeBytes { crc32($0) }
        withUnsafeBytes(of: checksum.littleEndian) { bytes.replaceSubrange(60..<64, with: $0) }
        try segment.writeFile(bytes)
        for suffix in ["", "-wal", "-shm"] {
            try? directory.path.appending("catalogue.sqlite" + suffix).removeFile()
        }
        for _ in 1...2 {
            let error = try failure { try ArchiveStore.open(directory.path, creating: false) }
            #expect(error?.code == .newerFormat)
            #expect(error?.message.contains("version 2") == true, "\(error?.message ?? "opened")")
        }
        #expect(try segment.readFile() == bytes)
    }

    @Test("a damaged version number is reported as damage, and the archive opens")
    func damagedVersion() throws {
        let directory = try TemporaryDirectory()
        let commit = try ArchiveStore.open(directory.path, creating: true).commit(1, [[1, 2, 3]])
        let segment = try onlySegment(in: directory.path)
        var bytes = try segment.readFile()
        bytes[11] ^= 0x40
        try segment.writeFile(bytes)
        for suffix in ["", "-wal", "-shm"] {
            try? directory.path.appending("catalogue.sqlite" + suffix).removeFile()
        }
        let opened = try ArchiveStore.open(directory.path, creating: false)
        #expect(!opened.findings.isEmpty)
        #expect(try opened.holds(commit))
    }
}
