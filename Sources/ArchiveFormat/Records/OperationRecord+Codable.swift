// Operations as Codable values: fields that have their default values are left out.

internal import FileIO

extension OperationRecord {
    /// The fields of an operation.
    ///
    /// Numbers are part of the archive format.
    package enum CodingKeys: Int, CodingKey, CaseIterable {
        case rootPath = 0
        case host = 1
        case kind = 2
        case time = 3
        case before = 4
        case snapshot = 5
        case path = 6
        case target = 7
        case machine = 8
        case name = 9
    }

    /// Refuses what undoing could not go by.
    private func validate() throws(FormatError) {
        if target == nil, [.undo, .redo, .completion].contains(kind) {
            throw .malformed("the \(kind.rawValue) of no operation")
        }
        if kind == .mark, before == nil { throw .malformed("a mark at no snapshot") }
    }
}

extension OperationRecord: ArchiveRecord {
    package static let kind = ChunkKind.operation
}

extension OperationRecord: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            rootPath: try fields.decode(ByteString.self, forKey: .rootPath).bytes,
            host: try fields.decodeIfPresent(String.self, forKey: .host) ?? "",
            kind: try fields.decode(OperationKind.self, forKey: .kind),
            time: try fields.decode(Timestamp.self, forKey: .time),
            before: try fields.decodeIfPresent(SnapshotID.self, forKey: .before),
            snapshot: try fields.decodeIfPresent(SnapshotID.self, forKey: .snapshot),
            path: try fields.decodeIfPresent(RelativePath.self, forKey: .path) ?? .root,
            target: try fields.decodeIfPresent(OperationID.self, forKey: .target),
            machine: try fields.decodeIfPresent(MachineID.self, forKey: .machine) ?? .unknown,
            name: try fields.decodeIfPresent(String.self, forKey: .name))
        try decoder.checking { () throws(FormatError) in try validate() }
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(ByteString(rootPath), forKey: .rootPath)
        if !host.isEmpty { try fields.encode(host, forKey: .host) }
        try fields.encode(kind, forKey: .kind)
        try fields.encode(time, forKey: .time)
        try fields.encodeIfPresent(before, forKey: .before)
        try fields.encodeIfPresent(snapshot, forKey: .snapshot)
        if !path.isRoot { try fields.encode(path, forKey: .path) }
        try fields.encodeIfPresent(target, forKey: .target)
        if machine != .unknown { try fields.encode(machine, forKey: .machine) }
        try fields.encodeIfPresent(name, forKey: .name)
    }
}

extension OperationKind: Codable {}
