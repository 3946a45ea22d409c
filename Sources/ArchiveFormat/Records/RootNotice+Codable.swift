// Notices of roots as Codable values: fields that have their default values are left out.

internal import FileIO

extension RootNotice {
    /// The fields of a notice.
    ///
    /// Numbers are part of the archive format.
    package enum CodingKeys: Int, CodingKey, CaseIterable {
        case rootPath = 0
        case host = 1
        case kind = 2
        case time = 3
        case machine = 4
        case newPath = 5
        case newMachine = 6
    }

    private func validate() throws(FormatError) {
        if kind == .moved, newPath == nil { throw .malformed("a root that was moved nowhere") }
    }
}

extension RootNotice: ArchiveRecord {
    package static let kind = ChunkKind.rootNotice
}

extension RootNotice: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
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
        var fields = encoder.container(keyedBy: CodingKeys.self)
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
