// A directory for one test, and plain access to the files in it.

import FileIO
import Foundation
import Glibc
import SystemPackage

/// An empty directory that is removed with all it holds when the value ends.
final class TemporaryDirectory: Sendable {
    let path: FilePath

    /// - Parameter inMemory: whether many small files will be synced, which a disk makes slow.
    init(inMemory: Bool = false) throws {
        let memory = "/dev/shm"
        let disk = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let base = inMemory && access(memory, W_OK | X_OK) == 0 ? memory : disk
        var template = Array("\(base)/archiver-storage-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw FileError("create directory", FilePath(base), .current) }
        path = template.withUnsafeBufferPointer { buffer in
            FilePath(bytes: buffer.dropLast().map { UInt8(bitPattern: $0) })
        }
    }

    deinit {
        _ = try? FileManager.default.removeItem(atPath: path.string)
    }
}

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
}
