// Simple access to the files of a test.

import FileIO
import Glibc
import TestSupport

extension OpenDirectory {
    /// Creates or replaces a file.
    func write(_ contents: [UInt8], to path: RelativePath) throws(FileError) {
        let file = try root.open(beneath: path, O_WRONLY | O_CREAT | O_TRUNC, permissions: 0o644)
        try file.write(contents, path: .init(path))
    }

    func createDirectory(_ path: RelativePath) throws(FileError) {
        let place = try root.openParent(of: path)
        try place.directory.createDirectory(place.name, permissions: 0o755, path: .init(path))
    }

    /// Creates a symbolic link.
    func createLink(_ path: RelativePath, to target: String) throws(FileError) {
        let place = try root.openParent(of: path)
        try place.directory.createSymbolicLink(place.name, target: CName(target.utf8), path: .init(path))
    }

    func remove(_ path: RelativePath) throws(FileError) {
        let place = try root.openParent(of: path)
        try place.directory.removeFile(place.name, path: .init(path))
    }
}
