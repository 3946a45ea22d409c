// Gaps as Codable values: fields that have their default values are left out.

internal import FileIO

extension GapRecord {
    /// The fields of a gap.
    ///
    /// Numbers are part of the archive format.
    package enum CodingKeys: Int, CodingKey, CaseIterable {
        case rootPath = 0
        case host = 1
        case cause = 2
        case start = 3
        case end = 4
        case detail = 5
        case machine = 6
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

extension GapRecord: ArchiveRecord {
    package static let kind = ChunkKind.gap
}

extension GapRecord: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
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
        var fields = encoder.container(keyedBy: CodingKeys.self)
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
