// Segments that are dropped on purpose: putting that on record.

internal import ArchiveFormat
package import FileIO

extension ArchiveStore {
    /// Puts on record that condemned segments are dropped.
    ///
    /// When this returns it is durable, and nothing of them counts any more. Their files may be removed then, not before.
    ///
    /// - Throws: `StorageError`, also where one of `segments` is not condemned, or its header cannot be read.
    package func enter(dropping segments: [ListedSegment], at time: Timestamp = .now) throws(StorageError) {
        if segments.isEmpty { return }
        var names: Set<SegmentID> = []
        for segment in segments {
            guard let known = try catalogue.segment(segment.number), known.state == .condemned, let name = known.name
            else {
                let path = layout.segment(segment.path)
                throw StorageError(
                    .system, path, "segment \(path) cannot be dropped: it is not condemned", remedy: "condemn it first")
            }
            names.insert(name)
        }
        let record = DroppedSegments(time: time, segments: names)
        try enter(record, listed: record)
    }
}
