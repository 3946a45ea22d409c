// What removing something from all history came to.

public import ArchiveFormat
public import FileIO
public import SystemPackage

/// What a purge did, or would do.
public struct PurgeResult: Sendable {
    /// Whether nothing was changed.
    public let isDryRun: Bool
    /// The names that were found, and in how many snapshots each, by path.
    public internal(set) var names: [(path: RelativePath, snapshots: Int)] = []
    /// The snapshots that had something of it or told of it, and what stands in the place of each; of a dry run, itself.
    public internal(set) var replaced: [SnapshotID: SnapshotID] = [:]
    /// How many of those an earlier call had replaced, which ended too soon.
    public internal(set) var earlier = 0
    /// How many saved states were removed.
    public internal(set) var states = 0
    /// How many forgotten snapshots and states were removed, which cannot be brought back any more.
    public internal(set) var forgotten = 0
    /// How many records of operations were removed, as they were about nothing else.
    public internal(set) var operations = 0
    /// The segments before, by their paths in the archive.
    public internal(set) var segmentsBefore: [String] = []
    /// The segments afterwards.
    public internal(set) var segmentsAfter: [String] = []
    /// Bytes of the segments before and afterwards.
    public internal(set) var bytesBefore: UInt64 = 0
    public internal(set) var bytesAfter: UInt64 = 0
    /// What the look at every byte of the archive afterwards found; nil of a dry run.
    public internal(set) var verification: Verification?
    /// Where all this is written down; nil of a dry run.
    public internal(set) var certificate: FilePath?
    /// Where the root has it still: the next capture takes it again.
    public internal(set) var stillThere: [FilePath] = []

    /// What the look at every byte of an archive found.
    public struct Verification: Sendable, Hashable {
        public internal(set) var blocks = 0
        public internal(set) var chunks = 0
        /// What is still there, or could not be looked at, each as a sentence.
        public internal(set) var findings: [String] = []
    }

    /// Whether nothing of it is left in the archive.
    public var isComplete: Bool { verification?.findings.isEmpty ?? false }

    /// What nobody can reach from here.
    public static let beyondReach = [
        "copies of the archive, and of what was restored from it",
        "what the disk keeps of blocks that were written to before: a solid-state disk has spare ones",
    ]

    init(isDryRun: Bool) { self.isDryRun = isDryRun }
}
