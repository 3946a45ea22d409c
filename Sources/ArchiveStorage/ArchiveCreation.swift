// Making an archive, and telling an archive from any other directory.

internal import ArchiveFormat
internal import FileIO
internal import Glibc
internal import SystemPackage

enum ArchiveCreation {
    /// Reads the manifest of the archive at `layout`.
    static func open(_ layout: ArchiveLayout) throws(StorageError) -> ArchiveManifest {
        do {
            return try read(layout)
        } catch  where error.code == .noArchive {
            let directory = layout.directory
            if let names = try names(in: directory), !names.isEmpty {
                throw StorageError(
                    .notAnArchive, directory, "\(directory) is not an archive: it has no archive.json",
                    remedy: "name an archive with --archive")
            }
            throw error
        }
    }

    /// Reads the manifest of the archive at `layout`; makes the archive where its directory is missing or empty.
    static func openOrCreate(_ layout: ArchiveLayout) throws(StorageError) -> ArchiveManifest {
        do {
            return try read(layout)
        } catch  where error.code == .noArchive {
            return try create(layout)
        }
    }

    private static func read(_ layout: ArchiveLayout) throws(StorageError) -> ArchiveManifest {
        let bytes: [UInt8]
        do {
            let file = try Descriptor.open(layout.manifest, O_RDONLY)
            bytes = try file.readToEnd(limit: 1 << 20, path: layout.manifest)
        } catch  where error.code == .noSuchFileOrDirectory || error.code == .notDirectory {
            throw StorageError(
                .noArchive, layout.directory, "there is no archive at \(layout.directory)",
                remedy: "make one with 'archiver watch DIR' or 'archiver capture DIR', or name another with --archive")
        } catch {
            throw StorageError(error)
        }
        do { return try ArchiveManifest(decoding: bytes) } catch {
            guard case .unknownVersion(let version) = error else {
                throw StorageError(
                    .damaged, layout.manifest, "\(layout.manifest) is damaged: \(error)",
                    remedy: "put the file back from a copy of the archive")
            }
            throw StorageError(
                .newerFormat, layout.directory,
                "the archive \(layout.directory) has format version \(version), newer than this program knows",
                remedy: "use a newer archiver")
        }
    }

    private static func create(_ layout: ArchiveLayout) throws(StorageError) -> ArchiveManifest {
        let directory = layout.directory
        if let names = try names(in: directory), !names.isEmpty {
            throw StorageError(
                .notAnArchive, directory, "\(directory) is a directory with other files in it, not an archive",
                remedy: "name an empty or new directory with --archive")
        }
        let manifest = ArchiveManifest(id: .random(), created: .now)
        try storing { () throws(FileError) in
            try Directory.create(directory, permissions: 0o700, durable: true)
            try Directory.create(layout.locks, permissions: 0o700, durable: false)
            try Directory.create(layout.segments, permissions: 0o700, durable: false)
            try DurableFile.replace(
                directory: directory, name: ArchiveLayout.manifestName, contents: manifest.encoded(), permissions: 0o600
            )
        }
        // Another process may have been quicker: what is on disk now counts.
        return try read(layout)
    }

    /// Names in `directory` that an interrupted creation does not explain; nil where it does not exist.
    private static func names(in directory: FilePath) throws(StorageError) -> [String]? {
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
