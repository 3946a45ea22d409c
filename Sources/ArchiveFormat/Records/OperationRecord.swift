// The record of an operation, written before the operation changes the root; undo and redo are computed from these.

public import FileIO

/// An operation on a root, the completion of an operation, or a mark.
///
/// The record of an operation is durable before the operation changes anything. Its completion is recorded after
/// everything is done, so an operation without a completion was interrupted.
public struct OperationRecord: Hashable, Sendable {
    /// The root's absolute path, as bytes.
    public let rootPath: [UInt8]
    /// The name of the machine, for people.
    public let host: String
    /// The kind of operation.
    public let kind: OperationKind
    /// When it was recorded, as the clock showed it.
    public let time: Timestamp
    /// The snapshot with the root's state before the operation; nil if the root did not exist.
    public let before: SnapshotID?
    /// The snapshot that the operation restores; nil if it restores a state in which nothing existed, and for a run.
    ///
    /// For a completion it is the snapshot with the root's state afterwards; nil if none was made.
    public let snapshot: SnapshotID?
    /// The part of the root that the operation restores; of several parts, the deepest directory with all of them.
    public let path: RelativePath
    /// The parts of the root that the operation restores, in walk order; empty if there is only one.
    public let parts: [RelativePath]
    /// The operation that is undone, redone or completed.
    public let target: OperationID?
    /// The machine that the root is on.
    public let machine: MachineID
    /// The user's name for a mark or a run; nil without one.
    public let name: String?
    /// For a completion, the number of paths that the operation could not bring into the wanted state.
    public let failed: UInt64
    /// Whether the operation leaves directories in which version control systems keep their history as they are.
    public let leavesRepositories: Bool
    /// Its place in the order of the root's operations, whatever the clock says.
    public let sequence: UInt64

    /// The record of an operation.
    package init(
        rootPath: [UInt8], host: String, kind: OperationKind, time: Timestamp, before: SnapshotID? = nil,
        snapshot: SnapshotID? = nil, path: RelativePath = .root, target: OperationID? = nil,
        machine: MachineID = .unknown, name: String? = nil, parts: [RelativePath] = [], failed: UInt64 = 0,
        leavesRepositories: Bool = false, sequence: UInt64 = 1
    ) {
        self.rootPath = rootPath
        self.host = host
        self.kind = kind
        self.time = time
        self.before = before
        self.snapshot = snapshot
        self.path = path
        self.target = target
        self.machine = machine
        self.name = name
        self.parts = parts
        self.failed = failed
        self.leavesRepositories = leavesRepositories
        self.sequence = sequence
    }

    /// Every part of the root that the operation restores.
    public var allParts: [RelativePath] { parts.isEmpty ? [path] : parts }
}

/// The kind of an operation.
///
/// Raw values are part of the archive format and follow the rules of `Cause`. An unknown word means an operation that
/// changed the root and can be undone; the record's other fields say how.
public struct OperationKind: RawRepresentable, Sendable, Hashable, CaseIterable {
    public let rawValue: String

    /// The kind named `rawValue`; nil if that is not a valid word.
    public init?(rawValue: String) {
        guard rawValue.isCauseWord else { return nil }
        self.rawValue = rawValue
    }

    private init(known: String) { rawValue = known }

    /// Restores a snapshot or a part of one.
    public static let restore = OperationKind(known: "restore")
    /// Restores the state before an operation.
    public static let undo = OperationKind(known: "undo")
    /// Restores the state before an undo.
    public static let redo = OperationKind(known: "redo")
    /// Runs a command that may change the root.
    public static let run = OperationKind(known: "run")
    /// Not an operation: a user or an assistant is about to begin a turn.
    public static let mark = OperationKind(known: "mark")
    /// Not an operation: another operation was completed.
    public static let completion = OperationKind(known: "completion")

    /// The kinds that this program knows.
    public static let allCases: [OperationKind] = [.restore, .undo, .redo, .run, .mark, .completion]
}

extension OperationRecord: ArchiveRecord {
    package static let kind = ChunkKind.operation
    package var times: [Timestamp] { [time] }
    package var texts: [(text: String?, limit: Int)] {
        [(host, FormatLimits.hostBytes), (name, FormatLimits.textBytes)]
    }
}

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
        case parts = 10
        case failed = 11
        case leavesRepositories = 12
        case sequence = 13
    }

    /// Refuses records that undo could not use.
    private func validate() throws(FormatError) {
        if target == nil, [.undo, .redo, .completion].contains(kind) {
            throw .malformed("the \(kind.rawValue) names no operation")
        }
        // No part may contain another, or an undo would restore a path twice.
        let areApart = zip(parts, parts.dropFirst()).allSatisfy { $0 < $1 && !$0.contains($1) }
        guard parts.count != 1, areApart, parts.allSatisfy(path.contains) else {
            throw .malformed("the parts of an operation are not in order or not below its path")
        }
        if kind == .mark, before == nil { throw .malformed("a mark has no snapshot") }
    }
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
            name: try fields.decodeIfPresent(String.self, forKey: .name),
            parts: try fields.decodeIfPresent([RelativePath].self, forKey: .parts) ?? [],
            failed: try fields.decodeIfPresent(UInt64.self, forKey: .failed) ?? 0,
            leavesRepositories: try fields.decodeIfPresent(Bool.self, forKey: .leavesRepositories) ?? false,
            sequence: try fields.decodeIfPresent(UInt64.self, forKey: .sequence) ?? 1)
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
        if !parts.isEmpty { try fields.encode(parts, forKey: .parts) }
        if failed > 0 { try fields.encode(failed, forKey: .failed) }
        if leavesRepositories { try fields.encode(true, forKey: .leavesRepositories) }
        if sequence != 1 { try fields.encode(sequence, forKey: .sequence) }
    }
}

extension OperationKind: Codable {}

extension ChunkKind {
    /// An encoded `OperationRecord`.
    package static let operation = ChunkKind(rawValue: 6)
}
