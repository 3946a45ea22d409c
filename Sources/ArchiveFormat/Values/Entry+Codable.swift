// Entries and their parts as Codable values, for tools; `Entry+CBOR.swift` is the fast way to the same bytes.

public import FileIO

extension Entry: Codable {
    public init(from decoder: any Decoder) throws { try self.init(from: decoder, after: .none) }

    public func encode(to encoder: any Encoder) throws { try encode(to: encoder, after: .none) }

    /// Decodes an entry that was written against the one before it.
    init(from decoder: any Decoder, after context: Context) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        let suffix = try fields.decodeIfPresent(ByteString.self, forKey: .path)?.bytes ?? []
        let shared = try fields.decodeIfPresent(UInt64.self, forKey: .sharedPrefix) ?? 0
        let path = try decoder.checking { () throws(FormatError) in
            try suffix.decode { bytes throws(FormatError) in
                try RelativePath(sharing: shared, of: context.path, suffix: bytes)
            }
        }
        self.init(
            path: path,
            kind: try fields.decodeIfPresent(FileKind.self, forKey: .kind) ?? .file,
            permissions: try fields.decodeIfPresent(UInt16.self, forKey: .permissions) ?? context.permissions,
            owner: try fields.decodeIfPresent(UInt32.self, forKey: .owner) ?? context.owner,
            group: try fields.decodeIfPresent(UInt32.self, forKey: .group) ?? context.group,
            modified: try fields.decodeIfPresent(Timestamp.self, forKey: .modified) ?? Timestamp(seconds: 0),
            content: try Content(from: fields),
            device: try fields.decodeIfPresent(UInt64.self, forKey: .device) ?? 0,
            linkGroup: try fields.decodeIfPresent(UInt64.self, forKey: .linkGroup),
            attributes: try fields.decodeIfPresent([ExtendedAttribute].self, forKey: .attributes) ?? [],
            isUnstable: try fields.decodeIfPresent(Bool.self, forKey: .isUnstable) ?? false)
        let inode = try fields.decodeIfPresent(UInt64.self, forKey: .inode)
        let changed = try fields.decodeIfPresent(Timestamp.self, forKey: .changed)
        var entry = self
        try decoder.checking { () throws(FormatError) in
            try entry.complete(inode: inode, changed: changed)
            try entry.validate()
        }
        self = entry
    }

    /// Encodes the entry written against the one before it.
    func encode(to encoder: any Encoder, after context: Context) throws {
        var fields = encoder.container(keyedBy: Field.self)
        let shared = path.sharedPrefix(with: context.path)
        if shared < path.bytes.count {
            try fields.encode(ByteString(Array(path.bytes[shared...])), forKey: .path)
        }
        if shared > 0 { try fields.encode(shared, forKey: .sharedPrefix) }
        if kind != .file { try fields.encode(kind, forKey: .kind) }
        if permissions != context.permissions { try fields.encode(permissions, forKey: .permissions) }
        if owner != context.owner { try fields.encode(owner, forKey: .owner) }
        if group != context.group { try fields.encode(group, forKey: .group) }
        if modified != Timestamp(seconds: 0) { try fields.encode(modified, forKey: .modified) }
        try content.encode(to: &fields)
        if device != 0 { try fields.encode(device, forKey: .device) }
        try fields.encodeIfPresent(linkGroup, forKey: .linkGroup)
        if !attributes.isEmpty { try fields.encode(attributes, forKey: .attributes) }
        try fields.encodeIfPresent(signature?.inode, forKey: .inode)
        if let signature, signature.changed != modified { try fields.encode(signature.changed, forKey: .changed) }
        if isUnstable { try fields.encode(true, forKey: .isUnstable) }
    }
}

extension Content: Codable {
    /// Decodes content with the fields it has in an entry.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Entry.Field.self)
        try self.init(from: fields)
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Entry.Field.self)
        try encode(to: &fields)
    }

    /// Decodes the content's own fields.
    fileprivate init(from fields: KeyedDecodingContainer<Entry.Field>) throws {
        let present = [Entry.Field.inline, .slices, .sliceLists, .target].filter(fields.contains)
        guard present.count <= 1 else {
            throw DecodingError.dataCorruptedError(
                forKey: present[1], in: fields, debugDescription: "two contents of one entry")
        }
        switch present.first {
        case .inline: self = .inline(try fields.decode(ByteString.self, forKey: .inline).bytes)
        case .slices: self = .slices(try fields.decode([Slice].self, forKey: .slices))
        case .sliceLists: self = .sliceLists(try fields.decode([ListedSlices].self, forKey: .sliceLists))
        case .target: self = .linkTarget(try fields.decode(ByteString.self, forKey: .target).bytes)
        default: self = .none
        }
    }

    fileprivate func encode(to fields: inout KeyedEncodingContainer<Entry.Field>) throws {
        switch self {
        case .none: break
        case .inline(let bytes): try fields.encode(ByteString(bytes), forKey: .inline)
        case .slices(let slices): try fields.encode(slices, forKey: .slices)
        case .sliceLists(let lists): try fields.encode(lists, forKey: .sliceLists)
        case .linkTarget(let target): try fields.encode(ByteString(target), forKey: .target)
        }
    }
}

extension Slice: Codable {
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        length = try container.decode(UInt64.self)
        chunk = container.isAtEnd ? nil : try container.decode(ChunkID.self)
        guard container.isAtEnd else { throw decoder.corrupted("a slice of more than two parts") }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(length)
        if let chunk { try container.encode(chunk) }
    }
}

extension ListedSlices: Codable {
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        length = try container.decode(UInt64.self)
        list = try container.decode(ChunkID.self)
        guard container.isAtEnd else { throw decoder.corrupted("a slice list of more than two parts") }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(length)
        try container.encode(list)
    }
}

extension SliceList: Codable {
    public init(from decoder: any Decoder) throws {
        let slices = try [Slice](from: decoder)
        try decoder.checking { () throws(FormatError) in try Content.validate(slices) }
        self.slices = slices
    }

    public func encode(to encoder: any Encoder) throws { try slices.encode(to: encoder) }
}

extension ExtendedAttribute: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        self.init(
            name: try fields.decode(ByteString.self, forKey: .name).bytes,
            value: try fields.decodeIfPresent(ByteString.self, forKey: .value)?.bytes ?? [])
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(ByteString(name), forKey: .name)
        if !value.isEmpty { try fields.encode(ByteString(value), forKey: .value) }
    }
}

extension FileKind: Codable {}
