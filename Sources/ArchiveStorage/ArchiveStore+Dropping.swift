// Segments that are dropped on purpose: putting that on record, and reading it.

package import ArchiveFormat
package import FileIO

extension ArchiveStore {
    /// Puts on record that condemned segments are dropped.
    ///
    /// When this returns it is durable, and nothing of them counts any more. Their files may be removed then, not before.
    ///
    /// - Throws: `StorageError`, also where one of `segments` is not condemned, or its header cannot be read.
    package func enter(dropping segments: [SegmentRecord], at time: Timestamp = .now) throws(StorageError) {
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
        let writer = try beginCommit()
        do throws(StorageError) {
            try writer.commit(DroppedSegments(time: time, segments: names))
        } catch {
            writer.abandon()
            throw error
        }
    }

    /// What the chunk `id` says was dropped.
    package func droppedSegments(_ id: ChunkID) throws(StorageError) -> DroppedSegments {
        let bytes = try read(id)
        do throws(FormatError) {
            return try DroppedSegments(decoding: bytes)
        } catch {
            let failure: StorageError = try undecodable(id, error)
            throw failure
        }
    }
}
