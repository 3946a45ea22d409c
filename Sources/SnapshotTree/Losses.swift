// What a root's latest tree refers to and the archive cannot give any more.

package import ArchiveFormat
package import ArchiveStorage

/// The chunks that an archive misses, for a capture that stores them anew where the root still has them.
package struct Losses: Sendable {
    private let store: ArchiveStore

    package init(_ store: ArchiveStore) { self.store = store }

    /// Whether the chunk `id` is missing or known to be lost.
    package func contains(_ id: ChunkID) -> Bool {
        // What cannot be asked for is looked at: whoever stores it meets the same error.
        (try? store.catalogue.gives(id)) != true
    }

    /// Whether some of `content` is lost.
    package func affect(_ content: Content) -> Bool {
        switch content {
        case .none, .inline, .linkTarget: return false
        case .slices(let slices): return affect(slices)
        case .sliceLists(let lists):
            return lists.contains { list in
                if contains(list.list) { return true }
                guard let slices = try? ContentReader.slices(in: list, of: store) else { return true }
                return affect(slices)
            }
        }
    }

    private func affect(_ slices: [Slice]) -> Bool {
        slices.contains { $0.chunk.map(contains) ?? false }
    }
}
