// The record of a gap: a span of time in which changes of a root may have been missed.

public import FileIO

/// A span of time in which changes of a root may have been seen late.
///
/// States that came and went within the span may be missing from the archive. The state at its end is not missing.
public struct GapRecord: Hashable, Sendable {
    /// The root's absolute path, as bytes.
    public let rootPath: [UInt8]
    /// The name of the machine that watched it.
    public let host: String
    /// Why changes may have been missed.
    public let cause: GapCause
    /// When the gap began.
    public let start: Timestamp
    /// Not before `start`.
    public let end: Timestamp
    /// More about the cause, for people.
    public let detail: String?
    /// The machine that watched it.
    public let machine: MachineID

    /// A gap of a root.
    ///
    /// If `end` is before `start`, because the clock was set back, the gap ends at `start`.
    package init(
        rootPath: [UInt8], host: String, cause: GapCause, start: Timestamp, end: Timestamp, detail: String? = nil,
        machine: MachineID = .unknown
    ) {
        self.rootPath = rootPath
        self.host = host
        self.cause = cause
        self.start = start
        self.end = max(start, end)
        self.detail = detail
        self.machine = machine
    }
}

/// Why changes may have been seen late.
///
/// Raw values are part of the archive format and follow the rules of `Cause`: unknown words are kept.
public struct GapCause: RawRepresentable, Sendable, Hashable, CaseIterable {
    public let rawValue: String

    /// The cause named `rawValue`; nil if that is not a valid word.
    public init?(rawValue: String) {
        guard rawValue.isCauseWord else { return nil }
        self.rawValue = rawValue
    }

    private init(known: String) { rawValue = known }

    /// The kernel dropped events.
    public static let overflow = GapCause(known: "overflow")
    /// No watcher ran.
    public static let downtime = GapCause(known: "downtime")
    /// The machine slept.
    public static let suspend = GapCause(known: "suspend")
    /// Some directories could only be polled from time to time.
    public static let polling = GapCause(known: "polling")
    /// The root was missing.
    public static let unavailable = GapCause(known: "unavailable")

    /// The causes that this program knows.
    public static let allCases: [GapCause] = [.overflow, .downtime, .suspend, .polling, .unavailable]
}

extension GapRecord: ArchiveRecord {
    package static let kind = ChunkKind.gap
    package var times: [Timestamp] { [start, end] }
    package var texts: [(text: String?, limit: Int)] {
        [(host, FormatLimits.hostBytes), (detail, FormatLimits.longTextBytes)]
    }
}

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

    /// Creates a gap from decoded fields: an end before the start is refused, not corrected.
    private init(
        rootPath: [UInt8], host: String, cause: GapCause, from start: Timestamp, to end: Timestamp, detail: String?,
        machine: MachineID
    ) throws(FormatError) {
        guard start <= end else { throw .malformed("a gap ends before it starts") }
        self.init(
            rootPath: rootPath, host: host, cause: cause, start: start, end: end, detail: detail, machine: machine)
    }
}

extension GapRecord {
    package static func read(quickly reader: inout CBORReader) throws(FormatError) -> GapRecord? {
        var left = try reader.map()
        var key: UInt64?
        /// Whether the next field has this key.
        func isNext(_ wanted: CodingKeys) throws(FormatError) -> Bool {
            if key == nil, left > 0 {
                key = try reader.unsigned()
                left -= 1
            }
            guard key == UInt64(wanted.rawValue) else { return false }
            key = nil
            return true
        }
        guard try isNext(.rootPath) else { return nil }
        let rootPath = Array(try reader.byteString())
        let host = try isNext(.host) ? reader.presentText() : ""
        guard try isNext(.cause), let cause = GapCause(rawValue: try reader.text()), try isNext(.start) else {
            return nil
        }
        let start = try reader.timestamp()
        guard try isNext(.end) else { return nil }
        let end = try reader.timestamp()
        let detail = try isNext(.detail) ? reader.text() : nil
        var machine = MachineID.unknown
        if try isNext(.machine) {
            guard let given = MachineID(Array(try reader.byteString())), given != .unknown else { return nil }
            machine = given
        }
        guard key == nil, left == 0, start <= end else { return nil }
        return GapRecord(
            rootPath: rootPath, host: host, cause: cause, start: start, end: end, detail: detail, machine: machine)
    }
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

extension ChunkKind {
    /// An encoded `GapRecord`.
    package static let gap = ChunkKind(rawValue: 4)
}

extension GapRecord: Identifiable {
    /// The gap itself: equal gaps are one.
    public var id: GapRecord { self }
}

extension GapRecord: CustomStringConvertible {
    /// The root, the span and the cause, for logs.
    public var description: String {
        "\(String(decoding: rootPath, as: UTF8.self)) \(start) to \(end): \(cause.rawValue)"
    }
}
