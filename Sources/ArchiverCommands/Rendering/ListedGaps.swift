// Gaps between the snapshots of a list.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit

/// The gaps of a list of snapshots, each assigned to the root's first snapshot after it.
struct ListedGaps {
    private let gaps: [SnapshotID: [GapRecord]]

    init(_ gaps: [SnapshotID: [GapRecord]] = [:]) { self.gaps = gaps }

    /// The gaps between the snapshots of `query`.
    init(_ query: SnapshotQuery, in archive: Archive) throws { gaps = try archive.gapsBetweenSnapshots(query) }

    /// The gaps before `snapshot`.
    func before(_ snapshot: ListedSnapshot) -> [GapRecord] { gaps.isEmpty ? [] : gaps[snapshot.id] ?? [] }
}
