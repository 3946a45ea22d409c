// Operations to CBOR and back: by hand, the fast way, and as Codable values, for tools; both give the same bytes.

internal import FileIO

extension OperationRecord {
    /// The fields of an operation.
    ///
    /// Numbers are part of the archive format.
    enum Field: Int, FieldKey {
        case rootPath = 0
        case host = 1
        case kind = 2
        case time = 3
        case before = 4
        case snapshot = 5
        case path = 6
        case target = 7
        case machine = 8
    }

    /// The operation as a chunk's bytes.
    package func encoded() -> [UInt8] {
        var writer = CBORWriter(capacity: 256)
        let optional = [
            !host.isEmpty, before != nil, snapshot != nil, !path.isRoot, target != nil, machine != .unknown,
        ]
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
        if let before {
            writer.key(Field.before)
            writer.chunkID(before.chunk)
        }
        if let snapshot {
            writer.key(Field.snapshot)
            writer.chunkID(snapshot.chunk)
        }
        if !path.isRoot {
            writer.key(Field.path)
            writer.byteString(path.bytes)
        }
        if let target {
            writer.key(Field.target)
            writer.chunkID(target.chunk)
        }
        if machine != .unknown {
            writer.key(Field.machine)
            writer.machine(machine)
        }
        return writer.bytes
    }

    /// Reads an operation; fields that it does not know are passed over.
    ///
    /// - Throws: `FormatError` for anything else but the bytes that `encoded()` gives for a valid operation.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = CBORReader(bytes)
        var rootPath: [UInt8]?
        var host = ""
        var kind: OperationKind?
        var time: Timestamp?
        var before: SnapshotID?
        var snapshot: SnapshotID?
        var path = RelativePath.root
        var target: OperationID?
        var machine = MachineID.unknown
        var fields = try reader.openFields(Field.self, depth: 0)
        while let field = try fields.next(&reader) {
            switch field {
            case .rootPath: rootPath = Array(try reader.byteString())
            case .host: host = try reader.presentText()
            case .kind: kind = OperationKind(rawValue: try reader.text())
            case .time: time = try reader.timestamp()
            case .before: before = SnapshotID(try reader.chunkID())
            case .snapshot: snapshot = SnapshotID(try reader.chunkID())
            case .path: path = try RelativePath(sharing: 0, of: nil, suffix: reader.presentByteString())
            case .target: target = OperationID(try reader.chunkID())
            case .machine: machine = try reader.machine()
            }
        }
        try reader.finish()
        guard let rootPath, let kind, let time else { throw .malformed("an operation with fields missing") }
        self.init(
            rootPath: rootPath, host: host, kind: kind, time: time, before: before, snapshot: snapshot, path: path,
            target: target, machine: machine)
        try validate()
    }

    /// Reads an operation.
    package init(decoding bytes: [UInt8]) throws(FormatError) {
        self = try bytes.decode(OperationRecord.init(decoding:))
    }

    /// Refuses what undoing could not go by.
    private func validate() throws(FormatError) {
        if target == nil, [.undo, .redo, .completion].contains(kind) {
            throw .malformed("the \(kind.rawValue) of no operation")
        }
    }
}

extension OperationRecord: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        self.init(
            rootPath: try fields.decode(ByteString.self, forKey: .rootPath).bytes,
            host: try fields.decodeIfPresent(String.self, forKey: .host) ?? "",
            kind: try fields.decode(OperationKind.self, forKey: .kind),
            time: try fields.decode(Timestamp.self, forKey: .time),
            before: try fields.decodeIfPresent(SnapshotID.self, forKey: .before),
            snapshot: try fields.decodeIfPresent(SnapshotID.self, forKey: .snapshot),
            path: try fields.decodeIfPresent(RelativePath.self, forKey: .path) ?? .root,
            target: try fields.decodeIfPresent(OperationID.self, forKey: .target),
            machine: try fields.decodeIfPresent(MachineID.self, forKey: .machine) ?? .unknown)
        try decoder.checking { () throws(FormatError) in try validate() }
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(ByteString(rootPath), forKey: .rootPath)
        if !host.isEmpty { try fields.encode(host, forKey: .host) }
        try fields.encode(kind, forKey: .kind)
        try fields.encode(time, forKey: .time)
        try fields.encodeIfPresent(before, forKey: .before)
        try fields.encodeIfPresent(snapshot, forKey: .snapshot)
        if !path.isRoot { try fields.encode(path, forKey: .path) }
        try fields.encodeIfPresent(target, forKey: .target)
        if machine != .unknown { try fields.encode(machine, forKey: .machine) }
    }
}

extension OperationKind: Codable {}
