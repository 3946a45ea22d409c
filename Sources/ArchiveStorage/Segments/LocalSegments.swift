// Segments as files, in one directory for each day.

internal import ArchiveFormat
internal import FileIO
internal import Glibc
internal import SystemPackage

/// The segments in an archive's `segments` directory.
struct LocalSegments: SegmentStore {
    private let directory: EnclosedPath
    /// A file with the name of each segment that was begun, one a line.
    ///
    /// Each segment names the earlier ones; this names the newest ones, too. What it lacks, as the disk was full, is
    /// added when the archive is opened.
    private let begun: EnclosedPath

    /// The least age of a day's folder before it is removed, in seconds; generous, as clocks differ.
    private static let folderSeconds: Int64 = 3 * 86_400
    /// The most bytes freed in one step if other processes must not wait.
    private static let freedBytes = 4 << 20

    init(_ layout: ArchiveLayout) {
        directory = layout.segments
        begun = layout.begun
    }

    func prepare() throws(StorageError) {
        try storing { () throws(FileError) in try directory.createDirectory(durable: false) }
    }

    func path(of name: String) -> FilePath { place(of: name).path }

    private func place(of name: String) -> EnclosedPath { directory.appending(name) }

    func freeBytes() -> Int? {
        guard let file = try? directory.openDirectory(),
            let bytes = try? FileSystem.freeBytes(of: file)
        else { return nil }
        return Int(clamping: bytes)
    }

    func totalBytes() -> Int? {
        guard let file = try? directory.openDirectory(), let bytes = try? FileSystem.totalBytes(of: file), bytes > 0
        else { return nil }
        return Int(clamping: bytes)
    }

    func length(of name: String) -> Int? {
        guard let status = try? place(of: name).status, status.kind == .file else { return nil }
        return Int(status.size)
    }

    // MARK: Listing

    func list() throws(StorageError) -> SegmentListing {
        var listing = SegmentListing()
        var folders = [""]
        while let folder = folders.popLast() {
            for item in try LocalSegments.names(in: folder.isEmpty ? directory : place(of: folder)) {
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
        let noted = notedNames()
        let present = listing.segments.map { ($0, $0.split(separator: "/").last.map(String.init) ?? $0) }
        let names = Set(present.map(\.1))
        listing.begun = noted.subtracting(names).sorted().compactMap { SegmentName(fileName: $0) }
        listing.unnoted = present.filter { !noted.contains($0.1) }.map(\.0)
        return listing
    }

    // MARK: The list of begun segments

    private static let listLimit = 64 << 20

    /// The lines of the list.
    private func notedNames() -> Set<String> {
        guard let file = try? begun.open(O_RDONLY),
            let bytes = try? file.readToEnd(limit: LocalSegments.listLimit, path: begun.path)
        else { return [] }
        return Set(bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) })
    }

    func note(begun names: [SegmentName]) {
        if names.isEmpty { return }
        guard let file = try? begun.openOrCreate(O_RDWR | O_APPEND), let status = try? FileStatus.read(file),
            status.links == 1
        else { return }
        // A line that was cut off must not swallow the next one.
        var last = [UInt8(ascii: "\n")]
        if status.size > 0 {
            _ = last.withUnsafeMutableBytes { try? file.read(into: $0, at: status.size - 1, path: begun.path) }
        }
        let lines = (last == [UInt8(ascii: "\n")] ? "" : "\n") + names.map { $0.fileName + "\n" }.joined()
        guard (try? file.write(Array(lines.utf8), at: status.size, path: begun.path)) != nil else { return }
        try? file.synchronize(path: begun.path)
        if status.size == 0, let parent = try? begun.parent.openDirectory() {
            try? parent.synchronize(path: begun.parent.path)
        }
    }

    /// The names in the directory at `path`; empty if there is no such directory.
    private static func names(in place: EnclosedPath) throws(StorageError) -> DirectoryListing {
        do {
            return try DirectoryReader.list(place.openDirectory(), path: .root)
        } catch  where error.code == .noSuchFileOrDirectory {
            return DirectoryListing()
        } catch {
            throw StorageError(FileError(error.operation, error.path == "." ? place.path : error.path, error.code))
        }
    }

    // MARK: Opening and making

    func open(_ name: String) throws(StorageError) -> any SegmentReading { try LocalSegment(at: place(of: name)) }

    func openToWrite(_ name: String) throws(StorageError) -> any SegmentBytes {
        let place = place(of: name)
        // A hard link leads to a file of somebody else, or of a copy of the archive: it is read and never changed.
        if let status = try? place.status, status.links > 1 {
            throw StorageError(
                .readOnly, place.path, "segment \(place.path) has another name, so nothing is appended to it",
                remedy: "replace it by a copy of its own")
        }
        return try LocalSegment(at: place, writable: true)
    }

    func create(_ name: SegmentName, _ bytes: [UInt8]) throws(StorageError) -> (any SegmentBytes)? {
        let folder = directory.appending(name.folder)
        let place = folder.appending(name.fileName)
        let path = place.path
        do {
            try folder.createDirectory(durable: true)
            let parent = try folder.openDirectory()
            let temporary = try place.temporaryFile(in: parent)
            let file = LocalSegment(at: place, owning: try temporary.file.duplicate(path: path))
            // Before the lock, another process may have removed the file as left behind.
            guard try file.tryLock(), try file.hasName() else { return nil }
            try temporary.file.write(bytes, path: path)
            try temporary.file.synchronize(path: path)
            try temporary.rename(toNew: CName(name.fileName.utf8))
            do { try parent.synchronize(path: folder.path) } catch {
                try place.remove()
                throw error
            }
            note(begun: [name])
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
        let place = place(of: name)
        let folder = place.parent
        if let pause { try shrink(place, pause) }
        try storing { () throws(FileError) in
            try place.remove()
            try folder.openDirectory().synchronize(path: folder.path)
        }
        // An old day's empty folder is removed too, once no writer can be about to create a segment in it.
        let soon = SegmentName(
            created: Timestamp(seconds: Timestamp.now.seconds - LocalSegments.folderSeconds), segment: .random())
        if folder.inner < directory.appending(soon.folder).inner { folder.removeEmptyDirectory() }
    }

    /// Truncates a file step by step: a file system frees a large file in one go, and blocks all writers while it does.
    ///
    /// A process that still reads it falls back to the copies, as for a removed segment.
    private func shrink(_ place: EnclosedPath, _ pause: () throws(StorageError) -> Void) throws(StorageError) {
        guard let file = try? place.open(O_WRONLY), let status = try? FileStatus.read(file),
            status.links == 1
        else { return }
        var left = Int(status.size)
        while left > SegmentHeader.byteCount {
            left = max(SegmentHeader.byteCount, left - LocalSegments.freedBytes)
            // The segment is removed in any case.
            do { try file.truncate(to: UInt64(left), path: place.path) } catch { return }
            try pause()
        }
    }

    func removeUnfinished(_ name: String) {
        let place = place(of: name)
        guard let file = try? LocalSegment(at: place, writable: true), (try? file.tryLock()) == true else { return }
        _ = try? place.remove()
    }
}
