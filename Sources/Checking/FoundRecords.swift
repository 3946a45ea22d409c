// What a check comes upon in the segments.

internal import ArchiveFormat

/// What the segments hold, as far as the catalogue should know it.
struct FoundRecords {
    /// Chunks that can be read.
    var chunks = ChunkTable()
    /// Chunks that the catalogue has places for and that cannot be read, in the order of their ids.
    var lost: [ChunkID] = []
    /// The chunks that hold records, by their kinds.
    private var records: [ChunkKind: [ChunkID]] = [:]

    /// The chunks that hold records of a kind.
    func records(of kind: ChunkKind) -> [ChunkID] { records[kind, default: []] }

    mutating func add(_ chunk: BlockHeader.Chunk) {
        if chunk.kind.isRecord { records[chunk.kind, default: []].append(chunk.id) }
    }
}
