// The fields of an encoded entry, their numbers, and the rules that a decoded entry has to keep.

internal import FileIO

extension Entry {
    /// The fields of an entry.
    ///
    /// Numbers are part of the archive format.
    enum Field: Int, FieldKey {
        /// The path without what it shares with the entry before it.
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
        /// The signature's time, where it is not the modification time.
        case changed = 16
        case isUnstable = 17
    }

    /// What an entry is written against: fields that equal those of the entry before it in the node are left out.
    struct Context {
        let path: RelativePath?
        let permissions: UInt16
        let owner: UInt32
        let group: UInt32

        /// The context of a node's first entry, and of an entry that stands alone.
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

    /// Puts together what has several fields: the signature.
    mutating func complete(inode: UInt64?, changed: Timestamp?) throws(FormatError) {
        if let inode {
            guard changed != modified else { throw .malformed("a default value that is written out") }
            signature = Signature(inode: inode, changed: changed ?? modified)
        } else {
            guard changed == nil else { throw .malformed("a change time without an inode") }
        }
    }

    /// Checks everything in the entry but its path, which was checked when it was put together.
    func validate() throws(FormatError) {
        guard permissions <= 0o7777 else { throw .malformed("permissions of more than 12 bits") }
        guard modified.nanoseconds < 1_000_000_000, signature.map({ $0.changed.nanoseconds < 1_000_000_000 }) ?? true
        else { throw .malformed("nanoseconds of a second or more") }
        guard device == 0 || kind == .characterDevice || kind == .blockDevice else {
            throw .malformed("a device number of what is no device")
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

    /// Checks the content of an object of `kind`.
    func validate(in kind: FileKind) throws(FormatError) {
        switch self {
        case .none:
            return
        case .linkTarget(let target):
            guard kind == .symbolicLink else { throw .malformed("a link target of what is no symbolic link") }
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
            guard !lists.isEmpty else { throw .malformed("a file of no slice lists") }
            try Content.validate(lengths: lists.lazy.map(\.length))
        }
        guard kind == .file else { throw .malformed("content of what is no file") }
    }

    /// Checks a sequence of slices: at least one, none empty, the sum a size that a file can have.
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
