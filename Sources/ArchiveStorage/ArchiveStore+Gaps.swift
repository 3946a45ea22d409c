// Gaps of an archive: entering and reading them.

package import ArchiveFormat

extension ArchiveStore {
    /// Enters `gaps` into the archive, as one commit: when this returns they are durable, where it throws none is there.
    ///
    /// A gap that the archive has already is left as it is.
    package func enter(_ gaps: [GapRecord]) throws(StorageError) {
        var new: [ListedGap] = []
        for gap in Set(gaps).map(ListedGap.init) where try !holds(gap) { new.append(gap) }
        if new.isEmpty { return }
        let writer = try beginCommit()
        do throws(StorageError) {
            try writer.commit(new)
        } catch {
            writer.abandon()
            throw error
        }
    }

    /// Whether a gap is listed and its chunk not lost.
    private func holds(_ gap: ListedGap) throws(StorageError) -> Bool {
        guard try catalogue.hasGap(gap.id) else { return false }
        return try catalogue.holds(gap.id)
    }

    /// Bytes of all segments, as far as they are indexed.
    package func storedBytes() throws(StorageError) -> UInt64 { try catalogue.segmentBytes() }
}
