// The place of an archive: recognising an archive, and creating one.

internal import ArchiveFormat
internal import FileIO
internal import Glibc
internal import SystemPackage

/// The directory of an archive, existing or new, and the store of its segments.
struct ArchivePlace {
    let layout: ArchiveLayout
    let segments: any SegmentSource
    /// The same segments for writing; nil if they can only be read.
    let writable: (any SegmentStore)?
    /// Dates saved states; nil for the system's clock.
    var clock: (@Sendable () -> Timestamp)?

    init(layout: ArchiveLayout, segments: any SegmentStore) {
        self.layout = layout
        self.segments = segments
        writable = segments
    }

    /// - Parameter segments: the store of its segments; nil for the directory.
    init(of directory: FilePath, _ segments: (any SegmentStore)? = nil) {
        layout = ArchiveLayout(directory)
        let segments = segments ?? JoinedSegments(layout)
        self.segments = segments
        writable = segments
    }

    /// Segments that can only be read.
    ///
    /// - Parameter name: how they are called in messages.
    init(reading segments: any SegmentSource, named name: FilePath) {
        layout = ArchiveLayout(name)
        self.segments = segments
        writable = nil
    }

    /// The best copy of archive.json in the segments of the archive `id`; nil if there is none.
    ///
    /// - Throws: `StorageError` also if there is none because segments cannot be opened.
    func manifest(inSegmentsOf id: ArchiveID) throws(StorageError) -> ArchiveManifest? {
        let (copies, refusal) = try manifestsOfSegments()
        if let copy = copies[id] { return copy.manifest }
        if let refusal { throw refusal }
        return nil
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
                remedy: Advice.nameArchive.text)
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

    /// Why an archive with this manifest must not be changed; nil if it may be.
    func refusal(_ manifest: ArchiveManifest) -> StorageError? {
        manifest.obstacleToWriting.map { StorageError.later(layout.directory, $0, isReading: false) }
    }

    /// Reads the manifest; corrects it from the copies in the segments if it is damaged, missing, older than these,
    /// or that of another archive.
    ///
    /// - Parameter lock: held exclusively, so that no other process uses the archive.
    /// - Returns: the manifest, and a sentence if it was corrected.
    func openOrMend(_ lock: UseLock) throws(StorageError) -> (manifest: ArchiveManifest, correction: String?) {
        let found: ArchiveManifest?
        let failure: StorageError?
        do { (found, failure) = (try open(), nil) } catch {
            guard error.code == .damaged, error.path == layout.manifest.path else { throw error }
            (found, failure) = (nil, error)
        }
        let copies = try manifestsOfSegments().copies
        if let found {
            guard let copy = copies[found.id] ?? (copies.count == 1 ? copies.first?.value : nil),
                copy.id != found.id || copy.isCopy && copy.manifest.revision >= found.revision,
                copy.manifest.encoded() != found.encoded()
            else { return (found, nil) }
            return try correct(copy.manifest)
        }
        guard copies.count == 1, let copy = copies.first?.value else {
            if copies.isEmpty, let failure { throw failure }
            throw StorageError(
                .damaged, layout.manifest.path,
                "\(layout.manifest.path) is lost, and the segments belong to \(copies.count) archives",
                remedy: "move the segments of the other archives away")
        }
        return try correct(copy.manifest)
    }

    private func correct(
        _ manifest: ArchiveManifest
    ) throws(StorageError) -> (manifest: ArchiveManifest, correction: String?) {
        let name = "archive.json.\(UInt32.random(in: .min ... .max))"
        try storing { () throws(FileError) in
            try layout.salvage.createDirectory(durable: true)
            let path = layout.manifest.path
            do throws(FileError) {
                try layout.manifest.parent.openDirectory().rename(
                    layout.manifest.name, to: CName(name.utf8), in: layout.salvage.openDirectory(), path: path)
            } catch {
                guard error.code == .noSuchFileOrDirectory else { throw error }
            }
            try DurableFile.create(layout.manifest, contents: manifest.encoded())
        }
        return (manifest, "\(layout.manifest.path) was corrected from the segments; the old file is in salvage")
    }

