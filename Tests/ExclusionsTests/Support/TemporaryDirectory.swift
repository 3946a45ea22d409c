// A directory for one test.

import FileIO
import Glibc

/// An empty directory that is removed with all it holds when the value ends.
final class TemporaryDirectory: Sendable {
    let path: String
    /// The directory, opened with O_DIRECTORY.
    let root: Descriptor

    init() throws {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/ExclusionsTests.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw FileError("create directory", .init(bytes: base.utf8), .current) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        root = try Descriptor.open(.init(bytes: path.utf8), O_RDONLY | O_DIRECTORY)
    }

    deinit {
        // The name is mkdtemp's: nothing in it means anything to the shell.
        _ = system("chmod -R u+rwx '\(path)' && rm -rf '\(path)'")
    }

    /// Makes or replaces a file.
    func write(_ contents: [UInt8], to path: RelativePath) throws(FileError) {
        let file = try root.open(beneath: path, O_WRONLY | O_CREAT | O_TRUNC, permissions: 0o644)
        try file.write(contents, path: .init(path))
    }

    func createDirectory(_ path: RelativePath) throws(FileError) {
        let place = try root.openParent(of: path)
        try place.directory.createDirectory(place.name, permissions: 0o755, path: .init(path))
    }

    /// Makes a symbolic link.
    func createLink(_ path: RelativePath, to target: String) throws(FileError) {
        let place = try root.openParent(of: path)
        try place.directory.createSymbolicLink(place.name, target: CName(target.utf8), path: .init(path))
    }

    func remove(_ path: RelativePath) throws(FileError) {
        let place = try root.openParent(of: path)
        try place.directory.removeFile(place.name, path: .init(path))
    }
}
