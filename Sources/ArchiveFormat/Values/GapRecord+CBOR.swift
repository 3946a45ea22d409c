// Gaps to CBOR and back: by hand, the fast way, and as Codable values, for tools; both give the same bytes.

internal import FileIO

extension GapRecord {
    /// The fields of a gap.
    ///
    /// Numbers are part of the archive format.
    enum Field: Int, FieldKey {
        case rootPath = 0
        case host = 1
        case cause = 2
        case start = 3
        case end = 4
        case detail = 5
        case machine = 6
    }

    /// The gap as a chunk's bytes.
    package func encoded() -> [UInt8] {
        var writer = CBORWriter(capacity: 128)
        let optional = [!host.isEmpty, detail != nil, machine != .unknown]
        writer.map(count: 4 + optional.count { $0 })
        writer.key(Field.rootPath)
        writer.byteString(rootPath)
        if !host.isEmpty {
            writer.key(Field.host)
            writer.text(host)
        }
        writer.key(Field.cause)
        writer.text(cause.rawValue)
        writer.key(Field.start)
        writer.timestamp(start)
        writer.key(Field.end)
        writer.timestamp(end)
        if let detail {
            writer.key(Field.detail)
            writer.text(detail)
        }
        if machine != .unknown {
            writer.key(Field.machine)
            writer.machine(machine)
        }
        return writer.bytes
    }

    /// Reads a gap; fields that it does not know are passed over.
    ///
    /// - Throws: `FormatError` for anything else but the bytes that `encoded()` gives for a valid gap.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = CBORReader(bytes)
        var rootPath: [UInt8]?
        var host = ""
        var cause: GapCause?
        var start: Timestamp?
        var end: Timestamp?
        var detail: String?
        var machine = MachineID.unknown
        var fields = try reader.openFields(Field.self, depth: 0)
        while let field = try fields.next(&reader) {
            switch field {
            case .rootPath: rootPath = Array(try reader.byteString())
            case .host: host = try reader.presentText()
            case .cause: cause = GapCause(rawValue: try reader.text())
            case .start: start = try reader.timestamp()
            case .end: end = try reader.timestamp()
            case .detail: detail = try reader.text()
            case .machine: machine = try reader.machine()
            }
        }
        try reader.finish()
        guard let rootPath, let cause, let start, let end else { throw .malformed("a gap with fields missing") }
        try self.init(
            rootPath: rootPath, host: host, cause: cause, from: start, to: end, detail: detail, machine: machine)
    }

    /// Reads a gap.
    package init(decoding bytes: [UInt8]) throws(FormatError) {
        self = try bytes.decode(GapRecord.init(decoding:))
    }

    /// A gap as it was read: its end is refused, not mended.
    private init(
        rootPath: [UInt8], host: String, cause: GapCause, from start: Timestamp, to end: Timestamp, detail: String?,
        machine: MachineID
    ) throws(FormatError) {
        guard start <= end else { throw .malformed("a gap that ends before it starts") }
        self.init(
            rootPath: rootPath, host: host, cause: cause, start: start, end: end, detail: detail, machine: machine)
    }
}

extension GapRecord: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        let rootPath = try fields.decode(ByteString.self, forKey: .rootPath).bytes
        let host = try fields.decodeIfPresent(String.self, forKey: .host) ?? ""
        let cause = try fields.decode(GapCause.self, forKey: .cause)
        let start = try fields.decode(Timestamp.self, forKey: .start)
        let end = try fields.decode(Timestamp.self, forKey: .end)
        let detail = try fields.decodeIfPresent(String.self, forKey: .detail)
        let machine = try fields.decodeIfPresent(MachineID.self, forKey: .machine) ?? .unknown
        self = try decoder.checking { () throws(FormatError) in
            try GapRecord(
                rootPath: rootPath, host: host, cause: cause, from: start, to: end, detail: detail, machine: machine)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(ByteString(rootPath), forKey: .rootPath)
        if !host.isEmpty { try fields.encode(host, forKey: .host) }
        try fields.encode(cause, forKey: .cause)
        try fields.encode(start, forKey: .start)
        try fields.encode(end, forKey: .end)
        try fields.encodeIfPresent(detail, forKey: .detail)
        if machine != .unknown { try fields.encode(machine, forKey: .machine) }
    }
}

extension GapCause: Codable {}
