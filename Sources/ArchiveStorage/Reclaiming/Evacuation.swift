// Copies live chunks out of segments that are about to be dropped.

internal import ArchiveFormat
internal import Compression
internal import FileIO
internal import Threading

/// Copies blocks of condemned segments into other segments.
///
/// If nobody else uses the archive, other threads make the copies ahead; they are appended in the order of the blocks.
final class Evacuation {
    private let store: ArchiveStore
    private let live: ChunkSet
    private let survey: SegmentSurvey
    /// Records that must not be copied; nil if blocks may be copied with dead bytes in them.
    private let purged: Set<ChunkID>?
    private let removedNotes: Set<ChunkID>
    private let effects: RecordEffects
    private let copies: BlockCopies
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
        copies = try BlockCopies(
            of: store, live: live, isPurging: purged != nil,
            supporting: survey.dependents.filter { !victims.contains($0.location.segment) }.flatMap(\.bases))
    }

    /// Copies the live chunks of a condemned segment to others; the copies are durable and indexed when this returns.
    ///
    /// - Parameters:
    ///   - blocks: all blocks of the segment.
    ///   - isCancelled: called between blocks.
    func move(
        _ blocks: [SegmentFooter.Block], of segment: ListedSegment, isCancelled: () -> Bool
    ) throws(StorageError) {
        var commit: CommitWriter?
        do {
            var originals: [BlockCopies.Original] = []
            for block in blocks {
                let place = BlockLocation(segment: segment.number, offset: block.offset)
                let kept = try chunks(of: block.header, at: place)
                // What a table in a payload lists may be needed.
                if kept.isEmpty, !block.header.chunks.isEmpty { continue }
                originals.append(BlockCopies.Original(header: block.header, place: place, kept: kept))
            }
            try copy(originals) { copy in
                if isCancelled() { throw StorageError.cancelled(store.layout.directory) }
                let target = if let commit { commit } else { try store.beginCommit(pause: pacing.pause) }
                commit = target
                try append(copy, to: target)
            }
            if let commit {
                try appendPacked(to: commit)
                try appendRecords(to: commit)
                try commit.commitChunks()
            }
        } catch {
            commit?.abandon()
            let path = store.segments.path(of: segment.path)
            throw error as? StorageError
                ?? StorageError(.system, path, "cannot copy what is needed of \(path): \(error)")
        }
    }

    /// Calls `append` with the copies of the blocks, in their order.
    private func copy(_ blocks: [BlockCopies.Original], _ append: (BlockCopies.Copy) throws -> Void) throws {
        if pacing.isShared {
            for block in blocks { try append(copies.copy(of: block)) }
            return
        }
        try blocks.forEachAhead(byteCount: { UInt64($0.header.rawLength) }, copies.copy) { copy in
            try append(copy)
            return true
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
        return copies.isSupport(chunk.id)
    }

    private func append(_ copy: BlockCopies.Copy, to commit: CommitWriter) throws(StorageError) {
        switch copy {
        case .block(let block): try append(block, to: commit)
        case .records(let chunks):
            for chunk in chunks {
                records.append(chunk)
                recordBytes += chunk.bytes.count
                if recordBytes >= BlockEncoder.packedBytes { try appendRecords(to: commit) }
            }
        case .loose(let chunks):
            for chunk in chunks {
                packed.append(chunk)
                packedBytes += chunk.bytes.count
                if packedBytes >= BlockEncoder.packedBytes { try appendPacked(to: commit) }
            }
        }
    }

    private func appendPacked(to commit: CommitWriter) throws(StorageError) {
        if packed.isEmpty { return }
        try append(store.encode(packed, level: BlockCopies.level), to: commit)
        packed.removeAll(keepingCapacity: true)
        packedBytes = 0
    }

    private func appendRecords(to commit: CommitWriter) throws(StorageError) {
        if records.isEmpty { return }
        try append(store.encode(records, level: BlockCopies.level), to: commit)
        records.removeAll(keepingCapacity: true)
        recordBytes = 0
    }

    private func append(_ block: EncodedBlock, to commit: CommitWriter) throws(StorageError) {
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
}
