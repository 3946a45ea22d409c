// Gaps between the snapshots of a list.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// The gaps of a list of snapshots, each at the first snapshot of its root that was made after it.
struct ListedGaps {
    private var before: [SnapshotID: [GapRecord]] = [:]

    /// - Parameters:
    ///   - snapshots: by time, the oldest first.
    ///   - gaps: of their roots.
    init(_ gaps: [GapRecord], among snapshots: [SnapshotRecord]) {
        var byRoot: [[UInt8]: [SnapshotRecord]] = [:]
        for snapshot in snapshots { byRoot[snapshot.rootPath, default: []].append(snapshot) }
        for gap in gaps.sorted(by: { $0.end < $1.end }) {
            guard let own = byRoot[gap.rootPath], let first = own.first, first.time < gap.end else { continue }
            if let next = own.first(where: { $0.time >= gap.end }) { before[next.id, default: []].append(gap) }
        }
    }

    /// The gaps between `snapshot` and the one listed before it.
    func before(_ snapshot: SnapshotRecord) -> [GapRecord] { before[snapshot.id] ?? [] }

    /// The gaps that lie between the snapshots of `list`.
    static func of(_ list: [SnapshotRecord], in archive: Archive, _ root: ArchivedRoot?) throws -> ListedGaps {
        let sorted = list.sorted { $0.time < $1.time }
        guard let first = sorted.first, let last = sorted.last else { return ListedGaps([], among: []) }
        return ListedGaps(try archive.gaps(of: root, since: first.time, until: last.time), among: sorted)
    }
}
