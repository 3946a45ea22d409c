// An archive on disk: opening it, reading chunks, beginning commits.

package import ArchiveFormat
package import FileIO
internal import Glibc
package import SystemPackage
internal import Threading

/// An open archive.
///
/// It can be used from several threads, and by several processes at the same time.
package final class ArchiveStore: Sendable {
    package let layout: ArchiveLayout
    package let segments: any SegmentSource
    /// Whether reads may wait for a network: several at the same time take no longer than one.
    package var isRemote: Bool { segments.isRemote }
    /// The same segments for writing; nil if they can only be read.
    private let store: (any SegmentStore)?
    package let manifest: ArchiveManifest
    package let catalogue: Catalogue
    /// Why snapshots cannot be added; nil if they can.
    let refusal: StorageError?
    /// The segments in its directory and in replicas; nil if they are elsewhere.
    package let joined: JoinedSegments?
    let reader: BlockReader
    let encoders = EncoderPool()
    /// How the files of this archive are cut into chunks.
    package let chunker: Chunker
    /// Where the nodes of this archive's trees end.
    package let shape: TreeShape
    /// The work done through this object.
    package var counters: StorageCounters { catalogue.counters }
    private let lock: Locked<UseLock?>
    /// Segments that this process has locked and that no commit uses now.
    private let idleWriters = Locked<[SegmentWriter]>([])
    /// The numbers of segments that this object no longer appends to.
    private let retiredSegments = Locked<Set<Int64>>([])
    private let openEpochs = Locked<Epochs?>(nil)
    private let found = Locked<[ArchiveFinding]>([])
    /// What opening the archive found, and the damage known from before.
    package var findings: [ArchiveFinding] { found.withLock { $0 } }
    /// Whether opening this object created the archive.
    package let isNew: Bool
    /// Dates saved states; nil for the system's clock.
    package let clock: (@Sendable () -> Timestamp)?

    private init(
        _ place: ArchivePlace, _ manifest: ArchiveManifest, _ catalogue: Catalogue, lock: UseLock?,
        refusal: StorageError? = nil, isNew: Bool = false
    ) {
        self.lock = Locked(lock)
        self.isNew = isNew
        clock = place.clock
        layout = place.layout
        segments = place.segments
        store = place.writable
        joined = place.segments as? JoinedSegments
        self.manifest = manifest
        chunker = Chunker(seed: manifest.parameters.chunkingSeed.number)
        shape = TreeShape(seed: manifest.parameters.treeSeed.number)
        self.catalogue = catalogue
        self.refusal = refusal
        reader = BlockReader(place.segments, catalogue, of: place.layout.directory, manifest.id)
    }

    /// The id of the archive in `directory`.
    ///
    /// - Throws: `StorageError`, with the code `noArchive` if there is none.
    package static func id(at directory: FilePath) throws(StorageError) -> ArchiveID {
        try ArchivePlace(of: directory).open().id
    }

    /// Closes all files of an archive that was lost; later uses fail.
    package func close() {
        releaseWriters()
        openEpochs.withLock { $0 = nil }
        reader.forget()
        catalogue.close()
        lock.withLock { $0 = nil }
    }

    /// The indexed bytes of the segments on the local disk.
    package func localBytes() throws(StorageError) -> UInt64 {
        if isReplica { return try storedBytes() }
        var bytes = try catalogue.localSegmentBytes()
        // A killed process may have left files of segments that the catalogue already takes for removed.
        let left = try joined.map { joined throws(StorageError) in try joined.listedWithFiles() } ?? []
        if left.isEmpty { return bytes }
        for row in try catalogue.segments() where row.state == .away && left.contains(row.path) {
            bytes += UInt64(row.indexedLength)
        }
        return bytes
    }

    /// The indexed bytes of all segments.
    package func storedBytes() throws(StorageError) -> UInt64 { try catalogue.segmentBytes() }

    /// Whether the segments are read from a replica: there is no directory of the archive.
    package var isReplica: Bool { store == nil }

    /// Whether snapshots can be added.
    package var isWritable: Bool { refusal == nil }

    /// Throws the refusal if nothing can be added.
    package func requireWritable() throws(StorageError) {
        if let refusal { throw refusal }
    }

    /// Opens the archive in `directory` and brings its catalogue up to date with its segments.
    ///
    /// - Parameters:
    ///   - creating: whether to create an archive if there is none.
    ///   - segments: the store of its segments; nil for its directory.
    ///   - clock: dates saved states; nil for the system's clock.
    /// - Throws: `StorageError`.
    package static func open(
        _ directory: FilePath, creating: Bool, segments: (any SegmentStore)? = nil,
        clock: (@Sendable () -> Timestamp)? = nil
    ) throws(StorageError) -> ArchiveStore {
        var place = ArchivePlace(of: directory, segments)
        place.clock = clock
        let (manifest, isNew) = try creating ? place.openOrCreate() : (place.open(), false)
        if let refusal = place.refusal(manifest) { return try openForReading(place, manifest, refusal) }
        guard directory.isWritable else {
            let refusal = StorageError(
                .readOnly, directory, "the archive \(directory) cannot be written to",
                remedy: Advice.makeWritable.text)
            return try openForReading(place, manifest, refusal)
        }
        do {
            let opening = try UseLock.opening(place.layout)
            defer { withExtendedLifetime(opening) {} }
            return try openForWriting(place, manifest, isNew: isNew)
        } catch  where error.code == .newerFormat {
            // What a later program wrote may need any chunk, so nothing is changed; the rest can be read.
            return try openForReading(place, manifest, error)
        } catch  where error.code == .noSpace {
            let ballast = Ballast(place.layout)
            let bytes = ballast.bytes
            guard ballast.release() else { return try openForReading(place, manifest, error) }
            defer { ballast.reserve(bytes / 2) }
            do { return try openForWriting(place, manifest, isNew: isNew) } catch  where error.code == .noSpace {
                return try openForReading(place, manifest, error)
            }
        }
    }

    private static func openForWriting(
        _ place: ArchivePlace, _ manifest: ArchiveManifest, isNew: Bool
    ) throws(StorageError) -> ArchiveStore {
        let lock = try UseLock.shared(place.layout)
        let ballast = Ballast(place.layout)
        if ballast.bytes == 0 { ballast.reserveIfThereIsRoom() }
        do {
            let store = try open(place, manifest, lock, isNew: isNew).store
            try store.reserveBallast()
            return store
        } catch  where error.code == .damaged && error.path == place.layout.catalogue {
            // The catalogue can be rebuilt from the segments, but other processes may have it open.
            guard try lock.tryExclude() else { throw error }
            Catalogue.delete(at: place.layout.catalogue)
            let store = try open(place, manifest, lock, isNew: isNew).store
            try lock.share()
            return store
        }
    }

    static func open(
        _ place: ArchivePlace, _ manifest: ArchiveManifest, _ lock: UseLock, isNew: Bool
    ) throws(StorageError) -> (store: ArchiveStore, summary: CatalogueUpdate.Summary) {
        let catalogue = try Catalogue(at: place.layout.catalogue)
        let store = ArchiveStore(place, manifest, catalogue, lock: lock, isNew: isNew)
        return (store, try store.update())
    }

    /// Opens the archive whose segments are in `source` for reading; its catalogue is built in memory.
    ///
    /// - Parameters:
    ///   - name: how it is called in messages.
    ///   - copy: an earlier copy of the catalogue, which saves reading what it lists.
    package static func open(
        reading source: any SegmentSource, of id: ArchiveID, named name: FilePath, beginningWith copy: CatalogueCopy?
    ) throws(StorageError) -> ArchiveStore {
        let place = ArchivePlace(reading: source, named: name)
        let found = if let copy { copy.manifest } else { try place.manifest(inSegmentsOf: id) }
        guard let manifest = found else {
            throw StorageError(.noArchive, name, "there are no segments in \(name) yet")
        }
        if let word = manifest.obstacleToReading { throw StorageError.later(name, word, isReading: true) }
        return try openForReading(
            place, manifest,
            StorageError(
                .readOnly, name, "\(name) can only be read", remedy: Advice.cloneToWrite.text),
            copy)
    }

    /// The best copy of archive.json in the segments of the archive `id` at a place that is no archive yet; nil if there is
    /// none.
    package static func manifest(
        of id: ArchiveID, inSegmentsAt layout: ArchiveLayout
    ) throws(StorageError) -> ArchiveManifest? {
        try ArchivePlace(of: layout.directory).manifest(inSegmentsOf: id)
    }

    /// How often an archive is opened for reading if segments are dropped in the meantime.
    private static let readingTries = 16

    /// Opens an archive without writing anything: its catalogue is rebuilt in memory.
    ///
    /// It is not locked, so another process may drop a segment before this one has opened it. For the same reason the
    /// catalogue is not kept: only a process that takes part in the archive's locks knows what others have changed since.
    private static func openForReading(
        _ place: ArchivePlace, _ manifest: ArchiveManifest, _ refusal: StorageError, _ copy: CatalogueCopy? = nil
    ) throws(StorageError) -> ArchiveStore {
        var triesLeft = readingTries
        while true {
            let before = try place.segments.list().segments
            let catalogue = try Catalogue(inMemoryFor: place.layout.directory, beginningWith: copy?.database)
            let store = ArchiveStore(place, manifest, catalogue, lock: nil, refusal: refusal)
            do throws(StorageError) {
                try store.update()
                return store
            } catch {
                triesLeft -= 1
                let present = Set(try place.segments.list().segments)
                guard error.code == .damaged, triesLeft > 0, !present.isSuperset(of: before) else { throw error }
            }
        }
    }

    /// Brings the catalogue up to date and stores the findings.
    @discardableResult
    private func update() throws(StorageError) -> CatalogueUpdate.Summary {
        let summary = try CatalogueUpdate(self).run()
        let damage = try catalogue.damage()
        let isPurging = !isReplica && (try? layout.unfinishedPurge.status) != nil
        let lost = try catalogue.lostLatestSnapshots().map { $0.message(in: segments) }
        found.withLock {
            $0 =
                summary.unread.map { ArchiveFinding(.unread, $0) } + damage.map { ArchiveFinding(.damage, $0) }
                + summary.missing.map { ArchiveFinding(.missing, $0) }
                + summary.lost.map { ArchiveFinding(.lostSegment, $0) }
                + summary.unreadable.map { ArchiveFinding(.unreadable, $0) }
                + lost.map { ArchiveFinding(.lostSnapshot, $0) }
                + summary.strangers.map { ArchiveFinding(.stranger, $0) }
                + (isPurging ? [ArchiveFinding(.unfinishedPurge, "a purge of \(layout.directory) is unfinished")] : [])
                + summary.cuts.map { ArchiveFinding(.cut, $0) }
        }
        return summary
    }

    /// Rebuilds the catalogue from the segments; no other process may use the archive.
    ///
    /// Records that break a rule of the format are moved into `salvage`.
    ///
    /// - Parameters:
    ///   - segments: the store of its segments; nil for its directory.
    ///   - reason: why segments that are missing will not come back; they are then recorded as lost.
    /// - Returns: what the rebuild found.
    /// - Throws: `StorageError`, with the code `inUse` if another process uses the archive.
    package static func rebuildCatalogue(
        of directory: FilePath, segments: (any SegmentStore)? = nil, writingOff reason: String? = nil
    ) throws(StorageError) -> CatalogueUpdate.Summary {
        let place = ArchivePlace(of: directory, segments)
        do { _ = try place.open() } catch {
            guard error.code == .damaged else { throw error }
        }
        let lock = try UseLock.exclusive(place.layout)
        let (manifest, correction) = try place.openOrMend(lock)
        if let refusal = place.refusal(manifest) { throw refusal }
        // Segments in a replica are read, too: if that fails, the old catalogue is better than none.
        try (place.segments as? JoinedSegments)?.requireReadable()
        Catalogue.delete(at: place.layout.catalogue)
        let opened = try open(place, manifest, lock, isNew: false)
        let store = opened.store
        var summary = opened.summary
        if let correction { summary.moved.append(correction) }
        let isWritingOff = reason != nil && !summary.missingSegments.isEmpty
        let moved = summary.moved + (summary.damage.isEmpty ? [] : try store.moveBrokenRecords())
        if moved.count == summary.moved.count, !isWritingOff { return summary }
        if let reason, isWritingOff { try store.enter(lost: summary.missingSegments, reason) }
        store.releaseWriters()
        store.catalogue.close()
        Catalogue.delete(at: place.layout.catalogue)
        var again = try open(place, manifest, lock, isNew: false).summary
        again.moved = moved
        return again
    }

    /// Reads the chunk `id` and verifies it, from any undamaged copy.
    package func read(_ id: ChunkID) throws(StorageError) -> [UInt8] { Array(try reader.read(id)) }

    /// Reads the chunk `id` and verifies it, without copying it.
    ///
    /// - Returns: its bytes in a block, all of which stays in memory with them.
    package func readInBlock(_ id: ChunkID) throws(StorageError) -> ArraySlice<UInt8> { try reader.read(id) }

    /// Reads the copy of the chunk `id` in the block at `place`, and verifies it.
    package func read(_ id: ChunkID, at place: BlockLocation) throws(StorageError) -> [UInt8] {
        Array(try reader.chunk(id, at: place))
    }

    /// Reads the chunk `id` and verifies it, from the block at `place` without a search, or else from any undamaged copy.
    func read(_ id: ChunkID, preferring place: BlockLocation) throws(StorageError) -> [UInt8] {
        do { return try read(id, at: place) } catch {
            // Nothing is wrong with a segment that is only in a replica.
            if error.code == .away { throw error }
        }
        return try read(id)
    }

    /// Unpacks the block at `place` into the cache; its chunks are not verified yet.
    package func unpackBlock(at place: BlockLocation) throws(StorageError) { _ = try reader.block(at: place) }

    /// Empties the cache, so that the next reads come from the disk.
    package func forgetReadBlocks() { reader.forget() }

    /// Limits the cache of unpacked blocks.
    package func limitCache(toBytes capacity: Int) { reader.cache.limit(toBytes: capacity) }

    /// Releases what the caches hold and nobody has read since the last call.
    package func releaseUnusedMemory() {
        reader.cache.removeUnused()
        catalogue.releaseMemory()
    }

    /// Closes segments that were read and have been removed since, which frees their space.
    package func closeRemovedSegments() { reader.closeRemoved() }

    /// A reader with an empty cache: it finds damage that happened after this object's reads.
    func newReader() -> BlockReader {
        BlockReader(segments, catalogue, of: layout.directory, manifest.id, reader.budget)
    }

    /// The chunks of `ids` that cannot be read.
    ///
    /// Each is read with an empty cache: if a chain is too long, a reader that has cached its lower end could still
    /// read the upper end.
    package func unreadable(of ids: [ChunkID]) throws(StorageError) -> [ChunkID] {
        var unreadable: [ChunkID] = []
        for id in ids {
            do throws(StorageError) { _ = try newReader().read(id) } catch {
                guard error.isAboutBytes else { throw error }
                unreadable.append(id)
            }
        }
        return unreadable
    }

    /// The greatest length of a chain of bases below a block that can still be read.
    package static var chainLimit: Int { UnpackingWork.stepsLimit }

    /// The header of the block at `place`.
    package func blockHeader(at place: BlockLocation) throws(StorageError) -> BlockHeader {
        try reader.segment(place.segment).blockHeader(at: place.offset)
    }

    /// The error for a block whose chain of bases is longer than `chainLimit`.
    package func tooDeep(_ place: BlockLocation) throws(StorageError) -> StorageError {
        StorageError.damaged(
            try reader.segment(place.segment).path, offset: place.offset, .malformed("it needs too many bases"))
    }

    /// Reads the snapshot `id`.
    package func snapshot(_ id: SnapshotID) throws(StorageError) -> Snapshot {
        let bytes: [UInt8]
        do { bytes = try read(id.chunk) } catch { throw unreadable(id, error) }
        return try snapshot(id, from: bytes)
    }

    /// The snapshot `id` in these bytes of its chunk.
    func snapshot(_ id: SnapshotID, from bytes: [UInt8]) throws(StorageError) -> Snapshot {
        do throws(FormatError) {
            return try Snapshot(decoding: bytes)
        } catch {
            let failure: StorageError = try undecodable(id.chunk, error)
            throw unreadable(id, failure)
        }
    }

    private func unreadable(_ id: SnapshotID, _ error: StorageError) -> StorageError {
        guard error.code == .damaged else { return error }
        return StorageError(
            .damaged, error.path, "snapshot \(id.short) cannot be read: \(error.message)", remedy: error.remedy)
    }

    /// The error for a chunk whose bytes are right but cannot be decoded.
    package func undecodable(_ id: ChunkID, _ reason: FormatError) throws(StorageError) -> StorageError {
        let location = try location(of: id)
        return StorageError.damaged(try reader.segment(location.segment).path, offset: location.offset, reason)
    }

    private func location(of id: ChunkID) throws(StorageError) -> BlockLocation {
        guard let location = try catalogue.location(of: id) else {
            throw StorageError.missing(id, in: layout.directory)
        }
        return location
    }

    /// Opens a segment that the catalogue lists.
    package func open(_ segment: ListedSegment) throws(StorageError) -> Segment {
        Segment(try segments.open(segment.path), of: manifest.id)
    }

    /// Opens a segment that the catalogue lists, to append to it.
    private func openToWrite(
        _ row: ListedSegment
    ) throws(StorageError) -> (segment: Segment, bytes: any SegmentBytes) {
        let bytes = try writable().openToWrite(row.path)
        return (Segment(bytes, of: manifest.id), bytes)
    }

    /// The segments for writing.
    func writable() throws(StorageError) -> any SegmentStore {
        if let refusal { throw refusal }
        guard let store else {
            throw StorageError(.readOnly, layout.directory, "the archive \(layout.directory) can only be read")
        }
        return store
    }

    /// The bytes that this process can still write; nil if it cannot be determined.
    func freeBytes() -> Int? { store?.freeBytes() }

    /// Throws if files of `listed` segments were removed or truncated since.
    ///
    /// A process that only reads cannot keep others from dropping segments.
    package func requireSegments(_ listed: [ListedSegment]) throws(StorageError) {
        let present = try Set(segments.list().segments)
        for segment in listed {
            guard present.contains(segment.path), let length = segments.length(of: segment.path),
                length >= segment.indexedLength
            else {
                throw StorageError(
                    .inUse, layout.directory,
                    "segments of \(layout.directory) were removed while they were read, as by another process that "
                        + "frees space",
                    remedy: "run the command again when that has ended")
            }
        }
    }

    /// Begins an epoch: whatever the archive holds now stays until the epoch ends, so that new data may refer to it.
    package func beginEpoch() throws(StorageError) -> Epoch {
        if let refusal { throw refusal }
        guard try catalogue.isInPlace() else { throw StorageError.replaced(layout.directory) }
        return try epochs().enter()
    }

    /// Whether the archive is open elsewhere, in this process or another.
    package var isOpenElsewhere: Bool { lock.withLock { $0?.isSharedElsewhere ?? false } }

    func epochs() throws(StorageError) -> Epochs {
        try openEpochs.withLock { epochs throws(StorageError) in
            if let epochs { return epochs }
            let opened = try Epochs(layout)
            epochs = opened
            return opened
        }
    }

    /// Begins a commit; end it with `commit`, `commitChunks` or `abandon`.
    ///
    /// - Parameters:
    ///   - healing: whether to store unreadable chunks again.
    ///   - pause: called now and then while a full segment is sealed.
    package func beginCommit(
        healing: Bool = false, pause: @escaping @Sendable () -> Void = {}
    ) throws(StorageError) -> CommitWriter {
        let epoch = try beginEpoch()
        return try CommitWriter(self, writer: segmentWriter(), epoch, isHealing: healing, pause: pause)
    }

    /// Begins a commit in a segment of its own.
    func beginCommit(in writer: SegmentWriter) throws(StorageError) -> CommitWriter {
        try CommitWriter(self, writer: writer, beginEpoch(), isHealing: false, pause: {})
    }

    private func segmentWriter() throws(StorageError) -> SegmentWriter {
        if let idle = idleWriters.withLock({ $0.popLast() }) { return idle }
        if let free = try takeOverSegment() { return free }
        return try createSegment()
    }

    /// The size at which segments are sealed between two commits: the archive's, or less on a small disk.
    ///
    /// A segment is dropped only after what is needed of it was copied. On a full disk, only the ballast has room for
    /// that (`Ballast.leastShare`). A commit stays in one segment all the same: if it does not fit, its bytes are cut
    /// off again.
    var sealingBytes: Int {
        let most = manifest.parameters.segmentBytes
        guard let total = store?.totalBytes() else { return most }
        return min(most, max(ArchiveStore.leastSealingBytes, total / ArchiveStore.sealingShare))
    }

    private static let leastSealingBytes = 256 << 10
    private static let sealingShare = 64

    func createSegment() throws(StorageError) -> SegmentWriter {
        // If the archive's disk is gone, nothing is created in its place.
        guard try ArchivePlace(layout: layout, segments: writable()).open().id == manifest.id else {
            throw StorageError.replaced(layout.directory)
        }
        return try SegmentWriter.create(in: self)
    }

    /// Reserves room for a full disk, at least as much as a copy of the largest segment needs.
    package func reserveBallast(_ wanted: UInt64 = 0) throws(StorageError) {
        Ballast(layout).reserveIfThereIsRoom(toCopy: try catalogue.largestSegmentBytes(), wanted)
    }

    /// Releases the idle segments, so that others can index and continue them; running commits hold theirs until they
    /// end.
    package func releaseWriters() {
        idleWriters.withLock { $0 = [] }
    }

    /// From now on this object appends to no segment that exists already: a reclaimer can seal and drop them all.
    ///
    /// Running commits release theirs when they end.
    package func retireSegments() throws(StorageError) {
        let open = try catalogue.segments().filter { !$0.isSealed }.map(\.number)
        retiredSegments.withLock { $0 = Set(open) }
        releaseWriters()
    }

    /// Ends `retireSegments`.
    package func continueSegments() { retiredSegments.withLock { $0 = [] } }

    func release(_ writer: SegmentWriter) {
        guard !writer.isLargeEnough, !writer.isLost, !retiredSegments.withLock({ $0.contains(writer.listed.number) })
        else { return }
        idleWriters.withLock { $0.append(writer) }
    }

    /// Takes over the newest segment that has room and no writer.
    private func takeOverSegment() throws(StorageError) -> SegmentWriter? {
        let retired = retiredSegments.withLock { $0 }
        let copied = try catalogue.copiedSegments()
        // If it is not known what replicas have, no segment is continued.
        guard let replicated = try? replicatedBytes() else { return nil }
        for row in try catalogue.segments().reversed() where !row.isSealed && !retired.contains(row.number) {
            if let name = row.name, copied.contains(name) { continue }
            guard let (segment, bytes) = try? openToWrite(row), try bytes.tryLock() else { continue }
            // Another process may have written since the catalogue was read.
            guard let current = try catalogue.segment(row.number), !current.isSealed,
                try segment.length() == current.indexedLength
            else { continue }
            if current.indexedLength >= sealingBytes || current.indexedLength < replicated[row.path] ?? 0 {
                // Its last writer could not seal it, or a replica has more of it. Nothing more is appended, even if this
                // attempt fails too.
                try? SegmentWriter(current, segment, bytes, of: self).seal(catalogue)
                continue
            }
            return SegmentWriter(current, segment, bytes, of: self)
        }
        return nil
    }

    /// Seals a segment, whatever its size, unless a process is writing to it or another file has its id.
    ///
    /// - Returns: whether it is sealed.
    package func seal(_ row: ListedSegment) throws(StorageError) -> Bool {
        if let name = row.name, try catalogue.copiedSegments().contains(name) { return false }
        let segment: Segment
        let bytes: any SegmentBytes
        do { (segment, bytes) = try openToWrite(row) } catch {
            // Nothing is appended to a file that may not be written, or that has another name.
            guard error.code == .readOnly else { throw error }
            return false
        }
        guard try bytes.tryLock(), let current = try catalogue.segment(row.number) else { return false }
        if current.isSealed { return true }
        guard try segment.length() == current.indexedLength else { return false }
        try SegmentWriter(current, segment, bytes, of: self).seal(catalogue)
        return true
    }
}
