// What the last check of an archive found, and when the bytes of each segment were last read.

package import ArchiveStorage
public import FileIO

/// Which bytes a check reads and verifies.
public enum CheckedData: Sendable, Hashable, ExpressibleByBooleanLiteral {
    /// Only the structure, and the files' metadata.
    case none
    /// Also an eighth of all bytes: the segments whose last verification is the longest ago. Eight such checks verify
    /// everything.
    case part
    /// Every byte.
    case all

    public init(booleanLiteral value: Bool) {
        self = value ? .all : .none
    }
}

/// What the last check of an archive found.
///
/// A copy of an archive has the notice of its original until it is checked.
public struct CheckNotice: Sendable, Codable {
    /// When the check ended.
    public let time: Timestamp
    /// How many faults it found.
    public let findingCount: Int
    /// When the bytes of each segment were last read and verified, by its path and length: one that has grown since has
    /// bytes that never were.
    let verified: [String: Timestamp]
    /// When the bytes verified the longest ago were verified; nil if some never were.
    public let verifiedSince: Timestamp?

    /// Checks of a part that verify everything.
    private static let parts = 8

    private static func file(_ layout: ArchiveLayout) -> JSONFile<CheckNotice> {
        JSONFile(
            layout.settings.appending("checked.json"), "it says what the last check found", byteLimit: 64 << 20)
    }

    private static func key(_ segment: ListedSegment) -> String { "\(segment.path) \(segment.indexedLength)" }

    package static func read(_ layout: ArchiveLayout) -> CheckNotice? {
        try? file(layout).read()
    }

    /// The numbers of those of `segments` whose bytes a check of `data` reads.
    static func numbers(of segments: [ListedSegment], reading data: CheckedData, _ layout: ArchiveLayout) -> Set<Int64>
    {
        switch data {
        case .none: return []
        case .all: return Set(segments.map(\.number))
        case .part:
            let verified = read(layout)?.verified ?? [:]
            let bytes = segments.reduce(0) { $0 + $1.indexedLength }
            var (numbers, sum) = (Set<Int64>(), 0)
            let oldestFirst = segments.map { (segment: $0, time: verified[key($0)]) }.sorted { one, other in
                guard let time = one.time else { return other.time != nil }
                return other.time.map { time < $0 } ?? false
            }
            for (segment, _) in oldestFirst where sum * parts < bytes {
                numbers.insert(segment.number)
                sum += segment.indexedLength
            }
            return numbers
        }
    }

    /// Stores what a check found; if that fails, `status` says less, and the next check of a part reads the same again.
    ///
    /// - Parameters:
    ///   - segments: the segments that were checked.
    ///   - read: the numbers of those whose bytes were read.
    static func write(
        _ result: CheckResult, of segments: [ListedSegment], read: Set<Int64>, _ layout: ArchiveLayout,
        at time: Timestamp = .now
    ) {
        let before = CheckNotice.read(layout)?.verified ?? [:]
        var verified: [String: Timestamp] = [:]
        for segment in segments {
            verified[key(segment)] = read.contains(segment.number) ? time : before[key(segment)]
        }
        let isComplete = verified.count == segments.count
        let notice = CheckNotice(
            time: time, findingCount: result.findingCount, verified: verified,
            verifiedSince: isComplete ? verified.values.min() : nil)
        try? file(layout).write(notice)
    }
}
