// What a check of an archive found.

public import ArchiveFormat
public import FileIO

/// Something in an archive that is not as it should be.
public struct CheckFinding: Sendable, Hashable {
    /// What it is, as a sentence without its full stop that names the segment, block, snapshot or path.
    public let message: String
    /// The first snapshot that it concerns; nil where it is of none, or where that is not known.
    public let snapshot: SnapshotID?
    /// The path in the snapshot that it concerns.
    public let path: RelativePath?
    /// What to do about it.
    public let remedy: String?
}

extension CheckFinding: CustomStringConvertible {
    public var description: String { message }
}

/// What a check of an archive covered and found.
public struct CheckResult: Sendable {
    public internal(set) var segments = 0
    public internal(set) var blocks = 0
    public internal(set) var chunks = 0
    public internal(set) var snapshots = 0
    /// Snapshots of which everything that was checked is there and right.
    public internal(set) var goodSnapshots = 0
    /// Spans in which changes may have been seen late.
    public internal(set) var gaps = 0
    /// Saved states of programs.
    public internal(set) var states = 0
    /// Records of operations.
    public internal(set) var operations = 0
    /// Bytes read from segments.
    public internal(set) var bytesRead: UInt64 = 0
    /// The first findings; empty: all is well.
    public internal(set) var findings: [CheckFinding] = []
    /// How many findings there were.
    public internal(set) var findingCount = 0
    /// The first damaged copies of what other copies give: nothing is lost by them.
    public internal(set) var spareDamage: [String] = []
    /// How many such copies there were.
    public internal(set) var spareDamageCount = 0
}
