// Writes small files so that a crash leaves either the old content or the new, never a mixture.

internal import Glibc
package import SystemPackage

/// Files that are replaced atomically and survive a system crash.
package enum DurableFile {
    /// Replaces or creates the file `name` in `directory`.
    ///
    /// Writes a temporary file in the same directory, waits until it is on the disk, renames it, and waits until the
    /// name is on the disk (rename(2), fsync(2)). If anything fails up to the rename, the old content stays and the
    /// temporary file is removed.
    ///
    /// - Parameters:
    ///   - permissions: mode bits.
    ///   - isExact: whether the process's umask does not apply to them.
    package static func replace(
        directory: FilePath, name: String, contents: [UInt8], permissions: UInt16 = 0o600, isExact: Bool = false
    ) throws(FileError) {
        let path = directory.appending(name)
        let folder = try Descriptor.open(directory, O_RDONLY | O_DIRECTORY)
        let temporary = try TemporaryFile(in: folder, permissions: permissions, path: path)
        if isExact, fchmod(temporary.file.number, mode_t(permissions)) != 0 {
            throw FileError("change the permissions of", path, .current)
        }
        try temporary.file.write(contents, path: path)
        try temporary.file.synchronize(path: path)
        try temporary.rename(to: CName(name.utf8))
        try folder.synchronize(path: directory)
    }

    /// Replaces or creates the file at `path` in the same way, and its missing directories.
    package static func replace(_ path: EnclosedPath, contents: [UInt8]) throws(FileError) {
        try path.parent.createDirectory(durable: true)
        let folder = try path.parent.openDirectory()
        let temporary = try path.temporaryFile(in: folder)
        try temporary.file.write(contents, path: path.path)
        try temporary.file.synchronize(path: path.path)
        try temporary.rename(to: path.name)
        try folder.synchronize(path: path.parent.path)
    }

    /// Creates the new file at `path` in the same way.
    ///
    /// - Throws: `FileError`, with the code `.fileExists` if the name exists; the existing object stays unchanged.
    package static func create(_ path: EnclosedPath, contents: [UInt8]) throws(FileError) {
        let folder = try path.parent.openDirectory()
        let temporary = try path.temporaryFile(in: folder)
        try temporary.file.write(contents, path: path.path)
        try finish(temporary, path.name, in: folder, path.parent.path)
    }

    /// Creates the new file `name` in `directory` in the same way.
    ///
    /// - Throws: `FileError`, with the code `.fileExists` if the name exists; the existing object stays unchanged.
    package static func create(
        directory: FilePath, name: CName, contents: [UInt8], permissions: UInt16 = 0o600
    ) throws(FileError) {
        let path = directory.pushing(FilePath(bytes: name.bytes))
        let folder = try Descriptor.open(directory, O_RDONLY | O_DIRECTORY)
        let temporary = try TemporaryFile(in: folder, permissions: permissions, path: path)
        try temporary.file.write(contents, path: path)
        try finish(temporary, name, in: folder, directory)
    }

    /// Creates the new file `name` in `directory` in the same way, from the pieces that `body` passes on.
    ///
    /// - Throws: `FileError` as above, and any error of `body`.
    package static func create(
        directory: FilePath, name: CName, permissions: UInt16, _ body: (([UInt8]) throws -> Void) throws -> Void
    ) throws {
        let path = directory.pushing(FilePath(bytes: name.bytes))
        let folder = try Descriptor.open(directory, O_RDONLY | O_DIRECTORY)
        let temporary = try TemporaryFile(in: folder, permissions: permissions, path: path)
        var position: UInt64 = 0
        try body { piece in
            try temporary.file.write(piece, at: position, path: path)
            position += UInt64(piece.count)
        }
        try finish(temporary, name, in: folder, directory)
    }

    private static func finish(
        _ temporary: consuming TemporaryFile, _ name: CName, in folder: borrowing Descriptor, _ directory: FilePath
    ) throws(FileError) {
        let path = directory.pushing(FilePath(bytes: name.bytes))
        try temporary.file.synchronize(path: path)
        try temporary.rename(toNew: name)
        try folder.synchronize(path: directory)
    }
}
