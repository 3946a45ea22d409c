// Checks deltas without unpacking them: that their bases exist, and that chains end.

internal import ArchiveFormat
internal import ArchiveStorage

/// The blocks that have bases.
///
/// If each block is deeper than its bases, all chains end within the format's limit. If a block is not, as two writers
/// may have stored a base at different depths, its bases are followed. Reading the block is no test: with its bases in
/// the cache it is readable however long its chain is, and a restore would still refuse it.
struct DeltaCheck {
    private struct Delta {
        let place: BlockLocation
        let depth: Int
        let base: ChunkPrefix
    }

    private var deltas: [Delta] = []
    /// The real depths of the blocks whose bases were followed.
    private var depths: [BlockLocation: Int] = [:]

    mutating func add(_ header: BlockHeader, at place: BlockLocation) {
        for base in header.bases { deltas.append(Delta(place: place, depth: header.depth, base: base)) }
    }

    /// Checks the blocks against the existing chunks, and removes the chunks that cannot be read.
    mutating func run(_ chunks: inout ChunkTable, _ store: ArchiveStore, _ report: CheckReport) throws {
        // Bases first: a block with a lost base is lost too.
        for delta in deltas.sorted(by: { $0.depth < $1.depth }) {
            if let depth = chunks.depth(of: delta.base), depth < delta.depth { continue }
            do throws(StorageError) {
                guard chunks.depth(of: delta.base) != nil else {
                    throw StorageError.missing(delta.base, in: store.layout.directory)
                }
                _ = try depth(of: delta.place, store, stepsLeft: ArchiveStore.chainLimit)
            } catch {
                guard error.isAboutBytes else { throw error }
                // A chunk of this block may still be readable from another copy.
                let ids = try store.blockHeader(at: delta.place).chunks.map(\.id)
                let lost = try store.unreadable(of: ids)
                for id in lost { chunks.remove(id) }
                if !lost.isEmpty { report.find(error.message, remedy: error.remedy) }
            }
        }
    }

    private mutating func depth(
        of place: BlockLocation, _ store: ArchiveStore, stepsLeft: Int
    ) throws(StorageError) -> Int {
        if let known = depths[place] {
            guard known <= stepsLeft else { throw try store.tooDeep(place) }
            return known
        }
        guard stepsLeft >= 0 else { throw try store.tooDeep(place) }
        var depth = 0
        for base in try store.blockHeader(at: place).bases {
            guard let (_, below) = try store.catalogue.chunk(beginning: base) else {
                throw StorageError.missing(base, in: store.layout.directory)
            }
            depth = max(depth, 1 + (try self.depth(of: below, store, stepsLeft: stepsLeft - 1)))
        }
        depths[place] = depth
        return depth
    }
}
