// One file-system object in a snapshot: its value, its encoded fields, and the rules that a decoded entry must follow.

public import FileIO

/// One file-system object in a snapshot: its path, kind, metadata and content.
public struct Entry: Hashable, Sendable {
    /// The object's path relative to the root; the root's own entry has the empty path.
    public var path: RelativePath
    /// The kind of object.
    public var kind: FileKind
    /// Permission bits with setuid, setgid and sticky: 12 bits.
    public var permissions: UInt16
    /// Numeric owner; names are in the snapshot's tables.
    public var owner: UInt32
    /// Numeric group; names are in the snapshot's tables.
    public var group: UInt32
    /// When the content was modified.
    public var modified: Timestamp
    /// The object's content; only files and symbolic links have any.
    public var content: Content
    /// The number of a character or block device, in glibc's `dev_t` encoding; 0 for other kinds.
    public var device: UInt64
    /// A number that all names of a hard-linked file share; nil for a file with one name.
    public var linkGroup: UInt64?
    /// Extended attributes, POSIX ACLs among them, sorted by name.
    public var attributes: [EntryAttribute]
    /// The inode as it was when the object was read; not part of the object's state.
    public var signature: Signature?
    /// Whether the file kept changing while it was read, so that its content may mix several states.
    public var isUnstable: Bool
    /// Fields of later programs that this one may ignore, encoded; not part of the object's state.
    package var later: [UInt8] = []

    /// An entry of a snapshot.
    package init(
        path: RelativePath, kind: FileKind, permissions: UInt16, owner: UInt32 = 0, group: UInt32 = 0,
        modified: Timestamp, content: Content = .none, device: UInt64 = 0, linkGroup: UInt64? = nil,
        attributes: [EntryAttribute] = [], signature: Signature? = nil, isUnstable: Bool = false
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

    /// Calls `body` with everything in the entry that may be in chunks: its content, and the values of its attributes.
    package func forEachContent<Failure: Error>(_ body: (Content) throws(Failure) -> Void) throws(Failure) {
        try body(content)
        for attribute in attributes { try body(attribute.value) }
    }

    /// Whether both entries describe the same state; signatures and fields of later programs are ignored.
    public func hasSameState(as other: Entry) -> Bool {
        var left = self
        left.signature = other.signature
        left.later = other.later
        return left == other
    }
}

/// A cheap test for whether a file may have changed since it was read.
public struct Signature: Hashable, Sendable {
    /// The inode's number.
    public var inode: UInt64
    /// The inode's change time, which programs cannot set.
    public var changed: Timestamp

    /// The signature of a file.
    package init(inode: UInt64, changed: Timestamp) {
        self.inode = inode
        self.changed = changed
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

    /// Fields with keys from here on may be ignored by a program that does not know them.
    static let firstLaterKey: UInt64 = 64
    /// The most such fields of an entry.
    static let laterFieldsLimit = 8

    /// The chunks that fields of later programs refer to.
    package var laterReferences: [ChunkID] {
        if later.isEmpty { return [] }
        return later.withUnsafeBytes { bytes in
            var reader = CBORReader(bytes)
            var ids: [ChunkID] = []
            while reader.position < bytes.count {
                guard (try? reader.unsigned()) != nil, (try? reader.collectReferences(depth: 3, into: &ids)) != nil
                else { break }
            }
            return ids
        }
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
            try attribute.validate()
            guard index == 0 || attributes[index - 1].name.lexicographicallyPrecedes(attribute.name) else {
                throw .malformed("extended attributes out of order or repeated")
            }
        }
    }
}
