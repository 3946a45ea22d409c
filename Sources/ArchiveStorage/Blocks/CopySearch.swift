// Reads a chunk whose newest copy is damaged: any undamaged copy with undamaged bases will do.

internal import ArchiveFormat
internal import FileIO

/// Searches for a copy of a chunk whose bytes match its id.
///
/// It does not trust cached blocks: a block that was unpacked with a wrong base is wrong, even if its own checksums are
/// right. So the chunks of all bases are verified here.
struct CopySearch {
    private struct Copy: Hashable {
        let id: ChunkID
        let location: BlockLocation
    }

    private let reader: BlockReader
    private var work = UnpackingWork()
    /// Blocks that are being unpacked: a copy must not depend on itself.
    private var open: Set<BlockLocation> = []
    /// Blocks in `open` that another copy was found to depend on.
    private var awaited: Set<BlockLocation> = []
    /// Copies that failed; cleared when a block in `awaited` succeeds.
    private var failed: Set<Copy> = []
    /// Blocks that this search unpacked and whose chunks are all right.
    private var proven: Set<BlockLocation> = []
    private var failures = 0

    /// The search gives up after this many failed copies.
    private static let failuresLimit = 256

    init(_ reader: BlockReader) { self.reader = reader }

    /// Reads the chunk `id`; nil if no copy has the right bytes.
    mutating func bytes(of id: ChunkID) -> [UInt8]? {
        bytes(beginning: ChunkPrefix(id)) { $0 == id }
    }

    /// Reads the chunk whose id begins with `prefix` and satisfies `isMeant`.
    private mutating func bytes(beginning prefix: ChunkPrefix, where isMeant: (ChunkID) -> Bool) -> [UInt8]? {
        guard let copies = try? reader.catalogue.copies(beginning: prefix) else { return nil }
        for copy in copies where isMeant(copy.id) {
            if let bytes = bytes(of: Copy(id: copy.id, location: copy.location)) { return bytes }
        }
        return nil
    }

    private mutating func bytes(of copy: Copy) -> [UInt8]? {
        guard failures < CopySearch.failuresLimit, !failed.contains(copy) else { return nil }
        guard open.insert(copy.location).inserted else {
            awaited.insert(copy.location)
            return nil
        }
        defer { open.remove(copy.location) }
        if let block = block(at: copy.location), let range = block.range(of: copy.id) {
            let bytes = Array(block.raw[range])
            if ChunkID(hashing: bytes) == copy.id {
                if awaited.remove(copy.location) != nil { failed.removeAll() }
                return bytes
            }
        }
        failed.insert(copy)
        failures += 1
        return nil
    }

    private mutating func block(at location: BlockLocation) -> DecodedBlock? {
        if proven.contains(location), let block = reader.cache.block(at: location) { return block }
        reader.catalogue.counters.blocksRead.add()
        guard let (header, payload) = try? reader.segment(location.segment).block(at: location.offset),
            header.obstacle == nil
        else { return nil }
        let isWithinLimits = work.begin(header)
        defer { work.end() }
        guard isWithinLimits, reader.budget.spend(header.rawLength) else { return nil }
        reader.catalogue.counters.bytesUnpacked.add(header.rawLength)
        // What the bases took is not known, so a writer looks at the headers.
        let costs = header.bases.map { _ in UnpackingCost(rawLength: UnpackingWork.bytesLimit, bases: []) }
        var bases: [UInt8] = []
        for base in header.bases {
            guard let bytes = bytes(beginning: base, where: { _ in true }) else { return nil }
            bases += bytes
            if bases.count > BlockHeader.sourceLengthLimit { return nil }
        }
        guard let raw = try? BlockReader.unpack(payload, header, bases) else { return nil }
        let block = DecodedBlock(header: header, raw: raw, bases: costs)
        if block.isTrue {
            reader.cache.replace(block, at: location)
            proven.insert(location)
        }
        return block
    }
}

extension DecodedBlock {
    /// Whether all chunks match their ids.
    fileprivate var isTrue: Bool {
        var start = 0
        for chunk in header.chunks {
            let end = start + chunk.length
            guard ChunkID(hashing: Array(raw[start..<end])) == chunk.id else { return false }
            start = end
        }
        return true
    }
}
