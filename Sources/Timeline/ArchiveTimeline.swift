// A root's snapshots as the moments of a timeline.

internal import ArchiveFormat
public import ArchiveStorage
public import ArchiverKit
public import FileIO
internal import Locking

extension ListedSnapshot: TimelineMoment {}

/// Adapts an archive to what a view of a history asks.
///
/// Safe to use from several threads.
public final class ArchiveTimeline: TimelineDataSource {
    public let archive: Archive
    public let root: ArchivedRoot
    private let known = Locked<(activity: TimelineActivity, last: ListedSnapshot?)>((TimelineActivity(), nil))

    public init(_ archive: Archive, root: ArchivedRoot) {
        self.archive = archive
        self.root = root
    }

    public func span() throws -> TimelineSpan? {
        let oldest = try archive.snapshots(SnapshotQuery(root: root, limit: 1)).first
        let newest = try archive.snapshots(SnapshotQuery(root: root, newestFirst: true, limit: 1)).first
        guard let oldest, let newest else { return nil }
        let count = try archive.snapshotCount(SnapshotQuery(root: root))
        // A clock that was set back puts a later moment before an earlier one.
        return TimelineSpan(first: min(oldest.time, newest.time), last: max(oldest.time, newest.time), count: count)
    }

    public func buckets(from start: Timestamp, to end: Timestamp, limit: Int) throws -> TimelineBuckets {
        guard start <= end, limit > 0 else { return TimelineBuckets(milliseconds: 1, buckets: []) }
        let begin = start.milliseconds
        let whole = max(1, end.milliseconds.subtractingReportingOverflow(begin).partialValue)
        let length = (whole + Int64(limit) - 1) / Int64(limit)
        var sums: [Int64: TimelineActivity.Sums] = [:]
        let add = { (milliseconds: Int64, more: TimelineActivity.Sums) in
            let index = (max(begin, milliseconds) - begin) / length
            sums[min(index, Int64(limit) - 1), default: .init()].add(more)
        }
        if length < TimelineActivity.minuteSeconds * 1000 {
            try archive.forEachSnapshot(SnapshotQuery(root: root, since: start, until: end)) {
                add($0.time.milliseconds, .init(moments: 1, changes: $0.changes, storedBytes: $0.storedBytes))
                return true
            }
        } else {
            let last = end.seconds.addingReportingOverflow(1).partialValue
            try activity().forEach(from: start.seconds, below: last) { add($0 * 1000, $1) }
        }
        let buckets = sums.sorted { $0.key < $1.key }.map { index, sums in
            TimelineBucket(
                start: Timestamp(milliseconds: begin + index * length), moments: sums.moments, changes: sums.changes,
                storedBytes: sums.storedBytes)
        }
        return TimelineBuckets(milliseconds: length, buckets: buckets)
    }

    public func moment(at time: Timestamp) throws -> ListedSnapshot? {
        try archive.snapshot(of: root, at: time) ?? archive.snapshots(SnapshotQuery(root: root, limit: 1)).first
    }

    public func moments(_ place: TimelinePlace<ListedSnapshot>, limit: Int) throws -> [ListedSnapshot] {
        switch place {
        case .end: try archive.snapshots(SnapshotQuery(root: root, newestFirst: true, limit: limit)).reversed()
        case .before(let moment): try archive.neighbours(of: moment, isLater: false, limit: limit).reversed()
        case .after(let moment): try archive.neighbours(of: moment, isLater: true, limit: limit)
        }
    }

    /// What happened in each minute, as of now.
    private func activity() throws -> TimelineActivity {
        let count = try archive.snapshotCount(SnapshotQuery(root: root))
        return try known.withLock { known in
            if let last = known.last, known.activity.count < count {
                while true {
                    let more = try archive.neighbours(of: known.last ?? last, isLater: true, limit: 4096)
                    for snapshot in more { ArchiveTimeline.add(snapshot, to: &known) }
                    if more.count < 4096 { break }
                }
            }
            // Some were forgotten, or this is the first question.
            if known.activity.count != count {
                known = (TimelineActivity(), nil)
                try archive.forEachSnapshot(SnapshotQuery(root: root)) {
                    ArchiveTimeline.add($0, to: &known)
                    return true
                }
            }
            return known.activity
        }
    }

    private static func add(
        _ snapshot: ListedSnapshot, to known: inout (activity: TimelineActivity, last: ListedSnapshot?)
    ) {
        known.activity.add(snapshot.time, snapshot.changes, storedBytes: snapshot.storedBytes)
        known.last = snapshot
    }
}
