// Where a tree is cut into nodes. The shape depends on the paths alone, so equal content gives equal nodes.

package import FileIO

/// The rule that cuts a sequence of entries, or of nodes, into nodes.
package enum TreeShape {
    /// The most entries, or children, of one node.
    package static let maximumEntries = 512

    /// Whether a node ends after the entry, or the child whose first path this is.
    ///
    /// FNV-1a (64 bits, draft-eastlake-fnv) over the level and the path's bytes, finished by MurmurHash3's `fmix64`
    /// because the low bits of FNV-1a alone are badly mixed; one in 64 hashes cuts.
    ///
    /// - Parameter level: the level of the node that may end here, 0 for a leaf.
    package static func cutsAfter(path: RelativePath, level: Int) -> Bool {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        hash = (hash ^ UInt64(truncatingIfNeeded: level & 0xff)) &* fnvPrime
        for byte in path.bytes { hash = (hash ^ UInt64(byte)) &* fnvPrime }
        hash ^= hash >> 33
        hash = hash &* 0xff51_afd7_ed55_8ccd
        hash ^= hash >> 33
        hash = hash &* 0xc4ce_b9fe_1a85_ec53
        hash ^= hash >> 33
        return hash & 63 == 0
    }

    private static let fnvPrime: UInt64 = 0x0000_0100_0000_01b3
}
