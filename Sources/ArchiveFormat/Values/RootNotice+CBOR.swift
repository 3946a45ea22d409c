// Notices of roots to CBOR and back: by hand, and as Codable values; both give the same bytes.

internal import FileIO

extension RootNotice {
    /// The fields of a notice.
    ///
    /// Numbers are part of the archive format.
    enum Field: Int, FieldKey {
        case rootPath = 0
        case host = 1
        case kind = 2
        case time = 3
        case machine = 4
        case newPath = 5
        case newMachine = 6
    }

    /// The notice as a chunk's bytes.
    package func encoded() -> [UInt8] {
        var writer = CBORWriter(capacity: 128)
        let optional = [!host.isEmpty, machine != .unknown, newPath != nil, newMachine != nil]
        writer.map(count: 3 + optional.count { $0 })
        writer.key(Field.rootPath)
        writer.byteString(rootPath)
        if !host.isEmpty {
            writer.key(Field.host)
            writer.text(host)
        }
        writer.key(Field.kind)
        writer.text(kind.rawValue)
        writer.key(Field.time)
        writer.timestamp(time)
        if machine != .unknown {
            writer.key(Field.machine)
            writer.machine(machine)
        }
        if let newPath {
            writer.key(Field.newPath)
            writer.byteString(newPath)
        }
        if let newMachine {
            writer.key(Field.newMachine)
            writer.machine(newMachine)
        }
        return writer.bytes
    }

    /// Reads a notice; fields that it does not know are passed over.
    ///
    /// - Throws: `FormatError` for anything else but the bytes that `encoded()` gives for a valid notice.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = CBORReader(bytes)
        var rootPath: [UInt8]?
        var host = ""
        var kind: RootNoticeKind?
        var time: Timestamp?
        var machine = MachineID.unknown
        var newPath: [UInt8]?
        var newMachine: MachineID?
        var fields = try reader.openFields(Field.self, depth: 0)
        while let field = try fields.next(&reader) {
            switch field {
            case .rootPath: rootPath = Array(try reader.byteString())
            case .host: host = try reader.presentText()
            case .kind: kind = RootNoticeKind(rawValue: try reader.text())
            case .time: time = try reader.timestamp()
            case .machine: machine = try reader.machine()
            case .newPath: newPath = Array(try reader.byteString())
            case .newMachine: newMachine = try reader.machine()
            }
        }
        try reader.finish()
        guard let rootPath, let kind, let time else { throw .malformed("a notice of a root with fields missing") }
        self.init(
            rootPath: rootPath, host: host, kind: kind, time: time, machine: machine, newPath: newPath,
            newMachine: newMachine)
        try validate()
    }

    /// Reads a notice.
    package init(decoding bytes: [UInt8]) throws(FormatError) {
        self = try bytes.decode(RootNotice.init(decoding:))
    }

    private func validate() throws(FormatError) {
        if kind == .moved, newPath == nil { throw .malformed("a root that was moved nowhere") }
    }
}

extension RootNotice: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        self.init(
            rootPath: try fields.decode(ByteString.self, forKey: .rootPath).bytes,
            host: try fields.decodeIfPresent(String.self, forKey: .host) ?? "",
            kind: try fields.decode(RootNoticeKind.self, forKey: .kind),
            time: try fields.decode(Timestamp.self, forKey: .time),
            machine: try fields.decodeIfPresent(MachineID.self, forKey: .machine) ?? .unknown,
            newPath: try fields.decodeIfPresent(ByteString.self, forKey: .newPath)?.bytes,
            newMachine: try fields.decodeIfPresent(MachineID.self, forKey: .newMachine))
        try decoder.checking { () throws(FormatError) in try validate() }
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(ByteString(rootPath), forKey: .rootPath)
        if !host.isEmpty { try fields.encode(host, forKey: .host) }
        try fields.encode(kind, forKey: .kind)
        try fields.encode(time, forKey: .time)
        if machine != .unknown { try fields.encode(machine, forKey: .machine) }
        try fields.encodeIfPresent(newPath.map(ByteString.init), forKey: .newPath)
        try fields.encodeIfPresent(newMachine, forKey: .newMachine)
    }
}

extension RootNoticeKind: Codable {}