    /// What segments say about the archive that they belong to.
    private struct Copy {
        var manifest: ArchiveManifest
        /// When the segment was begun whose opening has the copy; for a header alone, when the archive was created.
        var time: Timestamp
        /// Whether it is a copy of archive.json, and not only a header.
        var isCopy: Bool

        var id: ArchiveID { manifest.id }

        /// Whether `other` says more, or something newer.
        func isLess(than other: Copy) -> Bool {
            if isCopy != other.isCopy { return other.isCopy }
            if !isCopy { return other.time < time }
            let (own, others) = (manifest.revision, other.manifest.revision)
            return own != others ? own < others : time < other.time
        }
    }

    /// The best copy of archive.json in the segments of each archive; an incomplete one if only headers are left.
    ///
    /// - Returns: also why the first of the segments that cannot be opened cannot.
    private func manifestsOfSegments() throws(StorageError) -> (copies: [ArchiveID: Copy], refusal: StorageError?) {
        var copies: [ArchiveID: Copy] = [:]
        var refusal: StorageError?
        let joined = segments as? JoinedSegments
        for name in try segments.list().segments where joined?.isLocal(name) ?? true {
            let bytes: any SegmentReading
            do { bytes = try segments.open(name) } catch {
                refusal = refusal ?? error
                continue
            }
            let segment = Segment(bytes)
            guard let header = try? segment.readHeader() else { continue }
            var copy = Copy(
                manifest: ArchiveManifest(id: header.archive, created: header.created), time: header.created,
                isCopy: false)
            if let text = try? segment.opening()?.manifest,
                let manifest = try? ArchiveManifest(decoding: Array(text.utf8)), manifest.id == header.archive
            {
                (copy.manifest, copy.isCopy) = (manifest, true)
            }
            if let known = copies[header.archive], !known.isLess(than: copy) { continue }
            copies[header.archive] = copy
        }
        return (copies, refusal)
    }

    private func read() throws(StorageError) -> ArchiveManifest {
        let bytes: [UInt8]
        do {
            bytes = try layout.manifest.open(O_RDONLY).readToEnd(limit: 1 << 20, path: layout.manifest.path)
        } catch  where error.code == .noSuchFileOrDirectory || error.code == .notDirectory {
            throw StorageError(
                .noArchive, layout.directory, "there is no archive at \(layout.directory)",
                remedy: Advice.mountDisk.text)
        } catch {
            throw StorageError(error)
        }
        let manifest: ArchiveManifest
        do { manifest = try ArchiveManifest(decoding: bytes) } catch {
            if case .unknownFeature = error {
                throw StorageError(
                    .newerFormat, layout.directory, "the archive \(layout.directory) cannot be read: \(error)",
                    remedy: "use a newer archiver")
            }
            guard case .unknownVersion(let version) = error else {
                throw StorageError(
                    .damaged, layout.manifest.path, "\(layout.manifest.path) is damaged: \(error)",
                    remedy: Advice.repairArchive.text)
            }
            throw StorageError(
                .newerFormat, layout.directory,
                "the archive \(layout.directory) has format version \(version), newer than this program knows",
                remedy: "use a newer archiver")
        }
        if let word = manifest.obstacleToReading { throw StorageError.later(layout.directory, word, isReading: true) }
        return manifest
    }

    private func create() throws(StorageError) {
        let manifest = ArchiveManifest(id: .random(), created: .now)
        try writable?.prepare()
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
            remedy: Advice.nameEmptyDirectory.text)
    }

    /// Throws if the directory holds segments: it is an archive without a manifest, not an empty or foreign directory.
    private func checkForSegments() throws(StorageError) {
        guard try !segments.list().segments.isEmpty else { return }
        throw StorageError(
            .damaged, layout.manifest.path,
            "the archive \(layout.directory) has lost its archive.json; its segments are there",
            remedy: Advice.repairArchive.text)
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
                remedy: Advice.nameDirectory.text)
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
