// Segments as files, in one directory for each day.

internal import ArchiveFormat
internal import FileIO
internal import Glibc
internal import SystemPackage

/// The segments in an archive's `segments` directory.
struct LocalSegments: SegmentStore {
    private let directory: FilePath

    /// The least age of a day's folder before it is removed, in seconds; generous, as clocks differ.
    private static let folderSeconds: Int64 = 3 * 86_400
    /// The most bytes freed in one step if other processes must not wait.
    private static let freedBytes = 4 << 20

    init(_ layout: ArchiveLayout) {
        directory = layout.segments
    }

    func prepare() throws(StorageError) {
        try storing { () throws(FileError) in try Directory.create(directory, permissions: 0o700, durable: false) }
    }

    func path(of name: String) -> FilePath { directory.appending(name) }

    func length(of name: String) -> Int? {
        var status = stat()
        let result = path(of: name).withPlatformString { stat($0, &status) }
        return result == 0 && FileKind(mode: status.st_mode) == .file ? Int(status.st_size) : nil
    }

    // MARK: Listing

    func list() throws(StorageError) -> SegmentListing {
        var listing = SegmentListing()
        var folders = [""]
        while let folder = folders.popLast() {
            for item in try LocalSegments.names(in: folder.isEmpty ? directory : path(of: folder)) {
                let name = String(decoding: item.name, as: UTF8.self)
                let path = folder.isEmpty ? name : folder + "/" + name
                if SegmentName(fileName: name) != nil {
                    listing.segments.append(path)
                } else if item.kind == .directory {
                    folders.append(path)
                } else if TemporaryFile.isTemporaryName(item.name) {
                    listing.unfinished.append(path)
                } else {
                    listing.strangers.append(path)
                }
            }
        }
        listing.segments.sort()
        listing.strangers.sort()
        return listing
    }

    /// The names in the directory at `path`; empty if there is no such directory.
    private static func names(in path: FilePath) throws(StorageError) -> DirectoryListing {
        do {
            return try DirectoryReader.list(Descriptor.open(path, O_RDONLY | O_DIRECTORY), path: .root)
        } catch  where error.code == .noSuchFileOrDirectory {
            return DirectoryListing()
        } catch {
            throw StorageError(FileError(error.operation, path, error.code))
        }
    }

    // MARK: Opening and making

    func open(_ name: String, writable: Bool) throws(StorageError) -> any SegmentBytes {
        try LocalSegment(at: path(of: name), writable: writable)
    }

    func create(_ name: SegmentName, _ header: SegmentHeader) throws(StorageError) -> (any SegmentBytes)? {
        let folder = directory.appending(name.folder)
        let path = folder.appending(name.fileName)
        do {
            try Directory.create(folder, permissions: 0o700, durable: true)
            let parent = try Descriptor.open(folder, O_RDONLY | O_DIRECTORY)
            let temporary = try TemporaryFile(in: parent, path: path)
            let file = LocalSegment(at: path, owning: try temporary.file.duplicate(path: path))
            // Before the lock, another process may have removed the file as left behind.
            guard try file.tryLock(), try file.hasName() else { return nil }
            try temporary.file.write(header.encoded(), path: path)
            try temporary.file.synchronize(path: path)
            try temporary.rename(toNew: CName(name.fileName.utf8))
            do { try parent.synchronize(path: folder) } catch {
                unlink(path.string)
                throw error
            }
            return file
        } catch let error as FileError {
            throw StorageError(error)
        } catch let error as StorageError {
            throw error
        } catch {
            throw StorageError(.system, path, "cannot begin the segment \(path): \(error)")
        }
    }

    // MARK: Removing

    func remove(_ name: String, pausing pause: (() throws(StorageError) -> Void)?) throws(StorageError) {
        let path = path(of: name)
        let folder = path.removingLastComponent()
        if let pause { try shrink(path, pause) }
        let result = path.withPlatformString { unlink($0) }
        if result != 0, Errno.current != .noSuchFileOrDirectory {
            throw StorageError(FileError("remove", path, .current))
        }
        try storing { () throws(FileError) in
            try Descriptor.open(folder, O_RDONLY | O_DIRECTORY).synchronize(path: folder)
        }
        // An old day's empty folder is removed too, once no writer can be about to create a segment in it.
        let soon = SegmentName(
            created: Timestamp(seconds: Timestamp.now.seconds - LocalSegments.folderSeconds), segment: .random())
        if folder.string < directory.appending(soon.folder).string {
            _ = folder.withPlatformString { rmdir($0) }
        }
    }

    /// Truncates a file step by step: a file system frees a large file in one go, and blocks all writers while it does.
    ///
    /// A process that still reads it falls back to the copies, as for a removed segment.
    private func shrink(_ path: FilePath, _ pause: () throws(StorageError) -> Void) throws(StorageError) {
        guard let file = try? Descriptor.openFile(path, O_WRONLY), let status = try? FileStatus.read(file),
            status.links == 1
        else { return }
        var left = Int(status.size)
        while left > SegmentHeader.byteCount {
            left = max(SegmentHeader.byteCount, left - LocalSegments.freedBytes)
            // The segment is removed in any case.
            do { try file.truncate(to: UInt64(left), path: path) } catch { return }
            try pause()
        }
    }

    func removeUnfinished(_ name: String) {
        let path = path(of: name)
        guard let file = try? LocalSegment(at: path, writable: true), (try? file.tryLock()) == true else { return }
        unlink(path.string)
    }
}
