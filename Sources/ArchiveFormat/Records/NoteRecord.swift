// The record of a note: a text that a user wrote about a root or about one of its snapshots; or of a note's removal.

package import FileIO

/// A user's note about a root, or the removal of one.
package struct NoteRecord: ArchiveRecord {
    package static let kind = ChunkKind.note
    package var times: [Timestamp] { [time] }
    package var texts: [(text: String?, limit: Int)] {
        [(host, FormatLimits.hostBytes)]
    }

    /// The root's absolute path, as bytes.
    package let rootPath: [UInt8]
    /// The machine's name, for people.
    package let host: String
    /// When the note was written.
    package let time: Timestamp
    /// The text; empty if this removes a note.
    package let text: String
    /// The snapshot that the note is about; nil if it is about the root at that time.
    package let snapshot: SnapshotID?
    /// The machine that the root is on.
    package let machine: MachineID
    /// The chunk of the note that this removes; nil if this is a note.
    package let removed: ChunkID?

    /// The most bytes of a text.
    package static let limit = 65_536

    package init(
        rootPath: [UInt8], host: String, time: Timestamp, text: String, snapshot: SnapshotID? = nil,
        machine: MachineID = .unknown
    ) {
        self.rootPath = rootPath
        self.host = host
        self.time = time
        self.text = text
        self.snapshot = snapshot
        self.machine = machine
        removed = nil
    }

    /// Creates the removal of the note in the chunk `id`.
    package init(removing id: ChunkID, rootPath: [UInt8], time: Timestamp, machine: MachineID) {
        self.rootPath = rootPath
        host = ""
        self.time = time
        text = ""
        snapshot = nil
        self.machine = machine
        removed = id
    }

    package enum CodingKeys: Int, CodingKey, CaseIterable {
        case rootPath = 0
        case host = 1
        case time = 2
        case text = 3
        case snapshot = 4
        case machine = 5
        case removed = 6
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        rootPath = try fields.decode(ByteString.self, forKey: .rootPath).bytes
        host = try fields.decodeIfPresent(String.self, forKey: .host) ?? ""
        time = try fields.decode(Timestamp.self, forKey: .time)
        removed = try fields.decodeIfPresent(ChunkID.self, forKey: .removed)
        let text = try fields.decodeIfPresent(String.self, forKey: .text)
        self.text = text ?? ""
        snapshot = try fields.decodeIfPresent(SnapshotID.self, forKey: .snapshot)
        machine = try fields.decodeIfPresent(MachineID.self, forKey: .machine) ?? .unknown
        let isRemoval = removed != nil
        try decoder.checking { () throws(FormatError) in
            try FormatLimits.check(text, NoteRecord.limit, "a note")
            if isRemoval == (text != nil) { throw .malformed("a note has either a text or the note that it removes") }
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(ByteString(rootPath), forKey: .rootPath)
        if !host.isEmpty { try fields.encode(host, forKey: .host) }
        try fields.encode(time, forKey: .time)
        if removed == nil { try fields.encode(text, forKey: .text) }
        try fields.encodeIfPresent(snapshot, forKey: .snapshot)
        if machine != .unknown { try fields.encode(machine, forKey: .machine) }
        try fields.encodeIfPresent(removed, forKey: .removed)
    }
}

extension ChunkKind {
    /// An encoded `NoteRecord`.
    package static let note = ChunkKind(rawValue: 12)
}
