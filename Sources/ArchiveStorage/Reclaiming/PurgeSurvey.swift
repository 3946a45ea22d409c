// Which segments hold anything that nothing needs: for purging, one byte of it is too much.

internal import ArchiveFormat

/// The segments that a purge has to write anew.
struct PurgeSurvey {
    /// By their numbers.
    private(set) var segments: Set<Int64> = []

    /// - Parameters:
    ///   - live: the chunks that are to stay, lasting records aside.
    ///   - purged: records that are not to stay.
    init(
        _ store: ArchiveStore, live: ChunkSet, purged: Set<ChunkID>, _ survey: SegmentSurvey
    ) throws(StorageError) {
        // What stands on anything else keeps it: it is written anew, without.
        for block in survey.leaning { segments.insert(block.location.segment) }
        var lasting: Set<Int64> = []
        try store.catalogue.forEachBlock { location, block in
            if block.isLasting { lasting.insert(location.packed) }
        }
        var unsure: Set<BlockLocation> = []
        try store.catalogue.forEachChunk { id, location in
            if live.contains(id), !purged.contains(id) { return true }
            // Nobody counts the records that stay whatever is forgotten; their blocks may hold something else, too.
            if lasting.contains(location.packed) { unsure.insert(location) } else { segments.insert(location.segment) }
            return true
        }
        for location in unsure where !segments.contains(location.segment) {
            let isClean = try store.blockHeader(at: location).chunks.allSatisfy { chunk in
                !purged.contains(chunk.id) && (chunk.kind.isLasting || live.contains(chunk.id))
            }
            if !isClean { segments.insert(location.segment) }
        }
        // What an interrupted write has left is in no block, and nobody knows what it is.
        for segment in try store.catalogue.segments() where !segments.contains(segment.number) {
            let scan = try SegmentScan(
                of: store.reader.segment(segment.number), from: SegmentHeader.byteCount, verifyingPayloads: false,
                passingDamage: true)
            if !scan.unfinished.isEmpty { segments.insert(segment.number) }
        }
    }
}
