// A directory for one test.

package import Foundation
internal import Glibc
package import SystemPackage

/// An empty directory that is removed with all that it holds when the object ends.
package final class TemporaryDirectory: Sendable {
    package let path: FilePath

    /// - Parameter inMemory: whether many small files will be synced, which a disk makes slow.
    package init(inMemory: Bool = false) throws {
        path = try TemporaryDirectory.create(inMemory: inMemory)
    }

    deinit { TemporaryDirectory.remove(path) }

    package var url: URL { URL(filePath: path.string, directoryHint: .isDirectory) }

    /// Writes a file, with the directories above it.
    @discardableResult
    package func write(_ name: String, _ text: String) throws -> FilePath {
        let file = url.appending(path: name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return path.pushing(FilePath(name))
    }

    /// Makes a directory for whoever removes it.
    package static func create(inMemory: Bool = false) throws -> FilePath {
        let memory = "/dev/shm"
        let disk = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let parent = inMemory && access(memory, W_OK | X_OK) == 0 ? memory : disk
        var template = Array("\(parent)/archiver-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
        return template.withUnsafeBufferPointer { FilePath(platformString: Array($0)) }
    }

    /// Removes a directory that was made by `create`, though not all in it may be readable.
    package static func remove(_ path: FilePath) {
        // The name is mkdtemp's: nothing in it means anything to the shell.
        _ = system("chmod -R u+rwx '\(path.string)' 2>/dev/null; rm -rf '\(path.string)'")
    }
}
