// An archive on disk: opening it, reading chunks, beginning commits.

package import ArchiveFormat
internal import FileIO
internal import Synchronization
package import SystemPackage

/// An open archive. Safe to use from several threads; other processes may use the same archive at the same time.
package final class ArchiveStore: Sendable {
    package let layout: ArchiveLayout
    package let manifest: ArchiveManifest
    package let catalogue: Catalogue
    /// Whether snapshots can be added.
    package let isWritable: Bool
    let reader: BlockReader
    private let lock: UseLock?
    /// Segments whose locks this process holds although no commit uses them now.
    private let idleWriters = Mutex<[SegmentWriter]>([])

    private init(
        layout: ArchiveLayout, manifest: ArchiveManifest, catalogue: Catalogue, isWritable: Bool, lock: UseLock?
    ) {
        self.lock = lock
        self.layout = layout
        self.manifest = manifest
        self.catalogue = catalogue
        self.isWritable = isWritable
        reader = BlockReader(layout: layout, catalogue: catalogue)
    }

    /// Opens the archive in `directory` and brings its catalogue up to date with its segments.
    ///
    /// - Parameter creating: whether to make a new archive where there is none.
    /// - Throws: `StorageError`.
    package static func open(_ directory: FilePath, creating: Bool) throws(StorageError) -> ArchiveStore {
        let layout = ArchiveLayout(directory)
        let manifest = try creating ? ArchiveCreation.openOrCreate(layout) : ArchiveCreation.open(layout)
        let isWritable = directory.isWritable
        let lock = isWritable ? try UseLock.shared(layout) : nil
        let catalogue = try openCatalogue(layout, lock)
        let store = ArchiveStore(
            layout: layout, manifest: manifest, catalogue: catalogue, isWritable: isWritable, lock: lock)
        try CatalogueUpdate(store).run()
        return store
    }

    /// Makes the catalogue anew from the segments, while nobody else uses the archive.
    ///
    /// - Returns: what was found.
    package static func rebuildCatalogue(of directory: FilePath) throws(StorageError) -> CatalogueUpdate.Summary {
        let layout = ArchiveLayout(directory)
        let manifest = try ArchiveCreation.open(layout)
        let lock = try UseLock.exclusive(layout)
        Catalogue.delete(at: layout.catalogue)
        let catalogue = try Catalogue(at: layout.catalogue)
        let store = ArchiveStore(
            layout: layout, manifest: manifest, catalogue: catalogue, isWritable: true, lock: lock)
        return try CatalogueUpdate(store).run()
    }

    private static func openCatalogue(_ layout: ArchiveLayout, _ lock: UseLock?) throws(StorageError) -> Catalogue {
        guard let lock else { return try Catalogue(inMemoryFor: layout.directory) }
        do {
            return try Catalogue(at: layout.catalogue)
        } catch where error.code == .damaged {
            // The catalogue holds nothing that the segments do not hold; but others may have it open.
            guard lock.tryExclude() else { throw error }
            Catalogue.delete(at: layout.catalogue)
            let catalogue = try Catalogue(at: layout.catalogue)
            try lock.share()
            return catalogue
        }
    }

    /// The bytes of the chunk `id`, verified.
    package func read(_ id: ChunkID) throws(StorageError) -> [UInt8] {
        try reader.chunk(id, at: location(of: id))
    }

    /// The chunk `id` as a base for compressing a new one; nil where it is missing or stands on too many itself.
    package func base(_ id: ChunkID) throws(StorageError) -> BaseChunk? {
        guard let location = try catalogue.location(of: id) else { return nil }
        let block = try reader.block(at: location)
        guard block.header.depth < BlockHeader.depthLimit else { return nil }
        return BaseChunk(id: id, bytes: try reader.chunk(id, at: location), depth: Int(block.header.depth))
    }

    /// The snapshot named `id`.
    package func snapshot(_ id: SnapshotID) throws(StorageError) -> Snapshot {
        let bytes = try read(id.chunk)
        do throws(FormatError) {
            return try Snapshot(decoding: bytes)
        } catch {
            let failure: StorageError = try undecodable(id.chunk, error)
            throw failure
        }
    }

    /// The error for a chunk whose bytes are right but mean nothing.
    package func undecodable(_ id: ChunkID, _ reason: FormatError) throws(StorageError) -> StorageError {
        let location = try location(of: id)
        return StorageError.damaged(try reader.file(location.segment).path, offset: location.offset, reason)
    }

    private func location(of id: ChunkID) throws(StorageError) -> BlockLocation {
        guard let location = try catalogue.location(of: id) else {
            throw StorageError.missing(id, in: layout.directory)
        }
        return location
    }

    /// Begins a commit, which ends with `commit` or `abandon`.
    package func beginCommit() throws(StorageError) -> CommitWriter {
        guard isWritable else {
            throw StorageError(
                .readOnly, layout.directory, "the archive \(layout.directory) cannot be written to",
                remedy: "make its directory writable, or use another one with --archive")
        }
        if let idle = idleWriters.withLock({ $0.popLast() }) { return try CommitWriter(self, writer: idle) }
        if let free = try takeOverSegment() { return try CommitWriter(self, writer: free) }
        return try CommitWriter(self, writer: createSegment())
    }

    func createSegment() throws(StorageError) -> SegmentWriter {
        try SegmentWriter.create(in: layout, archive: manifest.id, catalogue: catalogue)
    }

    func giveBack(_ writer: SegmentWriter) {
        guard !writer.isFull else { return }
        idleWriters.withLock { $0.append(writer) }
    }

    /// Becomes the writer of the newest segment that has room and no writer.
    private func takeOverSegment() throws(StorageError) -> SegmentWriter? {
        for record in try catalogue.segments().reversed() where !record.isSealed {
            let path = layout.segment(record.path)
            guard let file = try? SegmentFile(at: path, writable: true), file.tryLock() else { continue }
            // Another process may have written since the catalogue was read.
            guard let current = try catalogue.segment(record.number), !current.isSealed,
                try file.length() == current.indexedLength
            else { continue }
            return SegmentWriter(current, file: file)
        }
        return nil
    }
}
