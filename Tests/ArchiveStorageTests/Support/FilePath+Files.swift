// Plain access to files.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import SystemPackage

extension FilePath {
    func readFile() throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: string)))
    }

    func writeFile(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: string))
    }

    func removeFile() throws {
        try FileManager.default.removeItem(atPath: string)
    }

    func makeDirectory() throws {
        try FileManager.default.createDirectory(atPath: string, withIntermediateDirectories: true)
    }

    /// Paths of all files below this directory, relative to it, sorted.
    func filesBelow() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: string).filter { name in
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: string + "/" + name, isDirectory: &isDirectory)
                && !isDirectory.boolValue
        }.sorted()
    }

    /// Changes one byte of the file.
    func flipByte(at offset: Int) throws {
        var bytes = try readFile()
        bytes[offset] ^= 0x20
        try writeFile(bytes)
    }

    /// The offset of the first block after a segment's opening.
    func afterOpening() throws -> Int {
        let segment = try Segment(LocalSegment(at: EnclosedPath(file: self)))
        return try SegmentHeader.byteCount + segment.blockHeader(at: SegmentHeader.byteCount).blockLength
    }
}
