// The content of a file or the target of a symbolic link, in an entry or in the record of a saved state.

internal import FileIO

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
    package static let inlineLimit = 96
    /// The most slices stored in the entry itself.
    package static let slicesLimit = 16
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

// MARK: - Rules

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

// MARK: - CBOR

extension Content {
    /// Appends the fields of the content.
    ///
    /// - Returns: the number of fields.
    func write(to writer: inout CBORWriter) -> Int {
        switch self {
        case .none:
            return 0
        case .inline(let bytes):
            writer.key(Entry.Field.inline)
            writer.byteString(bytes)
            return 1
        case .slices(let slices):
            writer.key(Entry.Field.slices)
            Slice.write(slices, to: &writer)
            return 1
        case .sliceLists(let lists):
            writer.key(Entry.Field.sliceLists)
            writer.array(count: lists.count)
            for list in lists { list.write(to: &writer) }
            return 1
        case .linkTarget(let target):
            writer.key(Entry.Field.target)
            writer.byteString(target)
            return 1
        }
    }

    /// Reads the value of `field`.
    init(from reader: inout CBORReader, field: Entry.Field) throws(FormatError) {
        switch field {
        case .inline: self = .inline(Array(try reader.byteString()))
        case .slices: self = .slices(try Slice.read(from: &reader))
        case .target: self = .linkTarget(Array(try reader.byteString()))
        default:
            var lists = [ListedSlices]()
            for _ in 0..<(try reader.array()) { lists.append(try ListedSlices(from: &reader)) }
            self = .sliceLists(lists)
        }
    }
}

// MARK: - Codable, for the records of saved states

extension Content: Codable {
    /// Decodes content from the same fields as in an entry.
    ///
    /// - Throws: `DecodingError` if the fields are not those of content.
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
