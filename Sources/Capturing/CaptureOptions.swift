// The options and the result of a capture.

public import ArchiveFormat
public import ArchiveStorage
public import Exclusions
package import FileIO
package import FileWatching
public import Roots

/// How to capture a root.
public struct CaptureOptions: Sendable {
    /// The cause of the capture; recorded in the snapshot.
    public var cause: Cause
    /// The user's name for the snapshot.
    public var label: String?
    /// The exclusions; nil for those of the root's snapshots so far.
    ///
    /// If they differ from those, and `setsExclusions` is false, the snapshot is marked as captured aside, and the root's
    /// exclusions stay unchanged.
    public var exclusions: ExclusionRules?
    /// The exclusions of a root without snapshots, if `exclusions` is nil.
    public var newRootExclusions = ExclusionRules()
    /// Whether `exclusions` become the root's exclusions for later captures.
    public var setsExclusions: Bool

    /// Options; nil rules are those of the root's snapshots so far.
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
    /// The new snapshot; nil if nothing had changed.
    public let snapshot: ListedSnapshot?
    /// The root's latest snapshot: the new one, or the earlier one if nothing had changed.
    public let latest: ListedSnapshot
    /// The snapshot before the new one, if its time is later: a clock was or is wrong.
    public let laterPrevious: ListedSnapshot?
    /// The root that this one continues or may be related to, if this is its first capture.
    public package(set) var related: RelatedRoot?
    /// The first paths that differ from the previous snapshot, in walk order.
    public let changedPaths: [ChangedPath]
    /// The first paths that could not be captured as they are, in walk order.
    public let problems: [Problem]
    /// How many paths could not be captured as they are.
    public let problemCount: Int
    /// Places for the next capture, mainly directories of which only the time changed: that alone makes no snapshot.
    package var deferred: [PathRange]
    /// The tree that was found: that of `latest`, but with fresh signatures if a restore follows.
    package let tree: ChunkID
    /// When the scan of everything in `latest` had ended: an earlier change that is not in it was missed.
    package let scannedUntil: Timestamp
}

extension CaptureResult {
    /// The combined result of this capture and of `next`, which rescanned the places with problems, or everything.
    package func followed(by next: CaptureResult) -> CaptureResult {
        CaptureResult(
            snapshot: next.snapshot ?? snapshot, latest: next.latest,
            laterPrevious: laterPrevious ?? next.laterPrevious, changedPaths: changedPaths, problems: next.problems,
            problemCount: next.problemCount, deferred: deferred + next.deferred, tree: next.tree,
            scannedUntil: next.scannedUntil)
    }
}
