// What a restore is asked for and what it gives.

public import ArchiveFormat
public import ArchiveStorage
public import FileIO
public import SystemPackage

/// What is to be restored, and where.
public struct RestoreOptions: Sendable {
    /// What to restore: this path of the snapshot, and all below it.
    public var path: RelativePath
    /// Where to: a directory that is missing or empty; nil for in place, at the snapshot's own root.
    ///
    /// A directory's content goes into the target itself, anything else gets its own name in it.
    public var target: FilePath?
    /// Whether only to tell what would be done.
    public var isDryRun: Bool

    public init(path: RelativePath = .root, target: FilePath? = nil, isDryRun: Bool = false) {
        self.path = path
        self.target = target
        self.isDryRun = isDryRun
    }
}

/// One thing that a restore does.
public struct RestoreAction: Sendable, Hashable {
    public enum Kind: String, Sendable {
        /// Nothing is at the path.
        case create
        /// What is at the path is replaced.
        case replace
        /// Only permissions, owner, time or attributes are set.
        case metadata
        /// What is at the path is removed.
        case delete
    }

    public let kind: Kind
    /// The path below the destination.
    public let path: RelativePath
    /// The kind of what is restored, or of what is deleted.
    public let entryKind: FileKind
    /// Bytes of content to be written.
    public let bytes: UInt64
}

/// What a restore did, or would do.
public struct RestoreResult: Sendable {
    public internal(set) var created = 0
    public internal(set) var replaced = 0
    public internal(set) var metadata = 0
    public internal(set) var deleted = 0
    /// Paths left as they are because they changed while the restore ran.
    public internal(set) var skipped = 0
    /// Paths left as they are because they are left out of snapshots.
    public internal(set) var leftOut = 0
    /// Bytes of content written.
    public internal(set) var bytesWritten: UInt64 = 0
    /// The first things that could not be restored fully, each as a sentence.
    public internal(set) var warnings: [String] = []
    /// How many things could not be restored fully.
    public internal(set) var warningCount = 0
    /// The snapshot of the state before a restore in place; nil where the latest snapshot held it already, and for a
    /// dry run or a restore elsewhere.
    public internal(set) var before: SnapshotRecord?
    /// The root's latest snapshot before a restore in place: what brings the state before back.
    public internal(set) var undo: SnapshotRecord?
    /// What the root's operation log calls a restore in place; nil where nothing was to be done.
    public internal(set) var operation: OperationID?
    /// The directory that was restored to.
    public internal(set) var destination: FilePath
    /// The part of the snapshot that was restored.
    public internal(set) var path: RelativePath

    init(destination: FilePath, path: RelativePath = .root) {
        self.destination = destination
        self.path = path
    }

    mutating func count(_ action: RestoreAction) {
        switch action.kind {
        case .create: created += 1
        case .replace: replaced += 1
        case .metadata: metadata += 1
        case .delete: deleted += 1
        }
        bytesWritten += action.bytes
    }

    private static let warningsLimit = 100

    mutating func warn(_ text: String) {
        warningCount += 1
        if warnings.count < RestoreResult.warningsLimit { warnings.append(text) }
    }
}
