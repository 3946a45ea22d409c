// What a chunk holds and how a block's payload is packed.

/// What a chunk holds.
///
/// Raw values are part of the archive format.
package enum ChunkKind: UInt8, Sendable, Hashable, CaseIterable {
    /// A run of a file's bytes.
    case content = 0
    /// An encoded `Node`.
    case node = 1
    /// An encoded `Snapshot`.
    case snapshot = 2
    /// An encoded `SliceList`.
    case sliceList = 3
}

/// How a block's payload is packed.
///
/// Raw values are part of the archive format.
package enum Codec: UInt8, Sendable, Hashable, CaseIterable {
    /// The raw bytes as they are.
    case stored = 0
    /// One raw DEFLATE stream (RFC 1951).
    case deflate = 1
}
