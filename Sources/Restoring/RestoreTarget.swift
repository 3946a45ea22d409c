// A directory to restore into: new, empty, or left by an interrupted run of the same restore.

internal import ArchiveFormat
internal import FileIO
internal import Glibc
internal import Roots
internal import SystemPackage

/// A target with a marker that distinguishes an interrupted restore from a directory with other content.
struct RestoreTarget {
    let root: RootDirectory
    /// Whether an earlier run of the same restore has begun to fill the target.
    let isContinued: Bool

    static let markerName = TemporaryFile.namePrefix + "restoring"

    /// Opens or creates the directory `path`.
    ///
    /// - Parameter marker: identifies this restore.
    /// - Throws: `ArchiverError` with the code `targetNotEmpty` if it has other content.
    static func open(_ path: FilePath, marker: String) throws -> RestoreTarget {
        do {
            try Directory.create(path, permissions: 0o700, durable: false)
        } catch {
            guard error.code == .notDirectory else { throw error }
            throw ArchiverError(
                .targetNotEmpty, "\(path) exists and is not a directory", remedy: "name a new directory", path: path)
        }
        let root = try RootDirectory.open(path)
        // A restore that is killed before the marker has its name leaves only a temporary file.
        let names = try names(in: root).filter { !TemporaryFile.isTemporaryName($0) }
        if names.isEmpty {
            try removeTemporaryFiles(in: .root, of: root)
            try DurableFile.replace(directory: root.path, name: markerName, contents: Array(marker.utf8))
            return RestoreTarget(root: root, isContinued: false)
        }
        guard names.contains(Array(markerName.utf8)), try read(in: root) == Array(marker.utf8) else {
            throw ArchiverError(
                .targetNotEmpty, "the target \(path) is not empty", remedy: "name a new or empty directory",
                path: path)
        }
        return RestoreTarget(root: root, isContinued: true)
    }

    private static func names(in root: RootDirectory) throws -> [[UInt8]] {
        let descriptor = try Descriptor.open(root.path, O_RDONLY | O_DIRECTORY)
        return try DirectoryReader.list(descriptor, path: .root).map(\.name)
    }

    private static func read(in root: RootDirectory) throws -> [UInt8] {
        let path = root.path.appending(markerName)
        return try Descriptor.open(path, O_RDONLY | O_NOFOLLOW).readToEnd(limit: 1 << 16, path: path)
    }

    /// Removes the temporary files that an interrupted restore left in one directory.
    static func removeTemporaryFiles(in path: RelativePath, of root: RootDirectory) throws {
        let directory = SharedDirectory(
            try root.directory.descriptor.open(beneath: path, O_RDONLY | O_DIRECTORY))
        let records = try DirectoryReader.list(directory.descriptor, path: path)
        for item in records where TemporaryFile.isTemporaryName(item.name) {
            _ = try TemporaryFile.removeLeftBehind(
                CName(item.name), in: directory.descriptor, path: FilePath(path.appending(item.name)))
        }
    }

    /// Removes a temporary file that was left behind in a root, and preserves the time of its directory.
    static func removeLeftBehind(_ path: RelativePath, in root: RootDirectory) throws {
        let parent = path.parent ?? .root
        let directory = try root.directory.descriptor.open(beneath: parent, O_RDONLY | O_DIRECTORY)
        let status = try FileStatus.read(directory, path: parent)
        if try TemporaryFile.removeLeftBehind(CName(path.name), in: directory, path: FilePath(path)) {
            try directory.setModified(status.modified, path: FilePath(parent))
        }
    }

    /// Removes the marker and sets the target's permissions and time again.
    func finish(_ wanted: Entry?) throws {
        let directory = root.directory
        let path = root.path.appending(RestoreTarget.markerName)
        // The wanted permissions may deny even the owner changes in the directory.
        let isLocked = wanted.map { $0.permissions & 0o300 != 0o300 } ?? false
        if let wanted, isLocked {
            try directory.descriptor.setPermissions(wanted.permissions | 0o700, path: root.path)
        }
        try directory.descriptor.removeFile(CName(RestoreTarget.markerName.utf8), path: path)
        defer { try? directory.descriptor.synchronize(path: root.path) }
        guard let wanted else { return }
        if isLocked { try directory.descriptor.setPermissions(wanted.permissions, path: root.path) }
        try directory.descriptor.setModified(wanted.modified, path: root.path)
    }
}
