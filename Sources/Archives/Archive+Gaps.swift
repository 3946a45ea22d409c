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
            for gap in try gaps(of: query.root, since: query.since, until: query.until).sorted(by: { $0.end < $1.end })
            {
                let root = ArchivedRoot(path: FilePath(bytes: gap.rootPath), machine: gap.machine, host: gap.host)
                // Consecutive gaps often have the same next snapshot.
                if let next = latest[root], next.time >= gap.end {
                    found[next.id]?.append(gap)
                } else if let next = try snapshot(after: gap, of: root, among: filter) {
                    found[next.id] = [gap]
                    latest[root] = next
                }
            }
            return found
        }
    }

    /// The first snapshot made after `gap`; nil if no snapshot was made before it.
    private func snapshot(
        after gap: GapRecord, of root: ArchivedRoot, among listed: Catalogue.SnapshotFilter
    ) throws -> ListedSnapshot? {
        guard let number = try number(of: root) else { return nil }
        var filter = listed
        filter.owner = number
        filter.isByTime = true
        filter.limit = 1
        filter.newestFirst = true
        let before = gap.end.advanced(byNanoseconds: -1)
        filter.until = min(listed.until ?? before, before)
        if try store.catalogue.snapshots(filter).isEmpty { return nil }
        filter.newestFirst = false
        filter.until = listed.until
        filter.since = max(listed.since ?? gap.end, gap.end)
        return try store.catalogue.snapshots(filter).first
    }
}
