// The bytes of purged entries: if other files have them too, they stay in the archive, and the purge must say so.

internal import ArchiveFormat
internal import ArchiveStorage
internal import SnapshotTree

/// The contents and attributes of purged entries.
struct PurgedContents {
    private(set) var chunks: Set<ChunkID> = []
    /// Contents that are stored in the entries themselves.
    private var inline: Set<[UInt8]> = []

    /// Shorter contents are equal by chance.
    private static let leastBytes = 8

    mutating func add(_ content: Content, in store: ArchiveStore) throws {
        switch content {
        case .none, .linkTarget: return
        case .inline(let bytes): if bytes.count >= PurgedContents.leastBytes { inline.insert(bytes) }
        case .slices(let slices): chunks.formUnion(slices.compactMap(\.chunk))
        case .sliceLists(let lists):
            for list in lists where chunks.insert(list.list).inserted {
                chunks.formUnion(try ContentReader.slices(in: list, of: store).compactMap(\.chunk))
            }
        }
    }

    /// Whether `content` has any of these bytes.
    func share(_ content: Content, in store: ArchiveStore) throws -> Bool {
        switch content {
        case .none, .linkTarget: return false
        case .inline(let bytes): return inline.contains(bytes)
        case .slices(let slices): return slices.contains { $0.chunk.map(chunks.contains) ?? false }
        case .sliceLists(let lists):
            for list in lists {
                if chunks.contains(list.list) { return true }
                let slices = try ContentReader.slices(in: list, of: store)
                if slices.contains(where: { $0.chunk.map(chunks.contains) ?? false }) { return true }
            }
            return false
        }
    }
}
