// Simple access to the files of a test.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport

extension OpenDirectory {
    /// Names in the directory, sorted.
    func names() throws -> [String] {
        var reader = DirectoryReader()
        let directory = try Descriptor.open(path, O_RDONLY | O_DIRECTORY)
        return try reader.read(directory, path: .root).map { String(decoding: $0.name, as: UTF8.self) }
    }

    /// Creates or replaces a file below the directory.
    func write(_ contents: String, to name: String) throws {
        let file = try Descriptor.open(path.appending(name), O_WRONLY | O_CREAT | O_TRUNC, permissions: 0o644)
        try file.write(Array(contents.utf8), path: path.appending(name))
    }

    func contents(of name: String) throws -> String {
        let file = try Descriptor.open(path.appending(name), O_RDONLY)
        return String(decoding: try file.readToEnd(limit: 1 << 20, path: path.appending(name)), as: UTF8.self)
    }

    /// The status of a name in the directory; symbolic links are not followed.
    func status(_ name: CName) throws -> FileStatus? { try FileStatus.read(name, in: root) }
}

extension CName {
    init(_ name: String) { self.init(name.utf8) }
}

/// Calls `body`, which may block, on a new thread and not on one of Swift's cooperative pool.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}
