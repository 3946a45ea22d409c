// Records of states to CBOR and back: by hand, the fast way, and as Codable values, for tools; both give the same bytes.

internal import FileIO

extension StateRecord {
    /// The fields of a record.
    ///
    /// Numbers are part of the archive format.
    enum Field: Int, FieldKey {
        case title = 0
        case host = 1
        case time = 2
        case label = 3
        case type = 4
        case version = 5
        case content = 6
        case storedBytes = 7
    }

    /// The record as a chunk's bytes.
    package func encoded() -> [UInt8] {
        var writer = CBORWriter(capacity: 512)
        let optional = [!host.isEmpty, label != nil, !type.isEmpty, version != 1, storedBytes != 0]
        writer.map(count: 3 + optional.count { $0 })
        writer.key(Field.title)
        writer.text(title)
        if !host.isEmpty {
            writer.key(Field.host)
            writer.text(host)
        }
        writer.key(Field.time)
        writer.timestamp(time)
        if let label {
            writer.key(Field.label)
            writer.text(label)
        }
        if !type.isEmpty {
            writer.key(Field.type)
            writer.text(type)
        }
        if version != 1 {
            writer.key(Field.version)
            writer.unsigned(UInt64(version))
        }
        writer.key(Field.content)
        content.writeMap(to: &writer)
        if storedBytes != 0 {
            writer.key(Field.storedBytes)
            writer.unsigned(storedBytes)
        }
        return writer.bytes
    }

    /// Reads a record; fields that it does not know are passed over.
    ///
    /// - Throws: `FormatError` for anything else but the bytes that `encoded()` gives for a valid record.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = CBORReader(bytes)
        var parts = Parts()
        var fields = try reader.openFields(Field.self, depth: 0)
        while let field = try fields.next(&reader) {
            switch field {
            case .title: parts.title = try reader.presentText()
            case .host: parts.host = try reader.presentText()
            case .time: parts.time = try reader.timestamp()
            case .label: parts.label = try reader.text()
            case .type: parts.type = try reader.presentText()
            case .version: parts.version = try reader.unsigned(UInt32.self)
            case .content: parts.content = try Content(fromMap: &reader)
            case .storedBytes: parts.storedBytes = try reader.present(reader.unsigned())
            }
        }
        try reader.finish()
        try self.init(parts)
    }

    /// Reads a record.
    package init(decoding bytes: [UInt8]) throws(FormatError) {
        self = try bytes.decode(StateRecord.init(decoding:))
    }

    /// What was read of a record, before it is known to be one.
    private struct Parts {
        var title: String?
        var host = ""
        var time: Timestamp?
        var label: String?
        var type = ""
        var version: UInt32?
        var content = Content.none
        var storedBytes: UInt64 = 0
    }

    private init(_ parts: Parts) throws(FormatError) {
        guard let title = parts.title, !title.isEmpty, let time = parts.time else {
            throw .malformed("a state with fields missing")
        }
        if let version = parts.version, version < 2 { throw .malformed("the version of a state") }
        try parts.content.validate(in: .file)
        guard parts.content.size > 0 else { throw .malformed("a state without content") }
        if case .slices(let slices) = parts.content, slices.contains(where: { $0.chunk == nil }) {
            throw .malformed("a state with holes")
        }
        self.init(
            title: title, host: parts.host, time: time, label: parts.label, type: parts.type,
            version: parts.version ?? 1, content: parts.content, storedBytes: parts.storedBytes)
    }
}

extension StateRecord: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        var parts = Parts()
        parts.title = try fields.decode(String.self, forKey: .title)
        parts.host = try fields.decodeIfPresent(String.self, forKey: .host) ?? ""
        parts.time = try fields.decode(Timestamp.self, forKey: .time)
        parts.label = try fields.decodeIfPresent(String.self, forKey: .label)
        parts.type = try fields.decodeIfPresent(String.self, forKey: .type) ?? ""
        parts.version = try fields.decodeIfPresent(UInt32.self, forKey: .version)
        parts.content = try fields.decode(Content.self, forKey: .content)
        parts.storedBytes = try fields.decodeIfPresent(UInt64.self, forKey: .storedBytes) ?? 0
        self = try decoder.checking { () throws(FormatError) in try StateRecord(parts) }
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(title, forKey: .title)
        if !host.isEmpty { try fields.encode(host, forKey: .host) }
        try fields.encode(time, forKey: .time)
        try fields.encodeIfPresent(label, forKey: .label)
        if !type.isEmpty { try fields.encode(type, forKey: .type) }
        if version != 1 { try fields.encode(version, forKey: .version) }
        try fields.encode(content, forKey: .content)
        if storedBytes != 0 { try fields.encode(storedBytes, forKey: .storedBytes) }
    }
}
