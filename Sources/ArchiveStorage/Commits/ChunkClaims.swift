// Which chunks a commit has to store: each once, and none that the archive already has.

internal import ArchiveFormat

/// The chunks that a commit has claimed, and what it knows about those in the archive.
struct ChunkClaims {
    /// What is known about a chunk without asking the catalogue.
    enum Answer {
        /// The caller must store it.
        case claimed
        /// Another caller stores it, or has stored it.
        case isOurs
        /// Only the catalogue knows; ask it, and ask again if `steps` has changed since.
        case unknown(steps: Int)
    }

    /// Chunks that are not in the catalogue yet; the offset is nil until their block is appended.
    private(set) var pending: [ChunkID: Int?] = [:]
    /// All chunks in the catalogue when the filter was built, and those claimed since; nil while a filter is not worth
    /// it.
    private var known: ChunkFilter?
    /// How many lookups were needed, and the number from which a filter is worth building.
    private var lookups = 0
    private var lookupsLimit = ChunkClaims.leastLookups
    /// How many times chunks moved from `pending` or a step into the catalogue.
    private var steps = 0

    /// The least number of lookups after which a filter is built.
    ///
    /// With more chunks in the archive it is a fraction of their number. Reading all chunks then costs no more than the
    /// lookups did.
    private static let leastLookups = 1 << 12
    private static let chunksPerLookup = 16

    init(isArchiveEmpty: Bool) {
        known = isArchiveEmpty ? ChunkFilter() : nil
    }

    /// Claims the chunk `id`.
    ///
    /// - Parameters:
    ///   - step: the step that is being indexed.
    ///   - stepsSeen: `steps` of the `Answer.unknown` after which the catalogue was asked and did not have the chunk;
    ///     nil if it was not asked.
    mutating func claim(_ id: ChunkID, besides step: IndexingStep?, stepsSeen: Int?) -> Answer {
        if pending[id] != nil || step?.contains(id) ?? false { return .isOurs }
        guard steps == stepsSeen || known.map({ !$0.mayContain(id) }) ?? false else {
            lookups += 1
            return .unknown(steps: steps)
        }
        pending[id] = .some(nil)
        known?.insert(id)
        return .claimed
    }

    /// Whether there were so many lookups that a filter is worth building.
    mutating func needsFilter(_ catalogue: Catalogue) throws(StorageError) -> Bool {
        guard known == nil, lookups >= lookupsLimit else { return false }
        lookupsLimit = max(lookupsLimit, try catalogue.chunkCount() / ChunkClaims.chunksPerLookup)
        return lookups >= lookupsLimit
    }

    /// Builds the filter; no step may be running.
    mutating func makeFilter(_ catalogue: Catalogue) throws(StorageError) {
        var filter = ChunkFilter()
        for id in pending.keys { filter.insert(id) }
        try catalogue.forEachChunk { id, _ in
            filter.insert(id)
            return true
        }
        known = filter
    }

    /// Records that a block of claimed chunks was appended.
    mutating func appended(_ block: EncodedBlock, at offset: Int) {
        for chunk in block.header.chunks { pending[chunk.id] = .some(offset) }
    }

    /// Forgets the appended chunks, which the catalogue or a step now has.
    mutating func forgetAppended() {
        // As many will follow: a dictionary that grows holds all of its items twice.
        var kept: [ChunkID: Int?] = Dictionary(minimumCapacity: pending.count)
        for (id, offset) in pending where offset == nil { kept[id] = .some(nil) }
        pending = kept
    }

    /// Records that the catalogue has new chunks.
    mutating func catalogueGrew() { steps += 1 }
}
