// A node of a snapshot's tree: a leaf of entries, or an inner node of children.

public import FileIO

/// A node of the tree, stored as a chunk.
public enum Node: Hashable, Sendable {
    /// Entries in walk order; only the empty tree has none.
    case leaf([Entry])
    /// Children in walk order of their first paths, at least one; `level` is 1 directly above the leaves.
    case inner(level: Int, children: [Child])

    /// A child of an inner node.
    public struct Child: Hashable, Sendable {
        /// The path of the first entry below the child.
        public var firstPath: RelativePath
        public var id: ChunkID
        /// Entries below the child.
        public var entries: UInt64
        /// Sum of the sizes of the files below the child, in bytes.
        public var bytes: UInt64

        public init(firstPath: RelativePath, id: ChunkID, entries: UInt64, bytes: UInt64) {
            self.firstPath = firstPath
            self.id = id
            self.entries = entries
            self.bytes = bytes
        }
    }

    /// 0 for a leaf; the distance to the leaves for an inner node.
    public var level: Int {
        switch self {
        case .leaf: 0
        case .inner(let level, _): level
        }
    }

    /// Entries below this node.
    public var entryCount: UInt64 {
        switch self {
        case .leaf(let entries): UInt64(entries.count)
        case .inner(_, let children): children.reduce(0) { FormatLimits.sum($0, $1.entries, FormatLimits.entries) }
        }
    }

    /// Sum of the sizes of the files below this node in bytes, capped at 2^63 - 1 as the format requires.
    public var byteCount: UInt64 {
        switch self {
        case .leaf(let entries): entries.reduce(0) { FormatLimits.sum($0, $1.size, FormatLimits.bytes) }
        case .inner(_, let children): children.reduce(0) { FormatLimits.sum($0, $1.bytes, FormatLimits.bytes) }
        }
    }

    /// The path of the first entry below this node; nil for the empty tree.
    public var firstPath: RelativePath? {
        switch self {
        case .leaf(let entries): entries.first?.path
        case .inner(_, let children): children.first?.firstPath
        }
    }
}
