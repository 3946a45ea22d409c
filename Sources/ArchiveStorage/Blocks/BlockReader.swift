// Reads chunks: finds their blocks, decompresses them against their bases, and verifies every chunk that is returned.

internal import ArchiveFormat
internal import Compression
internal import FileIO
internal import SystemPackage
internal import Threading

/// Reads blocks of an archive and caches the recent ones.
///
/// It can be used from several threads.
final class BlockReader: Sendable {
    private let segments: any SegmentSource
    /// The archive's directory, for errors.
    private let directory: FilePath
    private let archive: ArchiveID
    let catalogue: Catalogue
    let cache = BlockCache(capacityBytes: 16 << 20)
    let budget: UnpackingBudget
    private let open = Locked<[Int64: Segment]>([:])

    /// The most segments kept open; each may hold a descriptor.
    private static let openLimit = 128

    /// The most blocks that are fetched for one, and how many at a time.
    private static let (mostTogether, fetchesTogether) = (32, 8)

    /// Payloads and joined bases above this many bytes are large: each block in a chain would hold its own in memory.
    private static let keptPayload = 1 << 20

    /// - Parameter budget: bounds the work of all reads.
    init(
        _ segments: any SegmentSource, _ catalogue: Catalogue, of directory: FilePath, _ archive: ArchiveID,
        _ budget: UnpackingBudget = UnpackingBudget()
    ) {
        self.budget = budget
        self.segments = segments
        self.directory = directory
        self.archive = archive
        self.catalogue = catalogue
    }

    /// Empties the cache and closes all segments.
    func forget() {
        cache.removeAll()
        open.withLock { $0 = [:] }
    }

    /// Closes segments that were removed: until then the file system cannot free their space.
    func closeRemoved() {
        open.withLock { open in open = open.filter { !$0.value.bytes.isRemoved } }
    }

    /// Reads the chunk `id` and verifies it, from the cache or any undamaged copy.
    ///
    /// - Returns: its bytes in the block, without a copy.
    func read(_ id: ChunkID) throws(StorageError) -> ArraySlice<UInt8> {
        if let recent = recentChunk(id) { return recent }
        guard let location = try catalogue.location(of: id) else {
            throw StorageError.missing(id, in: directory)
        }
        do { return try chunk(id, at: location) } catch {
            var search = CopySearch(self)
            guard let bytes = search.bytes(of: id) else { throw error }
            return bytes[...]
        }
    }

    /// Reads the chunk `id` in the block at `location`; its SHA-256 is verified.
    func chunk(_ id: ChunkID, at location: BlockLocation) throws(StorageError) -> ArraySlice<UInt8> {
        let block = try block(at: location)
        guard let range = block.range(of: id) else { throw StorageError.missing(id, in: directory) }
        return try verified(id, block, range, at: location)
    }

    /// The chunk `id` from a cached block, if its SHA-256 is right.
    ///
    /// - Returns: nil otherwise: another copy may have the right bytes.
    private func recentChunk(_ id: ChunkID) -> ArraySlice<UInt8>? {
        guard let (block, range, location) = cache.block(holding: ChunkPrefix(id)) else { return nil }
        return try? verified(id, block, range, at: location)
    }

    private func verified(
        _ id: ChunkID, _ block: DecodedBlock, _ range: Range<Int>, at location: BlockLocation
    ) throws(StorageError) -> ArraySlice<UInt8> {
        let bytes = block.raw[range]
        guard ChunkID(hashing: bytes) == id else {
            throw StorageError.damaged(
                try segment(location.segment).path, offset: location.offset, .checksumMismatch("chunk \(id)"))
        }
        return bytes
    }

    /// The header of the block at `location`; of the block in the cache if it is there.
    func header(at location: BlockLocation) throws(StorageError) -> BlockHeader {
        if let cached = cache.block(at: location) { return cached.header }
        return try segment(location.segment).blockHeader(at: location.offset)
    }

    /// The block at `location`, decompressed.
    func block(at location: BlockLocation) throws(StorageError) -> DecodedBlock {
        var work = UnpackingWork()
        return try block(at: location, &work)
    }

