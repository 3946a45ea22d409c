// A place for one test's files, gone when the test ends.

import FileIO
import Glibc
import SystemPackage

/// A new empty directory.
final class TemporaryDirectory {
    let path: FilePath

    init() throws {
        var template = Array("/tmp/archiver-test-XXXXXX\0".utf8CString)
        guard mkdtemp(&template) != nil else { throw FileError("create", FilePath("/tmp"), .current) }
        path = template.withUnsafeBufferPointer { FilePath(platformString: Array($0)) }
    }

    deinit {
        _ = try? ChildProcess.run("rm", ["-rf", path.string].map { Array($0.utf8) })
    }

    /// The path of `name` in it.
    func callAsFunction(_ name: String) -> FilePath { path.appending(name) }

    /// Writes a file, making the directories that lead to it.
    @discardableResult
    func write(_ name: String, _ bytes: [UInt8]) throws -> FilePath {
        let file = path.pushing(FilePath(name))
        _ = try ChildProcess.run("mkdir", [Array("-p".utf8), file.removingLastComponent().bytes])
        let descriptor = try Descriptor.open(file, O_WRONLY | O_CREAT | O_TRUNC, permissions: 0o644)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor.number, $0.baseAddress, $0.count) }
            if count < 0 { throw FileError("write", file, .current) }
            rest = rest.dropFirst(count)
        }
        return file
    }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> FilePath { try write(name, Array(text.utf8)) }

    func read(_ name: String) throws -> [UInt8] {
        let file = path.pushing(FilePath(name))
        return try Descriptor.open(file, O_RDONLY).readToEnd(limit: 1 << 30, path: file)
    }
}
