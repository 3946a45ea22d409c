// The options and the result of a restore.

public import ArchiveFormat
public import ArchiveStorage
public import FileIO
public import SystemPackage

/// What to restore, and where.
public struct RestoreOptions: Sendable {
    /// The path in the snapshot to restore, with everything below it.
    public var path: RelativePath
    /// The target: a missing or empty directory; nil to restore in place, at the snapshot's own root.
    ///
    /// The content of a directory is restored into the target itself; anything else gets its own name in it.
    public var target: FilePath?
    /// Whether the target is a new name for the restored object, which is not a directory.
    public var targetIsFile: Bool
    /// The root to restore, which the snapshot must belong to; only for a restore in place.
    ///
    /// nil means the snapshot's own root, which must be on this machine.
    public var root: FilePath?
    /// Whether directories in which version control systems keep their history (`.git`, `.hg`, `.jj`) are not touched.
    public var leavesRepositories: Bool
    /// Whether only to report what the restore would do.
    public var isDryRun: Bool
    /// Ends the restore early.
    public var interruption: RestoreInterruption?

    /// Options; by default, a restore of the whole root in place.
    public init(
        path: RelativePath = .root, target: FilePath? = nil, targetIsFile: Bool = false, root: FilePath? = nil,
        isDryRun: Bool = false, leavesRepositories: Bool = false, interruption: RestoreInterruption? = nil
    ) {
        self.path = path
        self.target = target
        self.targetIsFile = targetIsFile
        self.root = root
        self.isDryRun = isDryRun
        self.leavesRepositories = leavesRepositories
        self.interruption = interruption
    }
}

/// A path, and the snapshot that has its wanted state.
public struct WantedPath: Sendable, Hashable {
    /// The path to restore.
    public let path: RelativePath
    /// The snapshot to restore it from.
    public let snapshot: ListedSnapshot

    /// The path as it is in `snapshot`.
    public init(_ path: RelativePath, in snapshot: ListedSnapshot) {
        self.path = path
        self.snapshot = snapshot
    }
}

/// One action of a restore.
public struct RestoreAction: Sendable, Hashable {
    /// What is done to an entry.
    public enum Kind: String, Sendable {
        /// An object is created at a free path.
        case create
        /// The object at the path is replaced.
        case replace
        /// Only permissions, owner, time or attributes are set.
        case metadata
        /// The object at the path is removed.
        case delete
    }

    /// What is done.
    public let kind: Kind
    /// The path below the destination.
    public let path: RelativePath
    /// The kind of the restored or deleted object.
    public let entryKind: FileKind
    /// Bytes of content to write.
    public let bytes: UInt64
}

/// What a restore did, or would do.
public struct RestoreResult: Sendable {
    /// Entries that did not exist before.
    public package(set) var created = 0
    /// Entries whose content was replaced.
    public package(set) var replaced = 0
    /// Entries of which only times, permissions or owners changed.
    public package(set) var metadataOnly = 0
    /// Entries that were removed.
    public package(set) var deleted = 0
    /// Paths not touched because they changed while the restore ran.
    public package(set) var skipped = 0
    /// Paths not touched because they are excluded from snapshots.
    public package(set) var excluded = 0
    /// Paths not touched because they belong to repositories of version control systems.
    public package(set) var repositories = 0
    /// Bytes of content written.
    public package(set) var bytesWritten: UInt64 = 0
    /// Paths that could not be restored, including those below a failed directory.
    public package(set) var failed = 0
    /// The first problems, each with a remedy.
    public package(set) var problems: [RestoreProblem] = []
    /// The number of all problems.
    public package(set) var problemCount = 0
    /// Whether the restore found damaged or missing bytes in the archive.
    public package(set) var hasDamage = false
    /// Whether a path failed for another reason than damage, so that a retry may help.
    private(set) var isWorthRepeating = false
    /// Whether the restore was ended early.
    public package(set) var isInterrupted = false
    /// The first warnings, including the problems, each as a sentence.
    public package(set) var warnings: [String] = []
    /// The number of all warnings.
    public package(set) var warningCount = 0
    /// The snapshot made before a restore in place.
    ///
    /// nil if the latest snapshot already had that state, and for a dry run or a restore elsewhere.
    public package(set) var before: ListedSnapshot?
    /// The root's latest snapshot before a restore in place; restoring it reverses the restore.
    public package(set) var undo: ListedSnapshot?
    /// The id of a restore in place in the root's operation log; nil if there was nothing to do.
    public package(set) var operation: OperationID?
    /// The directory that was restored to.
    public package(set) var destination: FilePath
    /// The part of the snapshot that was restored.
    public package(set) var path: RelativePath

    package init(destination: FilePath, path: RelativePath = .root) {
        self.destination = destination
        self.path = path
    }

    /// Whether everything requested was restored.
    public var isComplete: Bool { failed == 0 && problemCount == 0 && !isInterrupted }

    package mutating func count(_ kind: RestoreAction.Kind, bytes: UInt64 = 0) {
        switch kind {
        case .create: created += 1
        case .replace: replaced += 1
        case .metadata: metadataOnly += 1
        case .delete: deleted += 1
        }
        bytesWritten = bytesWritten.addingSaturating(bytes)
    }

    /// Adds the result of another part of the same restore.
    mutating func add(_ other: RestoreResult) {
        created += other.created
        replaced += other.replaced
        metadataOnly += other.metadataOnly
        deleted += other.deleted
        skipped += other.skipped
        bytesWritten = bytesWritten.addingSaturating(other.bytesWritten)
        failed += other.failed
        problems += other.problems.prefix(
            RestoreResult.warningsLimit - min(problems.count, RestoreResult.warningsLimit))
        problemCount += other.problemCount
        hasDamage = hasDamage || other.hasDamage
        isWorthRepeating = isWorthRepeating || other.isWorthRepeating
        isInterrupted = isInterrupted || other.isInterrupted
        warnings += other.warnings.prefix(
            RestoreResult.warningsLimit - min(warnings.count, RestoreResult.warningsLimit))
        warningCount += other.warningCount
    }

    /// Adds the paths that a part of the restore leaves alone.
    mutating func add(_ leftAlone: LeftAlone) {
        excluded += leftAlone.excluded
        repositories += leftAlone.repositories
        for remark in leftAlone.remarks { warn(remark) }
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
    /// Returns the sum, or the greatest number if it overflows: an archive may contain any number.
    package func addingSaturating(_ other: UInt64) -> UInt64 {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? .max : sum
    }
}
