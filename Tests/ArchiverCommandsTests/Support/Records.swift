// Snapshots, gaps and states for tests.

import ArchiveFormat
import ArchiveStorage
import FileIO

@testable import ArchiverKit

extension Timestamp {
    /// 2026-11-21 10:00 UTC plus some minutes.
    static func tenOClock(_ minutes: Int64) -> Timestamp { Timestamp(seconds: 1_795_255_200 + minutes * 60) }
}

extension ListedSnapshot {
    /// A snapshot of `root`, made `minutes` after ten; its id is derived from its number.
    static func made(
        _ number: Int, at minutes: Int64, of root: [UInt8] = Array("/home/ann".utf8), label: String? = nil,
        cause: Cause = .watch
    ) -> ListedSnapshot {
        let id = ChunkID(hashing: Array("\(number)".utf8))
        return ListedSnapshot(
            id: SnapshotID(id), time: .tenOClock(minutes), rootPath: root, host: "here", cause: cause, label: label,
            parent: nil, tree: id, totals: Totals(files: 1, directories: 1, others: 0, bytes: 2048),
            changes: ChangeCounts(added: 1, modified: 2, removed: UInt64(number)), problems: 0, storedBytes: 100)
    }
}

extension GapRecord {
    /// A gap of `root` between two minutes after ten.
    static func lasting(
        _ start: Int64, to end: Int64, of root: [UInt8] = Array("/home/ann".utf8), _ cause: GapCause = .downtime
    ) -> GapRecord {
        GapRecord(rootPath: root, host: "here", cause: cause, start: .tenOClock(start), end: .tenOClock(end))
    }
}
