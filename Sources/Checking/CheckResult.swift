// The result of a check of an archive.

public import ArchiveFormat
public import FileIO

/// A fault in an archive.
public struct CheckFinding: Sendable, Hashable {
    /// A sentence without a full stop that names the segment, block, snapshot or path.
    public let message: String
    /// The first snapshot concerned; nil if there is none or it is unknown.
    public let snapshot: SnapshotID?
    /// The path concerned in the snapshot.
    public let path: RelativePath?
    /// What the user can do about it.
    public let remedy: String?
}

extension CheckFinding: CustomStringConvertible {
    public var description: String { message }
}

/// What a check of an archive covered, and its findings.
public struct CheckResult: Sendable {
    /// Segments that were read.
    public internal(set) var segments = 0
    /// Blocks in them.
    public internal(set) var blocks = 0
    /// Chunks in them.
    public internal(set) var chunks = 0
    /// Listed snapshots that were examined.
    public internal(set) var snapshots = 0
    /// Snapshots without any fault.
    public internal(set) var goodSnapshots = 0
    /// Gaps: spans in which changes may have been missed.
    public internal(set) var gaps = 0
    /// Saved states of programs.
    public internal(set) var states = 0
    /// Records of operations.
    public internal(set) var operations = 0
    /// Bytes read from segments.
    public internal(set) var bytesRead: UInt64 = 0
    /// The first findings; empty if the archive has no fault.
    public internal(set) var findings: [CheckFinding] = []
    /// The number of all findings.
    public internal(set) var findingCount = 0
    /// What is unusual but does no harm, each a sentence: files that are no segments.
    public internal(set) var warnings: [String] = []
    /// The first damaged copies of chunks that have another, readable copy: nothing is lost.
    public internal(set) var spareDamage: [String] = []
    /// The number of all such copies.
    public internal(set) var spareDamageCount = 0
}
