// Simple access to the files of a test.

import FileIO
import Glibc
import SystemPackage
import TestSupport

extension TemporaryDirectory {
    /// The path of `name` in it.
    func callAsFunction(_ name: String) -> FilePath { path.appending(name) }

    /// Writes a file, and creates its parent directories.
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

    func read(_ name: String) throws -> [UInt8] {
        let file = path.pushing(FilePath(name))
        return try Descriptor.open(file, O_RDONLY).readToEnd(limit: 1 << 30, path: file)
    }
}
