// Finds the segments that hold anything that is not needed: a purge must not leave one byte of it.

internal import ArchiveFormat

/// The segments that a purge must rewrite.
struct PurgeSurvey {
    /// By segment number.
    private(set) var segments: Set<Int64> = []

    /// - Parameters:
    ///   - live: the chunks that stay, apart from lasting records.
    ///   - purged: records that must not stay.
    init(
        _ store: ArchiveStore, live: ChunkSet, purged: Set<ChunkID>, _ survey: SegmentSurvey
    ) throws(StorageError) {
        // A block with dead bases keeps them, so it is rewritten without them.
        for block in survey.dependents { segments.insert(block.location.segment) }
        var lasting: Set<Int64> = []
        try store.catalogue.forEachBlock { location, block in
            if block.isLasting { lasting.insert(location.packed) }
        }
        var unsure: Set<BlockLocation> = []
        try store.catalogue.forEachChunk { id, location in
            if live.contains(id), !purged.contains(id) { return true }
            // Lasting records always stay and are not in `live`; but their blocks may also hold other chunks.
            if lasting.contains(location.packed) { unsure.insert(location) } else { segments.insert(location.segment) }
            return true
        }
        for location in unsure where !segments.contains(location.segment) {
            let isClean = try store.blockHeader(at: location).chunks.allSatisfy { chunk in
                !purged.contains(chunk.id) && (chunk.kind.isLasting || live.contains(chunk.id))
            }
            if !isClean { segments.insert(location.segment) }
        }
        // The remains of an interrupted write are in no block, and their contents are unknown.
        for segment in try store.catalogue.segments() where !segments.contains(segment.number) {
            let scan = try SegmentScan(
                of: store.reader.segment(segment.number), from: SegmentHeader.byteCount, verifyingPayloads: false,
                passingDamage: true)
            if !scan.unfinished.isEmpty || scan.unsearched != nil { segments.insert(segment.number) }
        }
    }
}
