// The gaps of an archive: spans in which changes may have been seen late.

public import ArchiveFormat
internal import ArchiveStorage
public import FileIO
public import Roots
internal import SystemPackage

extension Archive {
    /// The gaps, ordered by time: spans in which changes may have been seen late.
    ///
    /// - Parameters:
    ///   - root: only gaps of this root; nil for all roots.
    ///   - since: only gaps that ended at or after this instant.
    ///   - until: only gaps that began at or before this instant.
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func gaps(
        of root: ArchivedRoot? = nil, since: Timestamp? = nil, until: Timestamp? = nil
    ) throws(ArchiverError) -> [GapRecord] {
        try facing {
            var number: Int64?
            if let root {
                number = try self.number(of: root)
                if number == nil { return [] }
            }
            return try store.catalogue.gaps(root: number, since: since, until: until)
        }
    }

    /// The gaps between the snapshots that `query` selects, without its limit.
    ///
    /// A gap belongs to the first snapshot of its root made after it. A gap with no snapshot before it is left out. The
    /// gaps of one snapshot are ordered by their ends.
    package func gapsBetweenSnapshots(
        _ query: SnapshotQuery = SnapshotQuery()
    ) throws(ArchiverError) -> [SnapshotID: [GapRecord]] {
        try facing {
            guard let filter = try filter(query) else { return [:] }
            var found: [SnapshotID: [GapRecord]] = [:]
            var latest: [ArchivedRoot: ListedSnapshot] = [:]
            var starts: [ArchivedRoot: Timestamp?] = [:]
            // Gaps are in the order of their ends: if a root has no snapshot after one, it has none after later ones.
            var ended: Set<ArchivedRoot> = []
            for gap in try gaps(of: query.root, since: query.since, until: query.until).sorted(by: { $0.end < $1.end })
            {
                let root = ArchivedRoot(path: FilePath(bytes: gap.rootPath), machine: gap.machine, host: gap.host)
                if ended.contains(root) { continue }
                // Consecutive gaps often have the same next snapshot.
                if let next = latest[root], next.time >= gap.end {
                    found[next.id]?.append(gap)
                    continue
                }
                let start: Timestamp?
                if let known = starts[root] { start = known } else { start = try self.start(of: root, among: filter) }
                starts[root] = start
                guard let start, start < gap.end else { continue }
                guard let next = try snapshot(after: gap, of: root, among: filter) else {
                    ended.insert(root)
                    continue
                }
                found[next.id] = [gap]
                latest[root] = next
            }
            return found
        }
    }

    /// The time of the first listed snapshot of a root; nil if there is none.
    private func start(of root: ArchivedRoot, among listed: Catalogue.SnapshotFilter) throws -> Timestamp? {
        guard let number = try number(of: root) else { return nil }
        var filter = listed
        (filter.owner, filter.isByTime, filter.limit, filter.newestFirst) = (number, true, 1, false)
        return try store.catalogue.snapshots(filter).first?.time
    }

    /// The first listed snapshot made after `gap`; nil if there is none.
    private func snapshot(
        after gap: GapRecord, of root: ArchivedRoot, among listed: Catalogue.SnapshotFilter
    ) throws -> ListedSnapshot? {
        guard let number = try number(of: root) else { return nil }
        var filter = listed
        (filter.owner, filter.isByTime, filter.limit, filter.newestFirst) = (number, true, 1, false)
        filter.since = max(listed.since ?? gap.end, gap.end)
        return try store.catalogue.snapshots(filter).first
    }
}
