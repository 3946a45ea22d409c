// Parts of snapshots and entries that records and the messages of a watcher hold too, as Codable values.

public import Exclusions
internal import FileIO

extension Content: Codable {
    /// Decodes content from the same fields as in an entry.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Entry.Field.self)
        try self.init(from: fields)
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Entry.Field.self)
        try encode(to: &fields)
    }

    /// Decodes the content's own fields.
    init(from fields: KeyedDecodingContainer<Entry.Field>) throws {
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

    func encode(to fields: inout KeyedEncodingContainer<Entry.Field>) throws {
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

extension Problem: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            path: try fields.decodeIfPresent(RelativePath.self, forKey: .path) ?? .root,
            reason: try fields.decodeIfPresent(Reason.self, forKey: .reason) ?? .unreadable,
            detail: try fields.decodeIfPresent(String.self, forKey: .detail) ?? "")
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        if !path.isRoot { try fields.encode(path, forKey: .path) }
        if reason != .unreadable { try fields.encode(reason, forKey: .reason) }
        if !detail.isEmpty { try fields.encode(detail, forKey: .detail) }
    }
}

extension Problem.Reason: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(orUnreadable: try decoder.singleValueContainer().decode(UInt8.self))
    }
}

extension ExclusionRules: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        self.init()
        if let patterns = try fields.decodeIfPresent([ByteString].self, forKey: .patterns) {
            self.patterns = patterns.map(\.bytes)
        }
        if let names = try fields.decodeIfPresent([ByteString].self, forKey: .ignoreFileNames) {
            ignoreFileNames = names.map(\.bytes)
        }
        largerThan = try fields.decodeIfPresent(UInt64.self, forKey: .largerThan)
        excludesCaches = try fields.decodeIfPresent(Bool.self, forKey: .excludesCaches) ?? false
        crossesMounts = try fields.decodeIfPresent(Bool.self, forKey: .crossesMounts) ?? false
    }

    public func encode(to encoder: any Encoder) throws {
        let plain = ExclusionRules()
        var fields = encoder.container(keyedBy: Field.self)
        if patterns != plain.patterns { try fields.encode(patterns.map(ByteString.init), forKey: .patterns) }
        if ignoreFileNames != plain.ignoreFileNames {
            try fields.encode(ignoreFileNames.map(ByteString.init), forKey: .ignoreFileNames)
        }
        try fields.encodeIfPresent(largerThan, forKey: .largerThan)
        if excludesCaches { try fields.encode(true, forKey: .excludesCaches) }
        if crossesMounts { try fields.encode(true, forKey: .crossesMounts) }
    }
}
