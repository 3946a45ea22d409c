// The record of a notice: a user states that a root was moved or is retired.

package import FileIO

/// A user's statement that a root was moved or is retired.
package struct RootNotice: Hashable, Sendable {
    /// The root's absolute path before the notice, as bytes.
    package let rootPath: [UInt8]
    /// The machine's name, for people.
    package let host: String
    /// What it says about the root.
    package let kind: RootNoticeKind
    /// When the notice was given; later than all earlier notices, and than the root's earlier records but snapshots.
    package let time: Timestamp
    /// The machine that the root is on.
    package let machine: MachineID
    /// The root's new path, as bytes; nil if it was not moved.
    package let newPath: [UInt8]?
    /// The root's new machine; nil if that did not change.
    package let newMachine: MachineID?
    /// The last sequence of the snapshots that the notice is about; nil for those that are not later than the notice.
    package let through: UInt64?
    /// What a move adds to the sequences of these snapshots, so that they come after those of a joined history.
    package let shift: UInt64

    /// A notice about a root.
    package init(
        rootPath: [UInt8], host: String, kind: RootNoticeKind, time: Timestamp, machine: MachineID,
        newPath: [UInt8]? = nil, newMachine: MachineID? = nil, through: UInt64? = nil, shift: UInt64 = 0
    ) {
        self.rootPath = rootPath
        self.host = host
        self.kind = kind
        self.time = time
        self.machine = machine
        self.newPath = newPath
        self.newMachine = newMachine
        self.through = through
        self.shift = shift
    }
}

/// The kind of a notice.
///
/// Raw values are part of the archive format and follow the rules of `Cause`. A notice of an unknown kind is ignored.
package struct RootNoticeKind: RawRepresentable, Sendable, Hashable, CaseIterable {
    package let rawValue: String

    /// The kind named `rawValue`; nil if that is not a valid word.
    package init?(rawValue: String) {
        guard rawValue.isCauseWord else { return nil }
        self.rawValue = rawValue
    }

    private init(known: String) { rawValue = known }

    /// The root's earlier records belong to a root at another path or on another machine.
    package static let moved = RootNoticeKind(known: "moved")
    /// The root is no longer watched, and that is not a problem.
    package static let retired = RootNoticeKind(known: "retired")

    /// The kinds that this program knows.
    package static let allCases: [RootNoticeKind] = [.moved, .retired]
}

extension RootNotice: ArchiveRecord {
    package static let kind = ChunkKind.rootNotice
    package var times: [Timestamp] { [time] }
    package var texts: [(text: String?, limit: Int)] {
        [(host, FormatLimits.hostBytes)]
    }
}

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
        case through = 7
        case shift = 8
    }

    private func validate() throws(FormatError) {
        if kind == .moved, newPath == nil { throw .malformed("a moved root has no new path") }
        if let through, through > Snapshot.sequenceLimit { throw .malformed("a sequence number out of range") }
        if shift > Snapshot.sequenceLimit { throw .malformed("a shift out of range") }
    }
}

extension RootNotice: Codable {
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            rootPath: try fields.decode(ByteString.self, forKey: .rootPath).bytes,
            host: try fields.decodeIfPresent(String.self, forKey: .host) ?? "",
            kind: try fields.decode(RootNoticeKind.self, forKey: .kind),
            time: try fields.decode(Timestamp.self, forKey: .time),
            machine: try fields.decodeIfPresent(MachineID.self, forKey: .machine) ?? .unknown,
            newPath: try fields.decodeIfPresent(ByteString.self, forKey: .newPath)?.bytes,
            newMachine: try fields.decodeIfPresent(MachineID.self, forKey: .newMachine),
            through: try fields.decodeIfPresent(UInt64.self, forKey: .through),
            shift: try fields.decodeIfPresent(UInt64.self, forKey: .shift) ?? 0)
        try decoder.checking { () throws(FormatError) in try validate() }
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(ByteString(rootPath), forKey: .rootPath)
        if !host.isEmpty { try fields.encode(host, forKey: .host) }
        try fields.encode(kind, forKey: .kind)
        try fields.encode(time, forKey: .time)
        if machine != .unknown { try fields.encode(machine, forKey: .machine) }
        try fields.encodeIfPresent(newPath.map(ByteString.init), forKey: .newPath)
        try fields.encodeIfPresent(newMachine, forKey: .newMachine)
        try fields.encodeIfPresent(through, forKey: .through)
        if shift != 0 { try fields.encode(shift, forKey: .shift) }
    }
}

extension RootNoticeKind: Codable {}

extension ChunkKind {
    /// An encoded `RootNotice`.
    package static let rootNotice = ChunkKind(rawValue: 8)
}
