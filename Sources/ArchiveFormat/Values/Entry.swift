// One file-system object in a snapshot.

public import FileIO

/// One file-system object in a snapshot: its path, kind, metadata and content.
public struct Entry: Hashable, Sendable {
    /// Where the object is, relative to the root; the root's own entry has the empty path.
    public var path: RelativePath
    public var kind: FileKind
    /// Permission bits with setuid, setgid and sticky: 12 bits.
    public var permissions: UInt16
    /// Numeric owner; names are in the snapshot's tables.
    public var owner: UInt32
    /// Numeric group; names are in the snapshot's tables.
    public var group: UInt32
    public var modified: Timestamp
    /// What the object holds: only files and symbolic links hold something.
    public var content: Content
    /// The device a character or block device stands for, in glibc's `dev_t` encoding; 0 for others.
    public var device: UInt64
    /// A number equal in all names of one file with several hard links; nil where there is one name.
    public var linkGroup: UInt64?
    /// Extended attributes, POSIX ACLs among them, sorted by name.
    public var attributes: [ExtendedAttribute]
    /// How the inode looked when this was read; not part of the object's state.
    public var signature: Signature?
    /// Whether the file kept changing while it was read, so that its content may mix several states.
    public var isUnstable: Bool

    public init(
        path: RelativePath, kind: FileKind, permissions: UInt16, owner: UInt32 = 0, group: UInt32 = 0,
        modified: Timestamp, content: Content = .none, device: UInt64 = 0, linkGroup: UInt64? = nil,
        attributes: [ExtendedAttribute] = [], signature: Signature? = nil, isUnstable: Bool = false
    ) {
        self.path = path
        self.kind = kind
        self.permissions = permissions
        self.owner = owner
        self.group = group
        self.modified = modified
        self.content = content
        self.device = device
        self.linkGroup = linkGroup
        self.attributes = attributes
        self.signature = signature
        self.isUnstable = isUnstable
    }

    /// The length of a file's content in bytes; 0 for other kinds.
    public var size: UInt64 { kind == .file ? content.size : 0 }

    /// Whether both entries describe the same state; the signature is not part of it.
    public func hasSameState(as other: Entry) -> Bool {
        var left = self
        left.signature = other.signature
        return left == other
    }
}

/// What a file or a symbolic link holds.
public enum Content: Hashable, Sendable {
    /// Nothing: an empty file, or an object that is neither file nor symbolic link.
    case none
    /// A small file's bytes, at most `Content.inlineLimit` of them and at least one.
    case inline([UInt8])
    /// A file as a sequence of chunks and holes, in order.
    case slices([Slice])
    /// A large file: the slices are in chunks of their own, each an encoded `SliceList`.
    case sliceLists([ListedSlices])
    /// Where a symbolic link points, as bytes.
    case linkTarget([UInt8])

    /// The most bytes kept in the entry itself.
    public static let inlineLimit = 96
    /// The most slices kept in the entry itself.
    public static let slicesLimit = 16
    /// The most slices kept in one list.
    package static let listedSlicesLimit = 4096

    /// The content's length in bytes as a file; 0 for a link.
    public var size: UInt64 {
        switch self {
        case .none, .linkTarget: 0
        case .inline(let bytes): UInt64(bytes.count)
        case .slices(let slices): slices.reduce(0) { FormatLimits.sum($0, $1.length, FormatLimits.bytes) }
        case .sliceLists(let lists): lists.reduce(0) { FormatLimits.sum($0, $1.length, FormatLimits.bytes) }
        }
    }
}

/// A run of a file's bytes: a chunk, or a hole that reads as zeros.
public struct Slice: Hashable, Sendable {
    /// Bytes this slice covers, at least 1.
    public var length: UInt64
    /// The chunk that holds them; nil for a hole.
    public var chunk: ChunkID?

    public init(length: UInt64, chunk: ChunkID?) {
        self.length = length
        self.chunk = chunk
    }
}

/// Where a run of a large file's slices is: in a chunk of its own.
public struct ListedSlices: Hashable, Sendable {
    /// Bytes of the file that the list's slices cover, at least 1.
    public var length: UInt64
    /// The chunk that holds the list, an encoded `SliceList`.
    public var list: ChunkID

    public init(length: UInt64, list: ChunkID) {
        self.length = length
        self.list = list
    }
}

/// A part of a large file's sequence of slices, stored as a chunk.
public struct SliceList: Hashable, Sendable {
    public var slices: [Slice]

    public init(slices: [Slice]) { self.slices = slices }

    /// The sum of the slices' lengths.
    public var length: UInt64 { Content.slices(slices).size }
}

/// What tells cheaply whether a file may have changed since it was read.
public struct Signature: Hashable, Sendable {
    public var inode: UInt64
    /// The inode's change time, which programs cannot set.
    public var changed: Timestamp

    public init(inode: UInt64, changed: Timestamp) {
        self.inode = inode
        self.changed = changed
    }
}

extension Signature: Codable {
    /// The fields of a signature that stands alone; an entry has them among its own.
    private enum CodingKeys: Int, CodingKey {
        case inode = 0
        case changed = 1
    }
}
