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
    /// The root that the caller means, of which the snapshot must be; only for a restore in place.
    ///
    /// nil means the snapshot's own, which then must be one of this machine.
    public var root: FilePath?
    /// Whether only to tell what would be done.
    public var isDryRun: Bool
    /// What ends the restore early.
    public var interruption: RestoreInterruption?

    public init(
        path: RelativePath = .root, target: FilePath? = nil, root: FilePath? = nil, isDryRun: Bool = false,
        interruption: RestoreInterruption? = nil
    ) {
        self.path = path
        self.target = target
        self.root = root
        self.isDryRun = isDryRun
        self.interruption = interruption
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
    public package(set) var created = 0
    public package(set) var replaced = 0
    public package(set) var metadata = 0
    public package(set) var deleted = 0
    /// Paths left as they are because they changed while the restore ran.
    public package(set) var skipped = 0
    /// Paths left as they are because they are left out of snapshots.
    public package(set) var leftOut = 0
    /// Bytes of content written.
    public package(set) var bytesWritten: UInt64 = 0
    /// Paths that could not be restored; those below a directory that could not be are counted with it.
    public package(set) var failed = 0
    /// The first paths that could not be restored, each with what to do about it.
    public package(set) var problems: [RestoreProblem] = []
    /// How many there were to be named.
    public package(set) var problemCount = 0
    /// Whether bytes of the archive were found to be damaged or missing.
    public package(set) var hasDamage = false
    /// Whether something failed for another reason than damage, so that doing it again may help.
    private(set) var isWorthRepeating = false
    /// Whether the restore was ended early.
    public package(set) var isInterrupted = false
    /// The first things that the user should know, problems among them, each as a sentence.
    public package(set) var warnings: [String] = []
    /// How many there were.
    public package(set) var warningCount = 0
    /// The snapshot of the state before a restore in place; nil where the latest snapshot held it already, and for a
    /// dry run or a restore elsewhere.
    public package(set) var before: ListedSnapshot?
    /// The root's latest snapshot before a restore in place: what brings the state before back.
    public package(set) var undo: ListedSnapshot?
    /// What the root's operation log calls a restore in place; nil where nothing was to be done.
    public package(set) var operation: OperationID?
    /// The directory that was restored to.
    public package(set) var destination: FilePath
    /// The part of the snapshot that was restored.
    public package(set) var path: RelativePath

    package init(destination: FilePath, path: RelativePath = .root) {
        self.destination = destination
        self.path = path
    }

    /// Whether everything was restored that was to be.
    public var isComplete: Bool { failed == 0 && problemCount == 0 && !isInterrupted }

    package mutating func count(_ kind: RestoreAction.Kind, bytes: UInt64 = 0) {
        switch kind {
        case .create: created += 1
        case .replace: replaced += 1
        case .metadata: metadata += 1
        case .delete: deleted += 1
        }
        bytesWritten = bytesWritten.addingSaturating(bytes)
    }

    private static let warningsLimit = 1000

    package mutating func add(_ problem: RestoreProblem) {
        problemCount += 1
        if problem.isDamage { hasDamage = true } else { isWorthRepeating = true }
        if problems.count < RestoreResult.warningsLimit { problems.append(problem) }
        warn(problem.text)
    }

    package mutating func warn(_ text: String) {
        warningCount += 1
        if warnings.count < RestoreResult.warningsLimit { warnings.append(text) }
    }
}

extension UInt64 {
    /// The sum, or the greatest number where that is greater still: what an archive says may be anything.
    package func addingSaturating(_ other: UInt64) -> UInt64 {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? .max : sum
    }
}
