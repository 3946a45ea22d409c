// Copies live chunks out of segments that are about to be dropped.

internal import ArchiveFormat
internal import Compression
internal import FileIO

/// Copies blocks of condemned segments into other segments.
///
/// A block with dead bases is rewritten against the nearest live chunk below: otherwise every kept version of a file
/// would keep all earlier versions. The new base is never a younger chunk: two copies could then depend on each other.
struct Evacuation {
    private let store: ArchiveStore
    private let live: ChunkSet
    private let survey: SegmentSurvey
    /// Records that must not be copied; nil if blocks may be copied with dead bytes in them.
    private let purged: Set<ChunkID>?
    private let removedNotes: Set<ChunkID>
    private let effects: RecordEffects
    /// Dead chunks that must stay too: blocks in other segments depend on them.
    private var supports: Set<ChunkPrefix> = []
    /// Live chunks without bases, waiting to share a block.
    private var packed: [RawChunk] = []
    private var packedBytes = 0
    /// Live records waiting to share a block: each block with records costs a sync of the disk.
    private var records: [RawChunk] = []
    private var recordBytes = 0
    /// Bytes appended.
    private(set) var movedBytes = 0
    /// Blocks appended since this evacuation last gave way to captures.
    private var piece = Pacing.Piece()
    private let pacing: Pacing

    /// zlib's level: a higher one saves a few bytes for much time.
    private static let level = 6

    /// - Parameters:
    ///   - live: the chunks that stay.
    ///   - survey: the current survey of the segments.
    ///   - victims: the segments that will be dropped.
    ///   - purged: records that must not be copied; nil if blocks may be copied with dead bytes in them.
    init(
        _ store: ArchiveStore, live: ChunkSet, _ survey: SegmentSurvey, victims: Set<Int64>, purged: Set<ChunkID>?,
        _ pacing: Pacing
    ) throws(StorageError) {
        self.store = store
        self.pacing = pacing
        self.purged = purged
        self.live = live
        self.survey = survey
        removedNotes = try store.catalogue.removedNotes()
        effects = try RecordEffects(store)
        for block in survey.dependents where !victims.contains(block.location.segment) {
            for base in block.bases { try addSupport(base) }
        }
    }

    /// Marks the chunk, and everything that it depends on, as staying.
    private mutating func addSupport(_ first: ChunkPrefix) throws(StorageError) {
        var waiting = [first]
        while let prefix = waiting.popLast() {
            if stays(prefix) { continue }
            supports.insert(prefix)
            // All copies: any of them may be read later.
            for copy in try store.catalogue.copies(beginning: prefix) {
                waiting += try store.catalogue.block(at: copy.location)?.bases ?? []
            }
        }
    }

    private func stays(_ prefix: ChunkPrefix) -> Bool { live.contains(prefix) || supports.contains(prefix) }

    /// Copies the live chunks of a condemned segment to others; the copies are durable and indexed when this returns.
    ///
    /// - Parameters:
    ///   - blocks: all blocks of the segment.
    ///   - isCancelled: called between blocks.
    mutating func move(
        _ blocks: [SegmentFooter.Block], of segment: ListedSegment, isCancelled: () -> Bool
    ) throws(StorageError) {
        var commit: CommitWriter?
        do throws(StorageError) {
            for block in blocks {
                let place = BlockLocation(segment: segment.number, offset: block.offset)
                let kept = try chunks(of: block.header, at: place)
                // What a table in a payload lists may be needed.
                if kept.isEmpty, !block.header.chunks.isEmpty { continue }
                if isCancelled() { throw StorageError.cancelled(store.layout.directory) }
                let target: CommitWriter
                if let commit { target = commit } else { target = try store.beginCommit(pause: pacing.pause) }
                commit = target
                try move(block.header, at: place, kept, to: target)
            }
            if let commit {
                try appendPacked(to: commit)
                try appendRecords(to: commit)
                try commit.commitChunks()
            }
        } catch {
            commit?.abandon()
            throw error
        }
    }

    /// The indices of the chunks in a block that stay.
    private func chunks(of header: BlockHeader, at place: BlockLocation) throws(StorageError) -> [Int] {
        let isNeeded = survey.isNeeded(place)
        var kept: [Int] = []
        for index in header.chunks.indices where try stays(header.chunks[index], isNeeded: isNeeded) {
            kept.append(index)
        }
        return kept
    }

