// Gaps between the snapshots of a list.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit

/// The gaps of a list of snapshots, each at the first snapshot of its root that was made after it.
struct ListedGaps {
    private let gaps: [SnapshotID: [GapRecord]]

    init(_ gaps: [SnapshotID: [GapRecord]] = [:]) { self.gaps = gaps }

    /// The gaps between the snapshots that `query` asks for.
    init(_ query: SnapshotQuery, in archive: Archive) throws { gaps = try archive.gapsBetweenSnapshots(query) }

    /// The gaps between `snapshot` and the one listed before it.
    func before(_ snapshot: ListedSnapshot) -> [GapRecord] { gaps.isEmpty ? [] : gaps[snapshot.id] ?? [] }
}
