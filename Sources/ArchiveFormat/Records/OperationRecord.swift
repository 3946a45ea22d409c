// What altered a root, written down before it began: what undoing and redoing go by.

public import FileIO

/// Something that altered a root, its completion, or a mark, stored as a chunk of its own.
///
/// The record of an operation is durable before the operation alters anything, that of its completion after all is done.
/// An operation without a completion was interrupted.
public struct OperationRecord: Hashable, Sendable {
    /// The root's absolute path, as bytes.
    public let rootPath: [UInt8]
    /// The name of the machine, for people.
    public let host: String
    public let kind: OperationKind
    /// When it was recorded; later than all operations of the root before it.
    public let time: Timestamp
    /// The snapshot with the root's state before the operation; nil where the root did not exist.
    public let before: SnapshotID?
    /// The snapshot whose state the operation brings back, nil where it brings back that there was nothing, and of a run; of a
    /// completion, the one with the root's state after it, nil where none was made.
    public let snapshot: SnapshotID?
    /// The part of the root that the operation brings back.
    public let path: RelativePath
    /// The operation that is undone, redone or completed.
    public let target: OperationID?
    /// The machine that the root is on.
    public let machine: MachineID
    /// What the user calls a mark or a run; nil where it has no name.
    public let name: String?

    public init(
        rootPath: [UInt8], host: String, kind: OperationKind, time: Timestamp, before: SnapshotID? = nil,
        snapshot: SnapshotID? = nil, path: RelativePath = .root, target: OperationID? = nil,
        machine: MachineID = .unknown, name: String? = nil
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
    }
}

/// What an operation is.
///
/// Raw values are part of the archive format, by the rules of `Cause`. A word that is not known stands for something
/// that altered a root and can be undone: by the record's other fields it is known how.
public struct OperationKind: RawRepresentable, Sendable, Hashable, CaseIterable {
    public let rawValue: String

    /// The kind called `rawValue`; nil where that is no word.
    public init?(rawValue: String) {
        guard rawValue.isCauseWord else { return nil }
        self.rawValue = rawValue
    }

    private init(known: String) { rawValue = known }

    /// A snapshot, or a part of one, was brought back.
    public static let restore = OperationKind(known: "restore")
    /// The state before an operation was brought back.
    public static let undo = OperationKind(known: "undo")
    /// The state before an undo was brought back.
    public static let redo = OperationKind(known: "redo")
    /// A command ran that may have changed the root.
    public static let run = OperationKind(known: "run")
    /// No operation of its own: somebody, an assistant perhaps, is about to begin a turn.
    public static let mark = OperationKind(known: "mark")
    /// No operation of its own: another one was done to its end.
    public static let completion = OperationKind(known: "completion")

    /// The kinds that this program knows.
    public static let allCases: [OperationKind] = [.restore, .undo, .redo, .run, .mark, .completion]
}
