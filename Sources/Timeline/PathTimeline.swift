// The versions of a path as the moments of a timeline.

public import ArchiveFormat
public import ArchiveStorage
public import ArchiverKit
public import FileIO

/// A version of a file or of a directory.
public struct PathMoment: TimelineMoment, Hashable {
    /// The first snapshot with this version.
    public let snapshot: ListedSnapshot
    /// Its path at that time.
    public let path: RelativePath
    /// The changes that it made.
    public let changes: ChangeCounts
    /// The version of a file; nil for a directory.
    public let version: PathVersion?

    public var id: SnapshotID { snapshot.id }
    public var time: Timestamp { snapshot.time }

    fileprivate init(_ version: PathVersion) {
        (snapshot, path, self.version) = (version.snapshot, version.path, version)
        changes = version.change == .added ? ChangeCounts(added: 1) : ChangeCounts(modified: 1)
    }

    fileprivate init(_ version: DirectoryVersion) {
        (snapshot, path, self.version) = (version.snapshot, version.path, nil)
        changes = version.isFirst ? version.snapshot.changes : version.counts
    }

    /// The moment of a snapshot of a whole root.
    public init(_ snapshot: ListedSnapshot) {
        (self.snapshot, path, changes, version) = (snapshot, .root, snapshot.changes, nil)
    }
}

/// Adapts the versions of a path, across renames, to the queries of a history view.
///
/// Listing earlier versions costs only what is listed. To count versions, or to find later ones, they are read from the
/// latest one back. Snapshots without the path are left out.
public struct PathTimeline: TimelineDataSource {
    /// The archive.
    public let archive: Archive
    /// The root that contains the path.
    public let root: ArchivedRoot
    /// The path whose versions are the moments.
    public let path: RelativePath
    /// Whether the latest version is a directory.
    public let isDirectory: Bool

    /// The least number of versions read per query.
    private static let step = 64

    /// A timeline of `path`.
    ///
    /// - Parameter progress: counts the snapshots that have to be compared first.
    public init(_ archive: Archive, root: ArchivedRoot, path: RelativePath, progress: OperationProgress? = nil) throws {
        (self.archive, self.root, self.path) = (archive, root, path)
        let latest = try archive.history(of: path, in: root, HistoryQuery(limit: 1), progress: progress).first
        isDirectory = latest?.kind == .directory
    }

    public func span() throws -> TimelineSpan? {
        var (first, last, count) = (Timestamp?.none, Timestamp?.none, 0)
        try forEachMoment {
            first = min(first ?? $0.time, $0.time)
            last = max(last ?? $0.time, $0.time)
            count += 1
            return true
        }
        guard let first, let last else { return nil }
        return TimelineSpan(first: first, last: last, count: count)
    }

    public func buckets(from start: Timestamp, to end: Timestamp, limit: Int) throws -> TimelineBuckets {
        var sums = BucketSums(from: start, to: end, limit: limit)
        try forEachMoment {
            if start <= $0.time, $0.time <= end { sums.add($0.time, .init(moments: 1, changes: $0.changes)) }
            return true
        }
        return sums.buckets
    }

    public func moment(at time: Timestamp) throws -> PathMoment? {
        var found: PathMoment?
        try forEachMoment {
            found = $0
            return $0.time > time
        }
        return found
    }

    public func moments(_ place: TimelinePlace<PathMoment>, limit: Int) throws -> [PathMoment] {
        switch place {
        case .end: return try earlier(than: nil, limit).reversed()
        case .before(let moment): return try earlier(than: moment, limit).reversed()
        case .after(let moment):
            var later: [PathMoment] = []
            try forEachMoment {
                if $0.id == moment.id { return false }
                later.append($0)
                if later.count > limit { later.removeFirst() }
                return true
            }
            return later.reversed()
        }
    }

    /// Calls `body` with the versions, the latest first, until it returns false.
    private func forEachMoment(_ body: (PathMoment) -> Bool) throws {
        var last: PathMoment?
        while true {
            let page = try earlier(than: last, PathTimeline.step)
            for moment in page where !body(moment) { return }
            if page.count < PathTimeline.step { return }
            last = page.last
        }
    }

    /// Returns the versions right before `moment`, the latest first.
    private func earlier(than moment: PathMoment?, _ limit: Int) throws -> [PathMoment] {
        var found: [PathMoment] = []
        var (path, end) = (moment?.path ?? path, moment?.snapshot)
        while found.count < limit {
            // The first version is that of the snapshot `end` itself.
            let count = max(limit, PathTimeline.step) + 1
            let page = try versions(of: path, HistoryQuery(limit: count, through: end))
            found += page.filter { $0.snapshot.id != end?.id && $0.version?.isPresent ?? true }
            guard let last = page.last, page.count == count else { break }
            (path, end) = (last.path, last.snapshot)
        }
        return Array(found.prefix(limit))
    }

    /// Returns versions, those without the path included.
    private func versions(of path: RelativePath, _ query: HistoryQuery) throws -> [PathMoment] {
        isDirectory
            ? try archive.history(ofDirectory: path, in: root, query).map(PathMoment.init)
            : try archive.history(of: path, in: root, query).map(PathMoment.init)
    }
}
