// The record of a saved state: a program's state at one instant, and where its bytes are.

package import FileIO

/// A program's state at one instant; the id of the chunk that holds this record is the state's id.
package struct StateRecord: Hashable, Sendable {
    /// The name under which the program saves its states; not empty.
    package let title: String
    /// The name of the machine that saved it.
    package let host: String
    /// When it was saved, as the clock showed it.
    package let time: Timestamp
    /// Its place in the order of its title: one more than that of the latest state when this one was saved, at least 1.
    package let sequence: UInt64
    /// The name that the user gave to this state.
    package let label: String?
    /// The name of the state's type, for people.
    package let type: String
    /// The version of the state's type, at least 1.
    package let version: UInt32
    /// The state's bytes, one CBOR item, stored like a file's content but without holes.
    package let content: Content
    /// Bytes appended to the archive for the content, without the block that holds this record.
    package let storedBytes: UInt64

    /// The record of a saved state.
    package init(
        title: String, host: String, time: Timestamp, sequence: UInt64 = 1, label: String? = nil, type: String,
        version: UInt32 = 1, content: Content, storedBytes: UInt64 = 0
    ) {
        self.title = title
        self.host = host
        self.time = time
        self.sequence = sequence
        self.label = label
        self.type = type
        self.version = version
        self.content = content
        self.storedBytes = storedBytes
    }
}

extension StateRecord: ArchiveRecord {
    package static let kind = ChunkKind.state
    package var times: [Timestamp] { [time] }
    package var texts: [(text: String?, limit: Int)] {
        [
            (title, FormatLimits.longTextBytes), (host, FormatLimits.hostBytes), (label, FormatLimits.textBytes),
            (type, FormatLimits.textBytes),
        ]
    }
}

extension StateRecord {
    /// The fields of a record.
    ///
    /// Numbers are part of the archive format.
    package enum CodingKeys: Int, CodingKey, CaseIterable {
        case title = 0
        case host = 1
        case time = 2
        case label = 3
        case type = 4
        case version = 5
        case content = 6
        case storedBytes = 7
        case sequence = 8
    }

    /// The decoded fields of a record before they are checked.
    private struct Parts {
        var title: String?
        var host = ""
        var time: Timestamp?
        var label: String?
        var type = ""
        var version: UInt32?
        var content = Content.none
        var storedBytes: UInt64 = 0
        var sequence: UInt64?
    }

    private init(_ parts: Parts) throws(FormatError) {
        guard let title = parts.title, !title.isEmpty, let time = parts.time else {
            throw .malformed("a state lacks fields")
        }
        if let version = parts.version, version < 2 { throw .malformed("the version of a state is less than 2") }
        if let sequence = parts.sequence, !(2...Snapshot.sequenceLimit).contains(sequence) {
            throw .malformed("the sequence number of a state is out of range")
        }
        try FormatLimits.check(parts.storedBytes, FormatLimits.bytes, "stored bytes")
        try parts.content.validate(in: .file)
        guard parts.content.size > 0 else { throw .malformed("a state has no content") }
        if case .slices(let slices) = parts.content, slices.contains(where: { $0.chunk == nil }) {
            throw .malformed("a state has holes")
        }
        self.init(
            title: title, host: parts.host, time: time, sequence: parts.sequence ?? 1, label: parts.label,
            type: parts.type, version: parts.version ?? 1, content: parts.content, storedBytes: parts.storedBytes)
    }
}

extension StateRecord: Codable {
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        var parts = Parts()
        parts.title = try fields.decode(String.self, forKey: .title)
        parts.host = try fields.decodeIfPresent(String.self, forKey: .host) ?? ""
        parts.time = try fields.decode(Timestamp.self, forKey: .time)
        parts.label = try fields.decodeIfPresent(String.self, forKey: .label)
        parts.type = try fields.decodeIfPresent(String.self, forKey: .type) ?? ""
        parts.version = try fields.decodeIfPresent(UInt32.self, forKey: .version)
        parts.content = try fields.decode(Content.self, forKey: .content)
        parts.storedBytes = try fields.decodeIfPresent(UInt64.self, forKey: .storedBytes) ?? 0
        parts.sequence = try fields.decodeIfPresent(UInt64.self, forKey: .sequence)
        self = try decoder.checking { () throws(FormatError) in try StateRecord(parts) }
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(title, forKey: .title)
        if !host.isEmpty { try fields.encode(host, forKey: .host) }
        try fields.encode(time, forKey: .time)
        try fields.encodeIfPresent(label, forKey: .label)
        if !type.isEmpty { try fields.encode(type, forKey: .type) }
        if version != 1 { try fields.encode(version, forKey: .version) }
        try fields.encode(content, forKey: .content)
        if storedBytes != 0 { try fields.encode(storedBytes, forKey: .storedBytes) }
        if sequence != 1 { try fields.encode(sequence, forKey: .sequence) }
    }
}

extension ChunkKind {
    /// An encoded `StateRecord`.
    package static let state = ChunkKind(rawValue: 5)
}