    private func stays(_ chunk: BlockHeader.Chunk, isNeeded: Bool) throws(StorageError) -> Bool {
        if purged?.contains(chunk.id) ?? false { return false }
        // An opening speaks of its own segment only.
        if chunk.kind == .opening { return false }
        if chunk.kind == .note, removedNotes.contains(chunk.id) { return false }
        // A forgotten record of such a kind breaks a rule of the format.
        if chunk.kind.isLasting {
            if try store.catalogue.isForgotten(chunk.id) { return false }
            return try !effects.isVain(chunk.id, chunk.kind)
        }
        if isNeeded && live.contains(chunk.id) { return true }
        return !supports.isEmpty && supports.contains(ChunkPrefix(chunk.id))
    }

    private mutating func move(
        _ header: BlockHeader, at place: BlockLocation, _ kept: [Int], to commit: CommitWriter
    ) throws(StorageError) {
        // A block of a record and its content stays a delta: rewritten, it would need many times the space.
        if header.obstacle == nil, header.chunks.allSatisfy(\.kind.isRecord) {
            for index in kept { try pack(record: header.chunks[index].id, header.chunks[index].kind, commit) }
            return
        }
        let keptBytes = kept.reduce(0) { $0 + header.chunks[$1].length }
        let isSound = header.bases.allSatisfy(stays)
        let mayStay = purged == nil ? keptBytes * 2 >= header.rawLength : kept.count == header.chunks.count
        if isSound, mayStay || header.obstacle != nil && purged == nil {
            let (_, payload) = try store.reader.segment(place.segment).block(at: place.offset)
            return try append(EncodedBlock(header: header, payload: payload), to: commit)
        }
        if let obstacle = header.obstacle {
            let path = try store.reader.segment(place.segment).path
            throw StorageError.later(path, offset: place.offset, obstacle)
        }
        var chunks: [RawChunk] = []
        for index in kept {
            let chunk = header.chunks[index]
            chunks.append(RawChunk(id: chunk.id, kind: chunk.kind, bytes: try store.read(chunk.id)))
        }
        guard header.bases.isEmpty else {
            let bases = try bases(of: header, kept)
            return try append(store.encode(chunks, bases: bases, level: Evacuation.level), to: commit)
        }
        for chunk in chunks {
            packed.append(chunk)
            packedBytes += chunk.bytes.count
            if packedBytes >= BlockEncoder.packedBytes { try appendPacked(to: commit) }
        }
    }

    private mutating func appendPacked(to commit: CommitWriter) throws(StorageError) {
        if packed.isEmpty { return }
        try append(store.encode(packed, level: Evacuation.level), to: commit)
        packed.removeAll(keepingCapacity: true)
        packedBytes = 0
    }

    private mutating func pack(
        record id: ChunkID, _ kind: ChunkKind, _ commit: CommitWriter
    ) throws(StorageError) {
        let chunk = RawChunk(id: id, kind: kind, bytes: try store.read(id))
        records.append(chunk)
        recordBytes += chunk.bytes.count
        if recordBytes >= BlockEncoder.packedBytes { try appendRecords(to: commit) }
    }

    private mutating func appendRecords(to commit: CommitWriter) throws(StorageError) {
        if records.isEmpty { return }
        try append(store.encode(records, level: Evacuation.level), to: commit)
        records.removeAll(keepingCapacity: true)
        recordBytes = 0
    }

    private mutating func append(_ block: EncodedBlock, to commit: CommitWriter) throws(StorageError) {
        // As in every commit, blocks before a record must be durable: otherwise a power failure looks like damage.
        if block.header.chunks.contains(where: \.kind.isRecord) { try commit.synchronize() }
        try commit.append(block)
        movedBytes += block.byteCount
        piece.add(block)
        guard piece.isFull, pacing.isShared else { return }
        try commit.indexSoFar()
        try pacing.makeWay()
        piece = Pacing.Piece()
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
            if try store.catalogue.state(of: place.segment) == .away { return nil }
            let header = try store.blockHeader(at: place)
            if stays(prefix), header.depth < BlockHeader.depthLimit {
                return BaseChunk(id: id, bytes: try store.read(id), depth: header.depth)
            }
            guard let below = header.base(of: id) else { return nil }
            prefix = below
        }
        return nil
    }
}
