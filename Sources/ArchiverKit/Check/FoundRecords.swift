// What a check comes upon in the segments.

internal import ArchiveFormat

/// What the segments hold, as far as the catalogue should know it.
struct FoundRecords {
    /// Chunks that can be read.
    var chunks = ChunkTable()
    /// Chunks that the catalogue has places for and that cannot be read, in the order of their ids.
    var lost: [ChunkID] = []
    var snapshots: [SnapshotID] = []
    var gaps: [ChunkID] = []
    var states: [StateID] = []
    var operations: [OperationID] = []
    var forgotten: [ChunkID] = []
    var notices: [ChunkID] = []
    var dropped: [ChunkID] = []

    mutating func add(_ chunk: BlockHeader.Chunk) {
        switch chunk.kind {
        case .snapshot: snapshots.append(SnapshotID(chunk.id))
        case .gap: gaps.append(chunk.id)
        case .state: states.append(StateID(chunk.id))
        case .operation: operations.append(OperationID(chunk.id))
        case .forgotten: forgotten.append(chunk.id)
        case .rootNotice: notices.append(chunk.id)
        case .droppedSegments: dropped.append(chunk.id)
        default: break
        }
    }
}
