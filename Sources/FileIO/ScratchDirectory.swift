// A directory for temporary work, removed with its contents when the work is done.

internal import Glibc
package import SystemPackage

/// A private directory of this user, in the system's directory for temporary files.
package struct ScratchDirectory: ~Copyable {
    package let path: FilePath

    /// Creates one in `$TMPDIR`, or in `/tmp` if that is not set.
    ///
    /// - Parameter purpose: a word that becomes part of its name.
    package init(for purpose: String) throws(FileError) {
        let place = getenv("TMPDIR").map { FilePath(platformString: $0) } ?? "/tmp"
        let pattern = place.appending("archiver-\(purpose)-XXXXXX")
        var template = pattern.withPlatformString { Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) }
        let name = template.withUnsafeMutableBufferPointer { $0.baseAddress.flatMap { mkdtemp($0) } }
        guard let name else { throw FileError("create directory", pattern, .current) }
        path = FilePath(platformString: name)
    }

    deinit {
        // The system cleans up files that cannot be removed here.
        try? Directory.removeTree(path)
    }
}

extension Directory {
    /// Removes the directory `path` with its contents; fails at a mount below it and leaves the mount's contents.
    ///
    /// - Throws: `FileError` if something cannot be removed.
    package static func removeTree(_ path: FilePath) throws(FileError) {
        let parent = path.removingLastComponent()
        let directory = try Descriptor.open(parent.isEmpty ? "." : parent, O_RDONLY | O_DIRECTORY)
        guard let name = path.lastComponent else { throw FileError("remove", path, .invalidArgument) }
        try remove(CName(FilePath(root: nil, [name]).bytes), in: directory, path)
    }

    private static func remove(
        _ name: CName, in directory: borrowing Descriptor, _ path: FilePath
    ) throws(FileError) {
        do {
            return try directory.removeFile(name, path: path)
        } catch {
            guard error.code == .isDirectory || error.code == .notPermitted else { throw error }
        }
        do {
            return try directory.removeDirectory(name, path: path)
        } catch {
            guard error.code == .directoryNotEmpty else { throw error }
        }
        // A directory's permissions may prevent even its owner from emptying it.
        let number = directory.number
        _ = name.withPointer { fchmodat(number, $0, 0o700, 0) }
        let inner = try directory.open(name, O_RDONLY | O_DIRECTORY, path: .root)
        let (own, above) = (try FileStatus.read(inner), try FileStatus.read(directory))
        // Never empty a mounted file system.
        guard own.device == above.device, own.mount == above.mount else {
            throw FileError("remove", path, .resourceBusy)
        }
        for record in try DirectoryReader.list(inner, path: .root) {
            try remove(CName(record.name), in: inner, path.pushing(FilePath(bytes: record.name)))
        }
        try directory.removeDirectory(name, path: path)
    }
}