    /// - Parameter work: the work done so far by the read that needs the block.
    private func block(
        at location: BlockLocation, _ work: inout UnpackingWork
    ) throws(StorageError) -> DecodedBlock {
        if let known = cache.block(at: location) ?? work.block(at: location) { return known }
        catalogue.counters.blocksRead.add()
        let segment = try segment(location.segment)
        if !segment.bytes.isNear(location.offset..<location.offset + 1) { fetchTogether(location) }
        var (header, payload) = try segment.block(at: location.offset)
        if let obstacle = header.obstacle {
            throw StorageError.later(segment.path, offset: location.offset, obstacle)
        }
        guard work.begin(header) else {
            throw StorageError.damaged(segment.path, offset: location.offset, .malformed("it needs too many bases"))
        }
        defer { work.end() }
        guard budget.spend(header.rawLength) else {
            throw StorageError.damaged(
                segment.path, offset: location.offset,
                .malformed("it is not read: blocks depend on others so that reading all of them would take too long"))
        }
        catalogue.counters.bytesUnpacked.add(header.rawLength)
        // A large payload is read again instead of held in memory while the bases, and their bases, are unpacked.
        let isKept = header.bases.isEmpty || payload.count <= BlockReader.keptPayload
        if !isKept { payload = [] }
        var costs: [UnpackingCost] = []
        let bases = try bases(of: header, &work, &costs)
        if !isKept { payload = try segment.block(at: location.offset).payload }
        let raw: [UInt8]
        do {
            guard bases.count <= BlockHeader.sourceLengthLimit else {
                throw CompressionError.tooLarge(byteCount: bases.count)
            }
            raw = try BlockReader.unpack(payload, header, bases)
        } catch {
            throw StorageError.damaged(segment.path, offset: location.offset, .malformed("\(error)"))
        }
        let block = DecodedBlock(header: header, raw: raw, bases: costs)
        cache.insert(block, at: location)
        work.keep(block, at: location)
        return block
    }

    /// Fetches a block that is far away at the same time as all the blocks below it: otherwise each base is asked for only
    /// when the block above it has come.
    ///
    /// A failure is left to the one who reads.
    private func fetchTogether(_ location: BlockLocation) {
        var (waiting, seen) = ([location], Set([location]))
        var far: [(range: Range<Int>, segment: Int64, path: String)] = []
        while let next = waiting.popLast(), far.count < BlockReader.mostTogether {
            guard cache.block(at: next) == nil, let block = try? catalogue.block(at: next),
                block.length <= BlockReader.keptPayload, let row = try? catalogue.segment(next.segment)
            else { continue }
            far.append((next.offset..<next.offset + block.length, next.segment, row.path))
            for base in block.bases where cache.block(holding: base) == nil {
                guard let place = try? catalogue.chunk(beginning: base)?.location else { continue }
                if seen.insert(place).inserted { waiting.append(place) }
            }
        }
        guard far.count > 1 else { return }
        // The catalogue is this thread's.
        let most = BlockReader.fetchesTogether
        try? DetachedThread.forEach(far, upTo: most, for: "blocks") { [self] range, number, path in
            let segment = try segment(number, at: path)
            if !segment.bytes.isNear(range) { _ = try segment.read(at: range.lowerBound, count: range.count) }
        }
    }

    /// The bytes of all bases of a block, joined.
    private func bases(
        of header: BlockHeader, _ work: inout UnpackingWork, _ costs: inout [UnpackingCost]
    ) throws(StorageError) -> [UInt8] {
        var joined: [UInt8] = []
        for base in header.bases {
            // A wrong base makes a wrong chunk, whose own id reveals it. So only the requested chunk is hashed.
            let (block, range) = try chunk(beginning: base, &work)
            costs.append(block.cost)
            if joined.count + range.count > BlockReader.keptPayload {
                joined.reserveCapacity(BlockHeader.sourceLengthLimit)
            }
            joined += block.raw[range]
            if joined.count > BlockHeader.sourceLengthLimit { break }
        }
        return joined
    }

    /// The block that holds the chunk whose id begins with `prefix`, and the chunk's range in its bytes.
    private func chunk(
        beginning prefix: ChunkPrefix, _ work: inout UnpackingWork
    ) throws(StorageError) -> (DecodedBlock, Range<Int>) {
        if let (block, range, _) = cache.block(holding: prefix) { return (block, range) }
        guard let (id, location) = try catalogue.chunk(beginning: prefix) else {
            throw StorageError.missing(prefix, in: directory)
        }
        let block = try block(at: location, &work)
        guard let range = block.range(of: id) else { throw StorageError.missing(id, in: directory) }
        return (block, range)
    }

    /// Unpacks the payload of a block.
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

    /// The open segment with this number.
    func segment(_ number: Int64) throws(StorageError) -> Segment {
        if let known = open.withLock({ $0[number] }) { return known }
        guard let row = try catalogue.segment(number) else {
            throw StorageError(
                .damaged, directory, "the catalogue refers to a segment that it does not list",
                remedy: Advice.rebuildCatalogue.text)
        }
        return try segment(number, at: row.path)
    }

    private func segment(_ number: Int64, at path: String) throws(StorageError) -> Segment {
        if let known = open.withLock({ $0[number] }) { return known }
        let segment = Segment(try segments.open(path), of: archive)
        return open.withLock { open in
            // Another thread may have opened it in the meantime; readers of one share what it reads.
            if let known = open[number] { return known }
            if open.count >= BlockReader.openLimit { open.removeAll(keepingCapacity: true) }
            open[number] = segment
            return segment
        }
    }
}
