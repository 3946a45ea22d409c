// What a capture is asked for and what it gives.

public import ArchiveFormat
public import ArchiveStorage
public import Exclusions
package import FileIO
package import FileWatching

/// How a root is to be captured.
public struct CaptureOptions: Sendable {
    /// Why the capture is made; recorded in the snapshot.
    public var cause: Cause
    /// The user's name for the snapshot.
    public var label: String?
    /// What is left out; nil for what the root's snapshots have left out so far.
    ///
    /// Where it is something else, the snapshot is marked as made aside: what the root is captured with stays as it was.
    public var exclusions: ExclusionRules?
    /// Whether `exclusions` are what the root is captured with from now on.
    public var setsExclusions: Bool

    public init(
        cause: Cause = .capture, label: String? = nil, exclusions: ExclusionRules? = nil,
        setsExclusions: Bool = false
    ) {
        self.cause = cause
        self.label = label
        self.exclusions = exclusions
        self.setsExclusions = setsExclusions
    }
}

/// What a capture did.
public struct CaptureResult: Sendable {
    /// The new snapshot; nil where nothing had changed.
    public let snapshot: ListedSnapshot?
    /// The root's latest snapshot: the new one, or the one that still holds.
    public let latest: ListedSnapshot
    /// The first paths that differ from the snapshot before, in walk order.
    public let changedPaths: [ChangedPath]
    /// The first paths that could not be captured as they are, in walk order.
    public let problems: [Problem]
    /// How many paths could not be captured as they are.
    public let problemCount: Int
    /// Where there are directories whose time changed, which is no reason for a snapshot but belongs into the next.
    package var deferred: [PathRange]
    /// The tree with what was found: that of `latest`, but for signatures where a restore is to follow.
    package let tree: ChunkID
    /// When everything had been looked at that is in `latest`: what changed before that and is not in it was missed.
    package let lookedUntil: Timestamp
}

extension CaptureResult {
    /// The result of this capture and of `next`, which looked again where this one had problems, or everywhere.
    package func followed(by next: CaptureResult) -> CaptureResult {
        CaptureResult(
            snapshot: next.snapshot ?? snapshot, latest: next.latest, changedPaths: changedPaths,
            problems: next.problems, problemCount: next.problemCount, deferred: deferred + next.deferred,
            tree: next.tree, lookedUntil: next.lookedUntil)
    }
}
