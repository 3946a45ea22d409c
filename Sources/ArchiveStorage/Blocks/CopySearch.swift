// Reading a chunk whose newest copy does not serve: any copy that is whole and stands on whole chunks does.

internal import ArchiveFormat
internal import FileIO

/// Looks for a copy of a chunk that gives the bytes which its id names.
///
/// Nothing is taken from blocks that were read before: one that was unpacked with a false copy of a base is wrong as well,
/// however right its checksums are. So the chunks of all bases are verified here.
struct CopySearch {
    private struct Copy: Hashable {
        let id: ChunkID
        let location: BlockLocation
    }

    private let reader: BlockReader
    private var work = UnpackingWork()
    /// Blocks that are being unpacked: no copy may stand on itself.
    private var open: Set<BlockLocation> = []
    /// Those of them that something else was found to stand on.
    private var awaited: Set<BlockLocation> = []
    /// Copies that gave nothing, and did not wait for one that did in the end.
    private var failed: Set<Copy> = []
    /// Blocks that this search unpacked and all of whose chunks are true.
    private var proven: Set<BlockLocation> = []
    private var failures = 0

    /// So many copies may fail before the chunk is given up.
    private static let failuresLimit = 256

    init(_ reader: BlockReader) { self.reader = reader }

    /// The bytes of the chunk `id`; nil where no copy gives them.
    mutating func bytes(of id: ChunkID) -> [UInt8]? {
        bytes(beginning: ChunkPrefix(id)) { $0 == id }
    }

    /// The bytes of the chunk whose id begins with `prefix` and `isMeant`.
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
        defer { work.end(header) }
        guard isWithinLimits else { return nil }
        var bases: [UInt8] = []
        for base in header.bases {
            guard let bytes = bytes(beginning: base, where: { _ in true }) else { return nil }
            bases += bytes
            if bases.count > BlockHeader.sourceLengthLimit { return nil }
        }
        guard let raw = try? BlockReader.unpack(payload, header, bases) else { return nil }
        let block = DecodedBlock(header: header, raw: raw)
        if block.isTrue {
            reader.cache.replace(block, at: location)
            proven.insert(location)
        }
        return block
    }
}

extension DecodedBlock {
    /// Whether all chunks have the bytes that their ids name.
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
