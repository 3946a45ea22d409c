// The places of gaps among listed snapshots, and lists in pieces.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestTraits
import Testing

@testable import ArchiverKit

@Suite(.blocking) struct ListedGapTests {
    /// Snapshots by the minutes at which they were made, gaps by the minutes of their starts and ends.
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let snapshots: [(at: Int64, root: String)]
        let gaps: [(start: Int64, end: Int64, root: String)]
        /// The gaps before each snapshot, by their starts.
        let before: [[Int64]]
        var query: @Sendable (inout SnapshotQuery) -> Void = { _ in }

        init(
            _ name: String, _ snapshots: [Int64], _ gaps: [(Int64, Int64)], _ before: [[Int64]],
            _ query: @escaping @Sendable (inout SnapshotQuery) -> Void = { _ in }
        ) {
            self.init(name, snapshots.map { ($0, "ann") }, gaps.map { ($0, $1, "ann") }, before)
            self.query = query
        }

        init(
            _ name: String, _ snapshots: [(Int64, String)], _ gaps: [(Int64, Int64, String)], _ before: [[Int64]]
        ) {
            testDescription = name
            self.snapshots = snapshots
            self.gaps = gaps
            self.before = before
        }
    }

    static let cases: [Case] = [
        Case("no snapshots", [] as [Int64], [(1, 2)], []),
        Case("between two snapshots", [0, 10], [(1, 2)], [[], [1]]),
        Case("at the next snapshot only", [0, 10, 20], [(1, 2)], [[], [1], []]),
        Case("across several snapshots", [0, 10, 20], [(5, 15)], [[], [], [5]]),
        Case("ended by a snapshot", [0, 10], [(1, 10)], [[], [1]]),
        Case("started and ended by snapshots", [0, 10, 20], [(0, 0), (0, 10)], [[], [0], []]),
        Case("before the first snapshot", [10, 20], [(1, 2)], [[], []]),
        Case("after the last snapshot", [0, 10], [(11, 12)], [[], []]),
        Case(
            "several gaps, ordered by their ends", [0, 10, 20], [(3, 9), (4, 5), (6, 10), (6, 11)],
            [[], [4, 3, 6], [6]]),
        Case(
            "of another root", [(0, "ann"), (10, "bob"), (20, "ann")], [(1, 2, "ann"), (3, 4, "bob"), (5, 6, "eve")],
            [[], [], [1]]),
        Case("only between listed snapshots", [0, 10, 20, 30], [(1, 2), (11, 12), (21, 22)], [[], [], [11], []]) {
            $0.since = .minute(10)
            $0.until = .minute(20)
        },
        Case("only between snapshots with the label", [0, 10, 20, 30], [(1, 2), (11, 12)], [[], [], [1, 11], []]) {
            $0.label = "even"
        },
    ]

    @Test("a gap is listed before the next snapshot of its root", arguments: cases)
    func gapPlaces(_ test: Case) throws {
        let sandbox = try Sandbox()
        let store = sandbox.archive.store
        let records = test.snapshots.enumerated().map { index, made in
            ListedSnapshot.made(
                index, at: .minute(made.at), root: made.root, label: made.at % 20 == 0 ? "even" : "odd")
        }
        let segment = try store.catalogue.enterSegment("s", indexedLength: 0).number
        try store.catalogue.enter(
            segment: segment, length: 0, chunks: [], records: CommitRecords(snapshots: records))
        try store.enter(
            test.gaps.map { gap in
                GapRecord(
                    rootPath: Array(gap.root.utf8), host: "here", cause: .downtime, start: .minute(gap.start),
                    end: .minute(gap.end))
            })
        var query = SnapshotQuery()
        test.query(&query)
        let found = try sandbox.archive.gapsBetweenSnapshots(query)
        #expect(
            records.map { (found[$0.id] ?? []).map(\.start) } == test.before.map { $0.map { Timestamp.minute($0) } })
        #expect(found.count == test.before.filter { !$0.isEmpty }.count)
    }

    @Test("every snapshot is listed once and in order", arguments: [false, true])
    func order(newestFirst: Bool) throws {
        let sandbox = try Sandbox()
        let catalogue = sandbox.archive.store.catalogue
        let segment = try catalogue.enterSegment("s", indexedLength: 0).number
        // More than the first two pieces hold.
        let records = (0..<9_000).map { ListedSnapshot.made($0, at: .minute(Int64($0 / 3)), root: "ann") }
        try catalogue.enter(segment: segment, length: 0, chunks: [], records: CommitRecords(snapshots: records))
        for limit in [nil, 1, 255, 256, 257, 5_000, 10_000] {
            let query = SnapshotQuery(newestFirst: newestFirst, limit: limit)
            var found: [SnapshotID] = []
            try sandbox.archive.forEachSnapshot(query) { snapshot in
                found.append(snapshot.id)
                return true
            }
            #expect(try found == sandbox.archive.snapshots(query).map(\.id))
            #expect(found.count == min(limit ?? 9_000, 9_000))
        }
        var first: [SnapshotID] = []
        try sandbox.archive.forEachSnapshot(SnapshotQuery(newestFirst: newestFirst)) { snapshot in
            first.append(snapshot.id)
            return first.count < 300
        }
        #expect(try first == sandbox.archive.snapshots(SnapshotQuery(newestFirst: newestFirst, limit: 300)).map(\.id))
    }
}

extension Timestamp {
    fileprivate static func minute(_ minute: Int64) -> Timestamp { Timestamp(seconds: minute * 60) }
}

extension ListedSnapshot {
    fileprivate static func made(
        _ number: Int, at time: Timestamp, root: String, label: String? = nil
    ) -> ListedSnapshot {
        let id = ChunkID(hashing: Array("\(number)".utf8))
        return ListedSnapshot(
            id: SnapshotID(id), time: time, rootPath: Array(root.utf8), host: "here", cause: .watch, label: label,
            parent: nil, tree: id, totals: Totals(), changes: ChangeCounts(), problems: 0, storedBytes: 0)
    }
}
