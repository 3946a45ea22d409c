// The rule that cuts a tree into nodes. The shape depends only on the content, so equal content has equal nodes.

package import FileIO

/// The rule that cuts a sequence of entries, or of nodes, into nodes.
package struct TreeShape: Sendable {
    /// Makes cuts differ between archives, so that the ends of nodes reveal nothing about the paths.
    private let seed: UInt64

    package init(seed: UInt64) { self.seed = seed }

    /// The shape of trees in an archive without a seed.
    package static let standard = TreeShape(seed: 0)

    /// The most entries or children of one node.
    package static let maximumEntries = 512
    /// The weight at which a node ends, so that no node is too long for a block.
    package static let fullWeight = 1 << 20
    /// The greatest weight of a stored entry.
    package static let maximumEntryWeight = 8 << 20

    /// Whether a node ends after the entry with this path, or after the child with this first path.
    ///
    /// The hash is FNV-1a (64 bits, draft-eastlake-fnv) over the level and the path's bytes, finished by MurmurHash3's
    /// `fmix64` because FNV-1a alone mixes its low bits badly. One in 64 hashes cuts.
    ///
    /// - Parameter level: the level of the node that may end here, 0 for a leaf.
    package func cutsAfter(path: RelativePath, level: Int) -> Bool {
        var hash = 0xcbf2_9ce4_8422_2325 ^ seed
        hash = (hash ^ UInt64(truncatingIfNeeded: level & 0xff)) &* TreeShape.fnvPrime
        for byte in path.bytes { hash = (hash ^ UInt64(byte)) &* TreeShape.fnvPrime }
        hash ^= hash >> 33
        hash = hash &* 0xff51_afd7_ed55_8ccd
        hash ^= hash >> 33
        hash = hash &* 0xc4ce_b9fe_1a85_ec53
        hash ^= hash >> 33
        return hash & 63 == 0
    }

    private static let fnvPrime: UInt64 = 0x0000_0100_0000_01b3
}

extension Entry {
    /// The bytes of all fields without a small limit: path, link target, slice lists, attributes.
    package var weight: Int {
        var weight = path.bytes.count
        switch content {
        case .linkTarget(let target): weight += target.count
        case .sliceLists(let lists): weight += (ChunkID.byteCount + 8) * lists.count
        case .none, .inline, .slices: break
        }
        for attribute in attributes { weight += attribute.weight }
        weight += later.count
        return weight
    }
}

extension Node.Child {
    /// The bytes of the path.
    package var weight: Int { firstPath.bytes.count }
}
