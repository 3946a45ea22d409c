// The chunks and records that a check finds in the segments.

internal import ArchiveFormat
internal import ArchiveStorage

/// The contents of the segments that the catalogue should list.
struct FoundRecords {
    /// Chunks that can be read.
    var chunks = ChunkTable()
    /// Chunks that the catalogue lists and that cannot be read, ordered by id.
    var lost: [ChunkID] = []
    /// The segments that were checked.
    var segments: [ListedSegment] = []
    /// The chunks that hold records, by kind.
    private var records: [ChunkKind: [ChunkID]] = [:]

    /// The chunks that hold records of a kind.
    func records(of kind: ChunkKind) -> [ChunkID] { records[kind, default: []] }

    mutating func add(_ chunk: BlockHeader.Chunk) {
        if chunk.kind.isRecord { records[chunk.kind, default: []].append(chunk.id) }
    }
}
