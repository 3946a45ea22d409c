// `list`: tables and lines with gaps between the snapshots.

import ArchiveFormat
import ArchiveStorage
import Glibc
import Testing

@testable import ArchiverCommands

struct SnapshotListTests {
    private static let ann = Array("/home/ann".utf8)
    private static let bob = Array("/home/bob".utf8)

    /// Texts of times are those of the machine's zone.
    private static func time(_ minutes: Int64) -> String { LocalTime.text(.tenOClock(minutes)) }

    private static func gapText(_ start: Int64, _ end: Int64, _ words: String = "no watcher was running") -> String {
        "changes from \(time(start)) to \(time(end)) may have been seen late (\(words))"
    }

    // MARK: Where a gap belongs

    struct Case: CustomTestStringConvertible {
        let name: String
        let snapshots: [SnapshotRecord]
        let gaps: [GapRecord]
        /// The starting minutes of the gaps before each snapshot.
        let before: [[GapRecord]]

        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "no snapshots", snapshots: [], gaps: [.lasting(1, to: 2)], before: []),
        Case(
            name: "between two", snapshots: [.made(1, at: 0), .made(2, at: 10)], gaps: [.lasting(1, to: 2)],
            before: [[], [.lasting(1, to: 2)]]),
        Case(
            name: "at the next one only", snapshots: [.made(1, at: 0), .made(2, at: 10), .made(3, at: 20)],
            gaps: [.lasting(1, to: 2)], before: [[], [.lasting(1, to: 2)], []]),
        Case(
            name: "over several", snapshots: [.made(1, at: 0), .made(2, at: 10), .made(3, at: 20)],
            gaps: [.lasting(5, to: 15)], before: [[], [], [.lasting(5, to: 15)]]),
        Case(
            name: "ended by a snapshot", snapshots: [.made(1, at: 0), .made(2, at: 10)], gaps: [.lasting(1, to: 10)],
            before: [[], [.lasting(1, to: 10)]]),
        Case(
            name: "before the first, which nothing is listed before", snapshots: [.made(1, at: 10), .made(2, at: 20)],
            gaps: [.lasting(1, to: 2)], before: [[], []]),
        Case(
            name: "after the last", snapshots: [.made(1, at: 0), .made(2, at: 10)], gaps: [.lasting(11, to: 12)],
            before: [[], []]),
        Case(
            name: "several, by their ends", snapshots: [.made(1, at: 0), .made(2, at: 10)],
            gaps: [.lasting(3, to: 9), .lasting(4, to: 5)], before: [[], [.lasting(4, to: 5), .lasting(3, to: 9)]]),
        Case(
            name: "of another root",
            snapshots: [.made(1, at: 0, of: ann), .made(2, at: 10, of: bob), .made(3, at: 20, of: ann)],
            gaps: [.lasting(1, to: 2, of: ann), .lasting(1, to: 2, of: bob)],
            before: [[], [], [.lasting(1, to: 2, of: ann)]]),
    ]

    @Test("A gap stands before the first snapshot of its root that was made after it", arguments: cases)
    func places(_ test: Case) {
        let listed = ListedGaps(test.gaps, among: test.snapshots)
        #expect(test.snapshots.map { listed.before($0) } == test.before)
    }

    // MARK: Tables

    @Test("A gap is a line across the columns, between its snapshots")
    func gapLine() {
        let records: [SnapshotRecord] = [.made(1, at: 0), .made(2, at: 10, label: "milestone")]
        let gaps = ListedGaps([.lasting(1, to: 2)], among: records)
        let ids = records.map(\.id.short)
        #expect(
            SnapshotList.table(records, gaps, .plain) == [
                "id        time                 changes      size  stored  cause  label",
                "\(ids[0])  \(Self.time(0))  +1 ~2 -1  2.0 KiB   100 B  watch",
                "          \(Self.gapText(1, 2))",
                "\(ids[1])  \(Self.time(10))  +1 ~2 -2  2.0 KiB   100 B  watch  milestone",
            ])
    }

    @Test("The newest first: the gap is still between its snapshots")
    func newestFirst() {
        let records: [SnapshotRecord] = [.made(1, at: 0), .made(2, at: 10), .made(3, at: 20)]
        let gaps = ListedGaps([.lasting(1, to: 2), .lasting(12, to: 13)], among: records)
        let forward = SnapshotList.table(records, gaps, .plain)
        let backward = SnapshotList.table(records.reversed(), gaps, .plain)
        #expect(backward.first == forward.first)
        #expect(Array(backward.dropFirst()) == forward.dropFirst().reversed())
    }

    @Test("Several roots: a column tells them apart, and so does the line of a gap")
    func severalRoots() {
        let records: [SnapshotRecord] = [
            .made(1, at: 0, of: Self.ann), .made(2, at: 10, of: Self.bob), .made(3, at: 20, of: Self.ann),
        ]
        let table = SnapshotList.table(
            records, ListedGaps([.lasting(1, to: 2, of: Self.ann, .overflow)], among: records), .plain)
        #expect(table[0].hasSuffix("cause  root       label"))
        #expect(table[1].hasSuffix("watch  /home/ann") && table[2].hasSuffix("watch  /home/bob"))
        #expect(table[3] == "          \(Self.gapText(1, 2, "too many events at once")): /home/ann")
        #expect(table.count == 5)
    }

    @Test("Names and labels cannot break a line or steer the terminal")
    func escapes() {
        let root = Array("/home/\u{1B}[2J\n\u{202E}x".utf8) + [0xFF]
        let records: [SnapshotRecord] = [
            .made(1, at: 0, of: root, label: "a\tb\n"), .made(2, at: 10, of: Self.ann), .made(3, at: 20, of: root),
        ]
        let gaps = ListedGaps([.lasting(1, to: 2, of: root)], among: records)
        let shown = "/home/\\x1b[2J\\x0a\\xe2\\x80\\xaex\\xff"
        let table = SnapshotList.table(records, gaps, .plain)
        #expect(table[1].hasSuffix("\(shown)  a\\x09b\\x0a"))
        #expect(table[3].hasSuffix(": \(shown)"))
        #expect(SnapshotList.plain(records[0]).split(separator: "\t", omittingEmptySubsequences: false).count == 10)
        #expect(SnapshotList.plain(.lasting(1, to: 2, of: root)).split(separator: "\t").map(String.init)[3] == shown)
    }

    @Test("A long line of a gap leaves the columns as they are; on a terminal it is dim")
    func styles() {
        var table = TextTable([.init(title: "id", mark: .yellow), .init(title: "label")])
        table.add(["1", "one"])
        table.add(note: "much longer than the columns")
        #expect(table.aligned(.plain) == ["id  label", "1   one", "much longer than the columns"])
        #expect(table.aligned(Style(isOn: true)).last == "\u{1B}[2mmuch longer than the columns\u{1B}[0m")
    }

    // MARK: Lines

    @Test("A program gets one line a snapshot with tabs, and gaps marked")
    func plain() {
        let record = SnapshotRecord.made(7, at: 10, label: "milestone", cause: .audit)
        #expect(
            SnapshotList.plain(record)
                == "\(record.id.short)\t2026-11-21T10:10:00.000000000Z\t/home/ann\t1\t2\t7\t2048\t100\taudit\tmilestone"
        )
        #expect(
            SnapshotList.plain(.lasting(1, to: 2, .polling))
                == "# gap\t2026-11-21T10:01:00.000000000Z\t2026-11-21T10:02:00.000000000Z\t/home/ann\tpolling")
    }
}
