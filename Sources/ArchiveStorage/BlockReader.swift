// Reads chunks: finds their block, decompresses it against its bases, and checks every byte that is handed out.

internal import ArchiveFormat
internal import Compression
internal import FileIO
internal import Glibc
internal import SystemPackage
internal import Threading

/// Reads blocks of an archive and keeps the recent ones.
///
/// Safe to use from several threads.
final class BlockReader: Sendable {
    private let layout: ArchiveLayout
    let catalogue: Catalogue
    let cache = BlockCache(capacityBytes: 32 << 20)
    private let files = Locked<[Int64: SegmentFile]>([:])

    /// Open segments kept; each holds a descriptor.
    private static let openFilesLimit = 128

    /// Bytes of a payload, or of bases, that are much: of as many blocks as stand on each other, each has them.
    private static let keptPayload = 1 << 20

    init(layout: ArchiveLayout, catalogue: Catalogue) {
        self.layout = layout
        self.catalogue = catalogue
    }

    /// Forgets all blocks, and closes all segments.
    func forget() {
        cache.removeAll()
        files.withLock { $0 = [:] }
    }

    /// Closes the segments that somebody has removed: until then the file system keeps their space.
    func closeRemoved() {
        files.withLock { files in files = files.filter { !$0.value.isRemoved } }
    }

    /// The bytes of the chunk `id`, verified: of a block that was read lately, or of any copy that is whole.
    func read(_ id: ChunkID) throws(StorageError) -> [UInt8] {
        if let recent = recentChunk(id) { return recent }
        guard let location = try catalogue.location(of: id) else {
            throw StorageError.missing(id, in: layout.directory)
        }
        do { return try chunk(id, at: location) } catch {
            var search = CopySearch(self)
            guard let bytes = search.bytes(of: id) else { throw error }
            return bytes
        }
    }

    /// The bytes of the chunk `id`, which the block at `location` holds; its SHA-256 is verified.
    func chunk(_ id: ChunkID, at location: BlockLocation) throws(StorageError) -> [UInt8] {
        let block = try block(at: location)
        guard let range = block.range(of: id) else { throw StorageError.missing(id, in: layout.directory) }
        return try verified(id, block.raw[range], at: location)
    }

    /// The bytes of the chunk `id` where a block that was read lately holds it, and it has the right SHA-256.
    ///
    /// - Returns: nil else: another copy may have them.
    private func recentChunk(_ id: ChunkID) -> [UInt8]? {
        guard let (block, range, location) = cache.block(holding: id) else { return nil }
        return try? verified(id, block.raw[range], at: location)
    }

    private func verified(
        _ id: ChunkID, _ slice: ArraySlice<UInt8>, at location: BlockLocation
    ) throws(StorageError) -> [UInt8] {
        let bytes = Array(slice)
        guard ChunkID(hashing: bytes) == id else {
            throw StorageError.damaged(
                try file(location.segment).path, offset: location.offset, .checksumMismatch("chunk \(id)"))
        }
        return bytes
    }

    /// The block at `location`, decompressed.
    func block(at location: BlockLocation) throws(StorageError) -> DecodedBlock {
        var work = UnpackingWork()
        return try block(at: location, &work)
    }

    /// - Parameter work: what the read that needs the block has done so far.
    private func block(
        at location: BlockLocation, _ work: inout UnpackingWork
    ) throws(StorageError) -> DecodedBlock {
        if let cached = cache.block(at: location) { return cached }
        catalogue.counters.blocksRead.add()
        let file = try file(location.segment)
        var (header, payload) = try file.block(at: location.offset)
        if let obstacle = header.obstacle {
            throw StorageError(
                .newerFormat, file.path,
                "block at byte \(location.offset) of \(file.path) \(obstacle), which this program cannot read",
                remedy: "use a newer archiver")
        }
        guard work.begin(header) else {
            throw StorageError.damaged(file.path, offset: location.offset, .malformed("it stands on too many bases"))
        }
        defer { work.end(header) }
        // Much is read again rather than kept while the bases are unpacked, and theirs for them.
        let isKept = header.bases.isEmpty || payload.count <= BlockReader.keptPayload
        if !isKept { payload = [] }
        let bases = try bases(of: header, &work)
        if !isKept { payload = try file.block(at: location.offset).payload }
        let raw: [UInt8]
        do {
            guard bases.count <= BlockHeader.sourceLengthLimit else {
                throw CompressionError.tooLarge(byteCount: bases.count)
            }
            raw = try BlockReader.unpack(payload, header, bases)
        } catch {
            throw StorageError.damaged(file.path, offset: location.offset, .malformed("\(error)"))
        }
        let block = DecodedBlock(header: header, raw: raw)
        cache.insert(block, at: location)
        return block
    }

    /// The bytes of all bases of a block, joined.
    private func bases(of header: BlockHeader, _ work: inout UnpackingWork) throws(StorageError) -> [UInt8] {
        var joined: [UInt8] = []
        for base in header.bases {
            guard let (id, location) = try catalogue.chunk(beginning: base) else {
                throw StorageError.missing(base, in: layout.directory)
            }
            // What is made with a wrong base is found out by its own id: only that is worth hashing for.
            let block = try block(at: location, &work)
            guard let range = block.range(of: id) else { throw StorageError.missing(id, in: layout.directory) }
            if joined.count + range.count > BlockReader.keptPayload {
                joined.reserveCapacity(BlockHeader.sourceLengthLimit)
            }
            joined += block.raw[range]
            if joined.count > BlockHeader.sourceLengthLimit { break }
        }
        return joined
    }

    /// The raw payload of a block.
    static func unpack(
        _ payload: [UInt8], _ header: BlockHeader, _ bases: [UInt8]
    ) throws(CompressionError) -> [UInt8] {
        switch header.codec {
        case .stored: payload
        case .later: throw .corrupt
        case .deflate:
            try payload.withRawBytes { payload throws(CompressionError) in
                var inflater = try Inflater()
                return try inflater.inflate(payload, expecting: header.rawLength)
            }
        case .delta:
            try payload.withRawBytes { payload throws(CompressionError) in
                try bases.withRawBytes { bases throws(CompressionError) in
                    try DeltaPayload.unpack(payload, bases: bases, rawLength: header.rawLength)
                }
            }
        }
    }

    /// The open segment of a number.
    func file(_ segment: Int64) throws(StorageError) -> SegmentFile {
        if let open = files.withLock({ $0[segment] }) { return open }
        guard let record = try catalogue.segment(segment) else {
            throw StorageError(
                .damaged, layout.directory, "the catalogue names a segment it does not know",
                remedy: "run 'archiver repair --catalogue'")
        }
        let path = layout.segment(record.path)
        let file: SegmentFile
        do { file = try SegmentFile(at: path) } catch {
            // What is there and cannot be opened now is not lost: what is damaged is left out of the catalogue for good.
            guard path.isMissing else { throw error }
            throw StorageError(
                .damaged, path, "segment \(path) is missing",
                remedy: "put the segment back from a copy; snapshots in other segments stay usable")
        }
        files.withLock { files in
            if files.count >= BlockReader.openFilesLimit { files.removeAll(keepingCapacity: true) }
            files[segment] = file
        }
        return file
    }
}

extension FilePath {
    /// Whether there is certainly nothing at the path (access(2)).
    fileprivate var isMissing: Bool {
        guard withPlatformString({ access($0, F_OK) }) != 0 else { return false }
        return Errno.current == .noSuchFileOrDirectory || Errno.current == .notDirectory
    }
}
