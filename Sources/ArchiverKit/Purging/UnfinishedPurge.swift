// A mark in the archive that a purge has begun: one that was killed may have left files behind in which nobody looks.

internal import ArchiveStorage
internal import FileIO
internal import Glibc
internal import SystemPackage

/// A purge that has begun to remove and has not ended.
struct UnfinishedPurge {
    private let folder: FilePath
    private static let name = "unfinished"

    private var path: FilePath { folder.appending(UnfinishedPurge.name) }

    init(_ layout: ArchiveLayout) { folder = layout.certificates }

    /// Whether there is one.
    var exists: Bool { path.withPlatformString { access($0, F_OK) } == 0 }

    /// Notes it, durably.
    func begin() throws(FileError) {
        if exists { return }
        try Directory.create(folder, permissions: 0o700, durable: true)
        try DurableFile.replace(directory: folder, name: UnfinishedPurge.name, contents: [])
    }

    /// It has ended.
    func end() throws(FileError) {
        let result = path.withPlatformString { unlink($0) }
        if result != 0, Errno.current != .noSuchFileOrDirectory { throw FileError("remove", path, .current) }
        try Descriptor.open(folder, O_RDONLY | O_DIRECTORY).synchronize(path: folder)
    }
}
