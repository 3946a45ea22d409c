// Who stores which chunk of a commit: this commit once, or nobody, as the archive has it.

internal import ArchiveFormat

/// The chunks that a commit has claimed, and what it knows of those that the archive has.
struct ChunkClaims {
    /// What is known of a chunk without asking the catalogue.
    enum Answer {
        /// The asker stores it.
        case claimed
        /// Another asker stores it, or has.
        case isOurs
        /// Only the catalogue can tell, which is to be asked again where `steps` has changed meanwhile.
        case unknown(steps: Int)
    }

    /// Chunks that are not in the catalogue yet; no offset where their block is still being made.
    private(set) var pending: [ChunkID: Int?] = [:]
    /// All that the catalogue knew when it was made, and what was claimed since; nil while it is not worth making.
    private var known: ChunkFilter?
    /// How often the catalogue was asked for a chunk, and after how many times a filter is worth making.
    private var lookups = 0
    private var lookupsLimit = ChunkClaims.leastLookups
    /// How often the catalogue came to have chunks that were asked of `pending` or a step until then.
    private var steps = 0

    /// A filter is made after so many lookups, or a fraction of the chunks that it has to hold: then reading them all
    /// costs no more than the lookups did.
    private static let leastLookups = 1 << 12
    private static let chunksPerLookup = 16

    init(isArchiveEmpty: Bool) {
        known = isArchiveEmpty ? ChunkFilter() : nil
    }

    /// Claims the chunk `id`.
    ///
    /// - Parameters:
    ///   - step: what is on its way into the catalogue.
    ///   - stepsSeen: what `Answer.unknown` said before the catalogue was asked, which does not have the chunk; nil where it was
    ///     not asked.
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

    /// Whether the catalogue was asked so often that a filter is worth making.
    mutating func needsFilter(_ catalogue: Catalogue) throws(StorageError) -> Bool {
        guard known == nil, lookups >= lookupsLimit else { return false }
        lookupsLimit = max(lookupsLimit, try catalogue.chunkCount() / ChunkClaims.chunksPerLookup)
        return lookups >= lookupsLimit
    }

    /// Makes the filter; no step is under way.
    mutating func makeFilter(_ catalogue: Catalogue) throws(StorageError) {
        var filter = ChunkFilter()
        for id in pending.keys { filter.insert(id) }
        try catalogue.forEachChunk { id, _ in
            filter.insert(id)
            return true
        }
        known = filter
    }

    /// The block of claimed chunks was appended.
    mutating func appended(_ block: EncodedBlock, at offset: Int) {
        for chunk in block.header.chunks { pending[chunk.id] = .some(offset) }
    }

    /// Those that were appended are known to the catalogue, or to a step.
    mutating func forgetAppended() {
        pending = pending.filter { $0.value == nil }
    }

    /// The catalogue has chunks that it did not have before.
    mutating func catalogueGrew() { steps += 1 }
}
