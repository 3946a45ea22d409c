// What a check of an archive found.

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
    /// The first findings, each a sentence that names the segment, block, snapshot or path; empty: all is well.
    public internal(set) var findings: [String] = []
    /// How many findings there were.
    public internal(set) var findingCount = 0

    private static let findingsLimit = 1000

    mutating func find(_ text: String) {
        findingCount += 1
        if findings.count < CheckResult.findingsLimit { findings.append(text) }
    }
}
