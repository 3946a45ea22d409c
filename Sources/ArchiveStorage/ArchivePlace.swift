// The place of an archive: recognising an archive, and creating one.

internal import ArchiveFormat
internal import FileIO
internal import Glibc
internal import SystemPackage

/// The directory of an archive, existing or new, and the store of its segments.
struct ArchivePlace {
    let layout: ArchiveLayout
    let segments: any SegmentStore

    init(layout: ArchiveLayout, segments: any SegmentStore) {
        self.layout = layout
        self.segments = segments
    }

    /// - Parameter segments: the store of its segments; nil for the directory.
    init(of directory: FilePath, _ segments: (any SegmentStore)? = nil) {
        layout = ArchiveLayout(directory)
        self.segments = segments ?? LocalSegments(layout)
    }

    /// Reads the manifest.
    func open() throws(StorageError) -> ArchiveManifest {
        do {
            return try read()
        } catch  where error.code == .noArchive {
            let directory = layout.directory
            guard let names = try names(in: directory) else { throw error }
            // Another process may have created it in the meantime.
            if let manifest = try? read() { return manifest }
            try checkForSegments()
            if names.isEmpty { throw error }
            throw StorageError(
                .notAnArchive, directory, "\(directory) is not an archive: it has no archive.json",
                remedy: "name an archive with --archive")
        }
    }

    /// Reads the manifest; creates the archive if its directory is missing or empty.
    ///
    /// - Returns: the manifest, and whether this call created the archive.
    func openOrCreate() throws(StorageError) -> (manifest: ArchiveManifest, isNew: Bool) {
        do {
            return (try read(), false)
        } catch  where error.code == .noArchive {
            // Check before creating anything: a foreign directory stays untouched.
            do { try checkIsFree() } catch {
                // Another process may have been quicker.
                guard let manifest = try? read() else { throw error }
                return (manifest, false)
            }
            try storing { () throws(FileError) in
                try Directory.create(layout.directory, permissions: 0o700, durable: true)
            }
            let lock = try UseLock.opening(layout)
            defer { withExtendedLifetime(lock) {} }
            // Another process may have been quicker.
            do {
                return (try read(), false)
            } catch  where error.code == .noArchive {
                try checkIsFree()
                try create()
                return (try read(), true)
            }
        }
    }

    /// Reads the manifest; if it is damaged or missing, rebuilds it from the headers of the segments.
    ///
    /// - Parameter lock: held exclusively, so that no other process uses the archive.
    func openOrMend(_ lock: UseLock) throws(StorageError) -> ArchiveManifest {
        do { return try open() } catch {
            guard error.code == .damaged, error.path == layout.manifest.path else { throw error }
            let manifest = try manifestOfSegments(error)
            try storing { () throws(FileError) in
                try layout.salvage.createDirectory(durable: true)
                let name = "archive.json.\(UInt32.random(in: .min ... .max))"
                let path = layout.manifest.path
                do throws(FileError) {
                    try layout.manifest.parent.openDirectory().rename(
                        layout.manifest.name, to: CName(name.utf8), in: layout.salvage.openDirectory(), path: path)
                } catch {
                    guard error.code == .noSuchFileOrDirectory else { throw error }
                }
                try DurableFile.create(layout.manifest, contents: manifest.encoded())
            }
            return manifest
        }
    }

    /// The manifest that the segments' headers describe.
    private func manifestOfSegments(_ error: StorageError) throws(StorageError) -> ArchiveManifest {
        var created: [ArchiveID: Timestamp] = [:]
        for name in try segments.list().segments {
            guard let bytes = try? segments.open(name, writable: false), let header = try? Segment(bytes).readHeader()
            else { continue }
            created[header.archive] = min(created[header.archive] ?? header.created, header.created)
        }
        guard let (id, time) = created.first else { throw error }
        guard created.count == 1 else {
            throw StorageError(
                .damaged, layout.manifest.path,
                "\(layout.manifest.path) is lost, and the segments belong to \(created.count) archives",
                remedy: "move the segments of the other archives away")
        }
        return ArchiveManifest(id: id, created: time)
    }

    private func read() throws(StorageError) -> ArchiveManifest {
        let bytes: [UInt8]
        do {
            bytes = try layout.manifest.open(O_RDONLY).readToEnd(limit: 1 << 20, path: layout.manifest.path)
        } catch  where error.code == .noSuchFileOrDirectory || error.code == .notDirectory {
            throw StorageError(
                .noArchive, layout.directory, "there is no archive at \(layout.directory)",
                remedy: "is its disk mounted? otherwise name the archive with --archive")
        } catch {
            throw StorageError(error)
        }
        do { return try ArchiveManifest(decoding: bytes) } catch {
            guard case .unknownVersion(let version) = error else {
                throw StorageError(
                    .damaged, layout.manifest.path, "\(layout.manifest.path) is damaged: \(error)",
                    remedy: "run 'archiver repair', or put the file back from a copy of the archive")
            }
            throw StorageError(
                .newerFormat, layout.directory,
                "the archive \(layout.directory) has format version \(version), newer than this program knows",
                remedy: "use a newer archiver")
        }
    }

    private func create() throws(StorageError) {
        let manifest = ArchiveManifest(id: .random(), created: .now)
        try segments.prepare()
        try storing { () throws(FileError) in
            try DurableFile.create(layout.manifest, contents: manifest.encoded())
        }
    }

    /// Throws if the directory holds segments or other files: no archive may be created there.
    private func checkIsFree() throws(StorageError) {
        guard let names = try names(in: layout.directory) else { return }
        try checkForSegments()
        guard !names.isEmpty else { return }
        throw StorageError(
            .notAnArchive, layout.directory,
            "\(layout.directory) is a directory with other files in it, not an archive",
            remedy: "name an empty or new directory with --archive")
    }

    /// Throws if the directory holds segments: it is an archive without a manifest, not an empty or foreign directory.
    private func checkForSegments() throws(StorageError) {
        guard try !segments.list().segments.isEmpty else { return }
        throw StorageError(
            .damaged, layout.manifest.path,
            "the archive \(layout.directory) has lost its archive.json; its segments are there",
            remedy: "run 'archiver repair', or put the file back from a copy of the archive")
    }

    /// The names in `directory` except those that an interrupted creation leaves; nil if it does not exist.
    private func names(in directory: FilePath) throws(StorageError) -> [String]? {
        let ours: Set = ["locks", "segments"]
        do {
            let descriptor = try Descriptor.open(directory, O_RDONLY | O_DIRECTORY)
            return try DirectoryReader.list(descriptor, path: .root)
                .map { String(decoding: $0.name, as: UTF8.self) }
                .filter { !ours.contains($0) && !$0.hasPrefix(TemporaryFile.namePrefix) }
        } catch  where error.code == .noSuchFileOrDirectory {
            return nil
        } catch  where error.code == .notDirectory {
            throw StorageError(
                .notAnArchive, directory, "\(directory) is a file, not an archive",
                remedy: "name a directory with --archive")
        } catch {
            throw StorageError(FileError(error.operation, directory, error.code))
        }
    }
}

extension FilePath {
    /// Whether the process may create files in this directory (access(2)).
    var isWritable: Bool {
        withPlatformString { access($0, W_OK | X_OK) } == 0
    }
}
