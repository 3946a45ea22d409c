// A root's snapshots as the moments of a timeline.

internal import ArchiveFormat
public import ArchiveStorage
public import ArchiverKit
public import FileIO
internal import Threading

extension ListedSnapshot: TimelineMoment {}

/// Adapts a root of an archive to the queries of a history view.
///
/// Safe to use from several threads.
public final class ArchiveTimeline: TimelineDataSource {
    /// The archive.
    public let archive: Archive
    /// The root whose snapshots are the moments.
    public let root: ArchivedRoot
    private let known = Locked(Known())

    /// The facts gathered so far.
    private struct Known {
        var activity = TimelineActivity()
        /// The oldest first.
        var sessions: [WorkSession] = []
        var last: ListedSnapshot? { sessions.last?.last }
        /// The archive's change number at that time; nil before the first query.
        var number: ChangeNumber?
        /// When to check next whether snapshots were forgotten.
        var counting = ContinuousClock.now

        mutating func add(_ snapshot: ListedSnapshot) {
            activity.add(snapshot.time, snapshot.changes, storedBytes: snapshot.storedBytes)
            if sessions.isEmpty || !sessions[sessions.count - 1].add(snapshot) {
                sessions.append(WorkSession(snapshot, after: last))
            }
        }
    }

    /// The shortest pause between two counts of all snapshots, which take long in an archive of a million.
    private let countingInterval: Duration
    /// Snapshots that are read per query.
    private static let step = 4096
    private static let shortStep = 256

    /// The snapshots of `root`.
    public convenience init(_ archive: Archive, root: ArchivedRoot) {
        self.init(archive, root: root, countingInterval: .seconds(10))
    }

    init(_ archive: Archive, root: ArchivedRoot, countingInterval: Duration) {
        self.archive = archive
        self.root = root
        self.countingInterval = countingInterval
    }

    public func span() throws -> TimelineSpan? {
        let oldest = try archive.snapshots(SnapshotQuery(root: root, limit: 1)).first
        let newest = try archive.snapshots(SnapshotQuery(root: root, newestFirst: true, limit: 1)).first
        guard let oldest, let newest else { return nil }
        let count = try current().activity.count
        // If the clock was set back, a later moment has an earlier time.
        return TimelineSpan(first: min(oldest.time, newest.time), last: max(oldest.time, newest.time), count: count)
    }

    public func buckets(from start: Timestamp, to end: Timestamp, limit: Int) throws -> TimelineBuckets {
        guard start <= end, limit > 0 else { return TimelineBuckets(milliseconds: 1, buckets: []) }
        var sums = BucketSums(from: start, to: end, limit: limit)
        if sums.milliseconds < TimelineActivity.minuteSeconds * 1000 {
            try forEachMoment(from: start, to: end) {
                sums.add($0.time, .init(moments: 1, changes: $0.changes, storedBytes: $0.storedBytes))
            }
        } else {
            let last = end.seconds.addingReportingOverflow(1).partialValue
            try current().activity.forEach(from: start.seconds, below: last) {
                sums.add(Timestamp(seconds: $0), $1)
            }
        }
        return sums.buckets
    }

    /// Returns the bursts of work that overlap a span, the oldest first.
    public func sessions(from start: Timestamp, to end: Timestamp) throws -> [WorkSession] {
        try current().sessions.filter { $0.last.time >= start && $0.first.time <= end }
    }

    /// Returns what happened on each day (in UTC) that has moments, the first day first.
    package func days() throws -> [TimelineBucket] {
        let step = TimelineActivity.daySeconds
        var days: [(start: Int64, sums: TimelineActivity.Sums)] = []
        try current().activity.forEach(from: .min, below: .max) { minute, sums in
            let day = TimelineActivity.floor(minute, step)
            if days.last?.start != day { days.append((day, TimelineActivity.Sums())) }
            days[days.count - 1].sums.add(sums)
        }
        return days.map { start, sums in
            TimelineBucket(
                start: Timestamp(seconds: start), moments: sums.moments, changes: sums.changes,
                storedBytes: sums.storedBytes)
        }
    }

    /// Gathers now what the other queries need, so that they need not wait.
    public func prepare() throws { _ = try current() }

    /// Makes the next query look for forgotten snapshots.
    package func recount() {
        known.withLock { known in
            (known.counting, known.number) = (.now, nil)
        }
    }

    /// Calls `body` with the moments of a short span, found by its start.
    private func forEachMoment(from start: Timestamp, to end: Timestamp, _ body: (ListedSnapshot) -> Void) throws {
        // If a clock was wrong, the moments of a span are not side by side.
        guard try archive.isOrderedByTime(root) else {
            return try archive.forEachSnapshot(SnapshotQuery(root: root, since: start, until: end)) {
                body($0)
                return true
            }
        }
        guard var last = try moment(at: start) else { return }
        if last.time >= start, last.time <= end { body(last) }
        while true {
            let next = try archive.neighbours(of: last, isLater: true, limit: ArchiveTimeline.shortStep)
            for moment in next {
                if moment.time > end { return }
                body(moment)
            }
            guard let moment = next.last, next.count == ArchiveTimeline.shortStep else { return }
            last = moment
        }
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

    /// Returns the facts as of now.
    private func current() throws -> Known {
        try known.withLock { known in
            let number = try archive.changeNumber()
            if known.number == number { return known }
            while let last = known.last {
                let more = try archive.neighbours(of: last, isLater: true, limit: ArchiveTimeline.step)
                for snapshot in more { known.add(snapshot) }
                if more.count < ArchiveTimeline.step { break }
            }
            if known.last == nil { try readAll(&known) }
            // Forgotten snapshots may be shown a little longer; a later query checks again.
            guard known.counting <= .now else { return known }
            if try archive.snapshotCount(SnapshotQuery(root: root)) != known.activity.count { try readAll(&known) }
            known.counting = .now + countingInterval
            known.number = number
            return known
        }
    }

    private func readAll(_ known: inout Known) throws {
        known = Known()
        try archive.forEachSnapshot(SnapshotQuery(root: root)) {
            known.add($0)
            return true
        }
    }
}
