// An open root: the directory to capture from and restore to.

package import ArchiveFormat
internal import ArchiveStorage
package import FileIO
internal import Glibc
package import SystemPackage

/// An open root.
///
/// Everything in it is opened relative to its descriptor, so nothing outside can be reached.
package struct RootDirectory: Sendable {
    /// The root's absolute path, symbolic links resolved.
    package let path: FilePath
    package let directory: SharedDirectory
    package let status: FileStatus

    /// Opens the directory at `path`.
    ///
    /// - Throws: `ArchiverError` with the codes `noSuchDirectory`, `notDirectory` or `permission`.
    package static func open(_ path: FilePath) throws -> RootDirectory {
        let real = try resolved(path)
        do {
            let descriptor = try Descriptor.open(real, O_RDONLY | O_DIRECTORY)
            let status = try FileStatus.read(descriptor)
            return RootDirectory(path: real, directory: SharedDirectory(descriptor), status: status)
        } catch {
            throw failure(FileError(error.operation, path, error.code))
        }
    }

    /// A hash of the directory's identity, which it keeps when it is moved; nil if its file system does not tell.
    package var identity: ChunkID? {
        FileStatus.identity(of: directory.descriptor)
            .map { ChunkID(hashing: Array("archiver directory\0".utf8) + $0) }
    }

    /// Opens the directory at `path` to capture it into the archive in `archive`.
    ///
    /// - Throws: `ArchiverError` with the codes of `open(_:)`, `noArchive` or `unsuitableRoot`.
    package static func open(_ path: FilePath, capturedInto archive: FilePath) throws -> RootDirectory {
        let root = try open(path)
        try checkIsOutside(archive, root.path, as: path)
        let fileSystem = try FileSystem.of(root.directory.descriptor)
        if fileSystem.reach == .pseudo {
            throw ArchiverError(
                .unsuitableRoot, "\(path) is on a virtual file system (\(fileSystem.name)): it holds no stored files",
                remedy: "capture a directory of files", path: path)
        }
        return root
    }

    /// The status of the entry at `path` in the root, without following links; nil if there is none.
    package func status(of path: RelativePath) throws(FileError) -> FileStatus? {
        if path.isRoot { return try FileStatus.read(directory.descriptor) }
        let name = CName(path.name)
        guard let parent = path.parent, !parent.isRoot else {
            return try FileStatus.read(name, in: directory.descriptor, path: path)
        }
        let opened = try directory.descriptor.open(beneath: parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        return try FileStatus.read(name, in: opened, path: path)
    }

    /// Checks that a root is not inside the archive's directory, where each capture would be a new change to capture.
    ///
    /// - Parameters:
    ///   - resolved: the root's path without symbolic links.
    ///   - path: the root's path as the user gave it.
    package static func checkIsOutside(_ archive: FilePath, _ resolved: FilePath, as path: FilePath) throws {
        let place: FilePath
        do { place = try self.resolved(archive) } catch let error as ArchiverError {
            guard error.code == .noSuchDirectory else { throw error }
            throw StorageError.replaced(archive)
        }
        guard resolved.starts(with: place) else { return }
        throw ArchiverError(
            .unsuitableRoot, "\(path) is the archive's own directory or inside it",
            remedy: Advice.captureElsewhere.text, path: path)
    }

    /// `path` as an absolute path, with symbolic links resolved as far as the path exists.
    package static func resolvedAsFarAsItExists(_ path: FilePath) throws -> FilePath {
        do {
            return try resolved(path)
        } catch let error as ArchiverError {
            guard error.code == .noSuchDirectory, let name = path.lastComponent, name.kind == .regular else {
                throw error
            }
            let parent = path.removingLastComponent()
            return try resolvedAsFarAsItExists(parent.isEmpty ? "." : parent).appending(name)
        }
    }

    /// `path` as an absolute path without symbolic links.
    package static func resolved(_ path: FilePath) throws -> FilePath {
        let resolved = path.withPlatformString { realpath($0, nil) }
        guard let resolved else { throw failure(FileError("open", path, .current)) }
        defer { free(resolved) }
        return FilePath(platformString: resolved)
    }

    private static func failure(_ error: FileError) -> ArchiverError {
        let path = error.path
        switch error.code {
        case .noSuchFileOrDirectory:
            return ArchiverError(
                .noSuchDirectory, "there is no directory \(path)", remedy: "check the spelling", path: path,
                cause: error)
        case .notDirectory:
            return ArchiverError(
                .notDirectory, "\(path) is not a directory", remedy: "give the directory that holds it", path: path,
                cause: error)
        case .permissionDenied, .notPermitted:
            return ArchiverError(
                .permission, "cannot read the directory \(path): permission denied",
                remedy: "change its permissions, or run as a user who may read it", path: path, cause: error)
        default:
            return ArchiverError(error)
        }
    }
}
