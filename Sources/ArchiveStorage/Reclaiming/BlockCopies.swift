// Makes the copies of blocks that must outlive their segments.

internal import ArchiveFormat

/// Makes copies of blocks.
///
/// A block with dead bases is rewritten against the nearest live chunk below: otherwise every kept version of a file
/// would keep all earlier versions. The new base is never a younger chunk: two copies could then depend on each other.
///
/// It can be used from several threads.
struct BlockCopies: Sendable {
    /// A block of a condemned segment.
    struct Original: Sendable {
        let header: BlockHeader
        let place: BlockLocation
        /// The indices of the chunks that stay; the other chunks are dead.
        let kept: [Int]
    }

    /// What to append.
    enum Copy: Sendable {
        case block(EncodedBlock)
        /// Records, to share a block with others.
        case records([RawChunk])
        /// Chunks without bases, to share a block with others.
        case loose([RawChunk])
    }

    private let store: ArchiveStore
    private let live: ChunkSet
    private let isPurging: Bool
    /// Dead chunks that must stay too: blocks in other segments depend on them.
    private var supports: Set<ChunkPrefix> = []
    /// The numbers of the segments that are only in a replica.
    private let away: Set<Int64>

    /// zlib's level: a higher one saves a few bytes for much time.
    static let level = 6

    /// - Parameters:
    ///   - live: the chunks that stay.
    ///   - isPurging: whether no dead bytes may be copied.
    ///   - dead: dead chunks that stay, too, with everything that they depend on.
    init(
        of store: ArchiveStore, live: ChunkSet, isPurging: Bool, supporting dead: [ChunkPrefix]
    ) throws(StorageError) {
        self.store = store
        self.live = live
        self.isPurging = isPurging
        away = Set(try store.catalogue.segments().filter { $0.state == .away }.map(\.number))
        var waiting = dead
        while let prefix = waiting.popLast() {
            if stays(prefix) { continue }
            supports.insert(prefix)
            // All copies: any of them may be read later.
            for copy in try store.catalogue.copies(beginning: prefix) {
                waiting += try store.catalogue.block(at: copy.location)?.bases ?? []
            }
        }
    }

    /// Whether a dead chunk must stay.
    func isSupport(_ id: ChunkID) -> Bool { !supports.isEmpty && supports.contains(ChunkPrefix(id)) }

    private func stays(_ prefix: ChunkPrefix) -> Bool { live.contains(prefix) || supports.contains(prefix) }

    /// The copy of a block.
    func copy(of original: Original) throws(StorageError) -> Copy {
        let (header, place, kept) = (original.header, original.place, original.kept)
        // A block of a record and its content stays a delta: rewritten, it would need many times the space.
        if header.obstacle == nil, header.chunks.allSatisfy(\.kind.isRecord) {
            return .records(try chunks(of: original))
        }
        let keptBytes = kept.reduce(0) { $0 + header.chunks[$1].length }
        let isSound = header.bases.allSatisfy(stays)
        let mayStay = isPurging ? kept.count == header.chunks.count : keptBytes * 2 >= header.rawLength
        if isSound, mayStay || header.obstacle != nil && !isPurging {
            let (_, payload) = try store.reader.segment(place.segment).block(at: place.offset)
            return .block(EncodedBlock(header: header, payload: payload))
        }
        if let obstacle = header.obstacle {
            let path = try store.reader.segment(place.segment).path
            throw StorageError.later(path, offset: place.offset, obstacle)
        }
        let chunks = try chunks(of: original)
        if header.bases.isEmpty { return .loose(chunks) }
        return .block(
            try store.encode(chunks, bases: bases(of: header, kept), level: BlockCopies.level))
    }

    private func chunks(of original: Original) throws(StorageError) -> [RawChunk] {
        var chunks: [RawChunk] = []
        for index in original.kept {
            let chunk = original.header.chunks[index]
            let bytes = try store.read(chunk.id, preferring: original.place)
            chunks.append(RawChunk(id: chunk.id, kind: chunk.kind, bytes: bytes))
        }
        return chunks
    }

    /// The bases for the chunks `kept` of a block: for each old base the nearest chunk at or below it that stays.
    private func bases(of header: BlockHeader, _ kept: [Int]) throws(StorageError) -> [BaseChunk] {
        let isOneEach = header.bases.count == header.chunks.count
        let wanted = isOneEach ? kept.map { header.bases[$0] } : header.bases
        var found: [BaseChunk] = []
        for prefix in wanted {
            guard let base = try base(from: prefix), !found.contains(where: { $0.id == base.id }) else { continue }
            found.append(base)
        }
        return found
    }

    /// The chunk that `prefix` names, or the nearest one below it that stays and is not too deep to be a base.
    private func base(from prefix: ChunkPrefix) throws(StorageError) -> BaseChunk? {
        var prefix = prefix
        // Copies of one chunk may have different depths, so this walk is limited too.
        for _ in 0...ArchiveStore.chainLimit {
            guard let (id, place) = try store.catalogue.chunk(beginning: prefix) else { return nil }
            // A new block stands on local bases only.
            if away.contains(place.segment) { return nil }
            let header = try store.reader.header(at: place)
            if stays(prefix), header.depth < BlockHeader.depthLimit {
                let bytes = try store.read(id, preferring: place)
                let cost = store.reader.cache.block(at: place)?.cost
                return BaseChunk(id: id, bytes: bytes, depth: header.depth, cost: cost)
            }
            guard let below = header.base(of: id) else { return nil }
            prefix = below
        }
        return nil
    }
}
