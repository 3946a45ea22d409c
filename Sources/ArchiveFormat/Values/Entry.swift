// One file-system object in a snapshot: its value, its encoded fields, and the rules that a decoded entry must follow.

public import FileIO

/// One file-system object in a snapshot: its path, kind, metadata and content.
public struct Entry: Hashable, Sendable {
    /// The object's path relative to the root; the root's own entry has the empty path.
    public var path: RelativePath
    public var kind: FileKind
    /// Permission bits with setuid, setgid and sticky: 12 bits.
    public var permissions: UInt16
    /// Numeric owner; names are in the snapshot's tables.
    public var owner: UInt32
    /// Numeric group; names are in the snapshot's tables.
    public var group: UInt32
    public var modified: Timestamp
    /// The object's content; only files and symbolic links have any.
    public var content: Content
    /// The number of a character or block device, in glibc's `dev_t` encoding; 0 for other kinds.
    public var device: UInt64
    /// A number that all names of a hard-linked file share; nil for a file with one name.
    public var linkGroup: UInt64?
    /// Extended attributes, POSIX ACLs among them, sorted by name.
    public var attributes: [ExtendedAttribute]
    /// The inode as it was when the object was read; not part of the object's state.
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

    /// Whether both entries describe the same state; signatures are ignored.
    public func hasSameState(as other: Entry) -> Bool {
        var left = self
        left.signature = other.signature
        return left == other
    }
}

/// What a file or a symbolic link holds.
public enum Content: Hashable, Sendable {
    /// No content: an empty file, or an object that is neither file nor symbolic link.
    case none
    /// A small file's bytes, 1 to `Content.inlineLimit` of them.
    case inline([UInt8])
    /// A file as a sequence of chunks and holes, in order.
    case slices([Slice])
    /// A large file, whose slices are in separate chunks, each an encoded `SliceList`.
    case sliceLists([ListedSlices])
    /// The target of a symbolic link, as bytes.
    case linkTarget([UInt8])

    /// The most bytes stored in the entry itself.
    public static let inlineLimit = 96
    /// The most slices stored in the entry itself.
    public static let slicesLimit = 16
    /// The most slices in one list.
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
    /// Bytes that the slice covers, at least 1.
    public var length: UInt64
    /// The chunk that holds them; nil for a hole.
    public var chunk: ChunkID?

    public init(length: UInt64, chunk: ChunkID?) {
        self.length = length
        self.chunk = chunk
    }
}

/// A reference to a chunk that lists a run of a large file's slices.
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

/// A cheap test for whether a file may have changed since it was read.
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
    /// The fields of a signature on its own; in an entry they are among the entry's fields.
    private enum CodingKeys: Int, CodingKey {
        case inode = 0
        case changed = 1
    }
}

// MARK: - Fields and rules

extension Entry {
    /// The fields of an entry.
    ///
    /// Numbers are part of the archive format.
    enum Field: Int, FieldKey {
        /// The path without the bytes that it shares with the entry before.
        case path = 0
        case sharedPrefix = 1
        case kind = 2
        case permissions = 3
        case owner = 4
        case group = 5
        case modified = 6
        case inline = 7
        case slices = 8
        case sliceLists = 9
        case target = 11
        case device = 12
        case linkGroup = 13
        case attributes = 14
        /// The signature's inode.
        case inode = 15
        /// The signature's change time, unless it equals the modification time.
        case changed = 16
        case isUnstable = 17
    }

    /// The values that an entry is encoded against; a field that equals the one of the entry before is left out.
    struct Context {
        let path: RelativePath?
        let permissions: UInt16
        let owner: UInt32
        let group: UInt32

        /// The context of a node's first entry, and of an entry outside a node.
        static let none = Context(path: nil, permissions: 0, owner: 0, group: 0)

        /// The context of the entry that follows `entry`.
        init(after entry: Entry) {
            self.init(path: entry.path, permissions: entry.permissions, owner: entry.owner, group: entry.group)
        }

        private init(path: RelativePath?, permissions: UInt16, owner: UInt32, group: UInt32) {
            self.path = path
            self.permissions = permissions
            self.owner = owner
            self.group = group
        }
    }

    /// Assembles the signature, which has two fields.
    mutating func complete(inode: UInt64?, changed: Timestamp?) throws(FormatError) {
        if let inode {
            guard changed != modified else { throw .malformed("a default value that is written out") }
            signature = Signature(inode: inode, changed: changed ?? modified)
        } else {
            guard changed == nil else { throw .malformed("a change time without an inode") }
        }
    }

    /// Checks everything in the entry except its path, which was checked when it was assembled.
    func validate() throws(FormatError) {
        guard permissions <= 0o7777 else { throw .malformed("permissions of more than 12 bits") }
        guard modified.nanoseconds < 1_000_000_000, signature.map({ $0.changed.nanoseconds < 1_000_000_000 }) ?? true
        else { throw .malformed("nanoseconds of a second or more") }
        guard device == 0 || kind == .characterDevice || kind == .blockDevice else {
            throw .malformed("a device number in an entry of another kind")
        }
        try content.validate(in: kind)
        if attributes.isEmpty { return }
        guard attributes.count <= FormatLimits.attributes else { throw .malformed("too many extended attributes") }
        for (index, attribute) in attributes.enumerated() {
            guard !attribute.name.isEmpty, !attribute.name.contains(0) else {
                throw .malformed("the name of an extended attribute")
            }
            guard index == 0 || attributes[index - 1].name.lexicographicallyPrecedes(attribute.name) else {
                throw .malformed("extended attributes out of order or repeated")
            }
        }
    }
}

extension Content {
    /// The most bytes a file can have (`off_t`).
    private static let sizeLimit = UInt64(Int64.max)

    /// Checks that this is valid content for an object of `kind`.
    func validate(in kind: FileKind) throws(FormatError) {
        switch self {
        case .none:
            return
        case .linkTarget(let target):
            guard kind == .symbolicLink else { throw .malformed("a link target in an entry of another kind") }
            guard !target.isEmpty, !target.contains(0) else { throw .malformed("the target of a symbolic link") }
            return
        case .inline(let bytes):
            guard (1...Content.inlineLimit).contains(bytes.count) else {
                throw .malformed("the length of small content")
            }
        case .slices(let slices):
            guard slices.count <= Content.slicesLimit else { throw .malformed("too many slices in an entry") }
            try Content.validate(slices)
        case .sliceLists(let lists):
            guard !lists.isEmpty else { throw .malformed("an empty array of slice lists") }
            try Content.validate(lengths: lists.lazy.map(\.length))
        }
        guard kind == .file else { throw .malformed("file content in an entry of another kind") }
    }

    /// Checks a sequence of slices: there is at least one, none is empty, and a file can have their total size.
    static func validate(_ slices: [Slice]) throws(FormatError) {
        guard !slices.isEmpty else { throw .malformed("no slices") }
        guard slices.count <= listedSlicesLimit else { throw .malformed("too many slices in a list") }
        try validate(lengths: slices.lazy.map(\.length))
    }

    private static func validate(lengths: some Sequence<UInt64>) throws(FormatError) {
        var total: UInt64 = 0
        for length in lengths {
            guard length > 0 else { throw .malformed("an empty slice") }
            guard length <= Content.sizeLimit - total else { throw .malformed("the size of a file") }
            total += length
        }
    }
}
