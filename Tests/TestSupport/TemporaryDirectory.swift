// A temporary directory for a test.

package import Foundation
internal import Glibc
package import SystemPackage

/// A new directory that is removed with its contents when the object is released.
package final class TemporaryDirectory: Sendable {
    package let path: FilePath

    /// Creates the directory.
    ///
    /// - Parameter inMemory: whether to create it in memory, for tests that sync many small files.
    package init(inMemory: Bool = false) throws {
        path = try TemporaryDirectory.create(inMemory: inMemory)
    }

    deinit { TemporaryDirectory.remove(path) }

    package var url: URL { URL(filePath: path.string, directoryHint: .isDirectory) }

    /// Writes a file and creates its missing parent directories.
    @discardableResult
    package func write(_ name: String, _ text: String) throws -> FilePath {
        let file = url.appending(path: name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return path.pushing(FilePath(name))
    }

    /// Creates a directory, which the caller must remove.
    package static func create(inMemory: Bool = false) throws -> FilePath {
        let memory = "/dev/shm"
        let disk = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let parent = inMemory && access(memory, W_OK | X_OK) == 0 ? memory : disk
        var template = Array("\(parent)/archiver-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
        return template.withUnsafeBufferPointer { FilePath(platformString: Array($0)) }
    }

    /// Removes a directory made by `create`, even if some of its contents are unreadable.
    package static func remove(_ path: FilePath) {
        // The name comes from mkdtemp, so it contains no characters special to the shell.
        _ = system("chmod -R u+rwx '\(path.string)' 2>/dev/null; rm -rf '\(path.string)'")
    }
}
