// The chunks that a root's latest tree refers to and the archive has lost.

package import ArchiveFormat
package import ArchiveStorage

/// The chunks that an archive has lost, for a capture that stores them again if the root still has them.
package struct Losses: Sendable {
    private let store: ArchiveStore

    package init(_ store: ArchiveStore) { self.store = store }

    /// Whether the chunk `id` is missing or known to be lost.
    package func contains(_ id: ChunkID) -> Bool {
        // If the catalogue cannot be asked, count the chunk as lost: storing it meets the same error.
        (try? store.catalogue.canRead(id)) != true
    }

    /// Whether any part of the entry's content or attributes is lost.
    package func affect(_ entry: Entry) -> Bool {
        affect(entry.content) || entry.attributes.contains { affect($0.value) }
    }

    /// Whether any part of `content` is lost.
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
