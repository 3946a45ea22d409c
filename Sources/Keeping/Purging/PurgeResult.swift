// The result of a purge.

public import ArchiveFormat
public import FileIO
public import SystemPackage

/// What a purge did, or would do.
public struct PurgeResult: Sendable {
    /// Whether nothing was changed.
    public let isDryRun: Bool
    /// The names found, with the number of snapshots that have each, by path.
    public internal(set) var names: [(path: RelativePath, snapshots: Int)] = []
    /// The replacement of each snapshot that had or named the target; in a dry run, the snapshot itself.
    public internal(set) var replaced: [SnapshotID: SnapshotID] = [:]
    /// How many of those an interrupted earlier call had replaced.
    public internal(set) var earlier = 0
    /// How many saved states were removed.
    public internal(set) var states = 0
    /// How many forgotten snapshots and states were removed for good.
    public internal(set) var forgotten = 0
    /// How many labels, notes, marks, runs, reasons of pins and details of gaps with the purged text were removed.
    public internal(set) var records = 0
    /// How many records of operations on the target alone were removed.
    public internal(set) var operations = 0
    /// The paths of the segments in the archive, before.
    public internal(set) var segmentsBefore: [String] = []
    /// The paths of the segments in the archive, afterwards.
    public internal(set) var segmentsAfter: [String] = []
    /// Bytes of the segments before and afterwards.
    public internal(set) var bytesBefore: UInt64 = 0
    /// The archive's size after the purge, in bytes.
    public internal(set) var bytesAfter: UInt64 = 0
    /// The verification of every byte of the archive afterwards; nil in a dry run.
    public internal(set) var verification: Verification?
    /// The certificate's path; nil in a dry run.
    public internal(set) var certificate: FilePath?
    /// The first paths of the target that a root still has: the next capture captures them again.
    public internal(set) var stillThere: [FilePath] = []

    /// The result of verifying every byte of an archive.
    public struct Verification: Sendable, Hashable {
        /// Blocks that were unpacked to verify the result.
        public internal(set) var blocks = 0
        /// Chunks in them.
        public internal(set) var chunks = 0
        /// What is still there or could not be read, each as a sentence.
        public internal(set) var findings: [String] = []
    }

    /// Whether nothing of the target is left in the archive.
    public var isComplete: Bool { verification?.findings.isEmpty ?? false }

    /// What a purge cannot remove.
    public static let beyondReach = [
        "copies of the archive, and files restored from it",
        "old data in disk blocks that were reused or remapped, as on a solid-state disk",
    ]

    init(isDryRun: Bool) { self.isDryRun = isDryRun }
}
