// `list`: tables and lines with gaps between the snapshots.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Glibc
import TestSupport
import TestTraits
import Testing

@testable import ArchiverCommands

@Suite(.blocking)
struct SnapshotListTests {
    private static let ann = Array("/home/ann".utf8)
    private static let bob = Array("/home/bob".utf8)

    init() { TestZone.use() }

    /// Times are shown in the machine's time zone.
    private static func time(_ minutes: Int64) -> String { LocalTime.text(.tenOClock(minutes)) }

    private static func gapText(_ start: Int64, _ end: Int64, _ words: String = "no watcher was running") -> String {
        "changes from \(time(start)) to \(time(end)) may have been seen late (\(words))"
    }

    // MARK: Tables

    @Test("a gap is a line across the columns, between its snapshots")
    func gapLine() {
        let records: [ListedSnapshot] = [.made(1, at: 0), .made(2, at: 10, label: "milestone")]
        let gaps = ListedGaps([records[1].id: [.lasting(1, to: 2)]])
        let ids = records.map(\.id.short)
        #expect(
            SnapshotList.table(records, gaps, .plain) == [
                "id        time                 changes      size  stored  cause  label",
                "\(ids[0])  \(Self.time(0))  +1 ~2 -1  2.0 KiB   100 B  watch",
                "          \(Self.gapText(1, 2))",
                "\(ids[1])  \(Self.time(10))  +1 ~2 -2  2.0 KiB   100 B  watch  milestone",
            ])
    }

    @Test("with the newest first, the gap is still between its snapshots")
    func newestFirst() {
        let records: [ListedSnapshot] = [.made(1, at: 0), .made(2, at: 10), .made(3, at: 20)]
        let gaps = ListedGaps([records[1].id: [.lasting(1, to: 2)], records[2].id: [.lasting(12, to: 13)]])
        let forward = SnapshotList.table(records, gaps, .plain)
        let backward = SnapshotList.table(records.reversed(), gaps, .plain, isNewestFirst: true)
        #expect(backward.first == forward.first)
        #expect(Array(backward.dropFirst()) == forward.dropFirst().reversed())
    }

    @Test("several roots are distinguished by a column and in the line of a gap")
    func severalRoots() {
        let records: [ListedSnapshot] = [
            .made(1, at: 0, of: Self.ann), .made(2, at: 10, of: Self.bob), .made(3, at: 20, of: Self.ann),
        ]
        let table = SnapshotList.table(
            records, ListedGaps([records[2].id: [.lasting(1, to: 2, of: Self.ann, .overflow)]]), .plain)
        #expect(table[0].hasSuffix("cause  root       label"))
        #expect(table[1].hasSuffix("watch  /home/ann") && table[2].hasSuffix("watch  /home/bob"))
        #expect(table[3] == "          \(Self.gapText(1, 2, "too many events at once")): /home/ann")
        #expect(table.count == 5)
    }

    @Test("names and labels cannot break a line or control the terminal")
    func escapes() {
        let root = Array("/home/\u{1B}[2J\n\u{202E}x".utf8) + [0xFF]
        let records: [ListedSnapshot] = [
            .made(1, at: 0, of: root, label: "a\tb\n"), .made(2, at: 10, of: Self.ann), .made(3, at: 20, of: root),
        ]
        let gaps = ListedGaps([records[2].id: [.lasting(1, to: 2, of: root)]])
        let shown = "/home/\\x1b[2J\\x0a\\xe2\\x80\\xaex\\xff"
        let table = SnapshotList.table(records, gaps, .plain)
        #expect(table[1].hasSuffix("\(shown)  a\\x09b\\x0a"))
        #expect(table[3].hasSuffix(": \(shown)"))
        #expect(SnapshotList.plain(records[0]).split(separator: "\t", omittingEmptySubsequences: false).count == 10)
        #expect(SnapshotList.plain(.lasting(1, to: 2, of: root)).split(separator: "\t").map(String.init)[3] == shown)
    }

    @Test("a long gap line does not change the columns; on a terminal it is dim")
    func styles() {
        var table = TextTable([.init(title: "id", mark: .yellow), .init(title: "label")])
        table.add(["1", "one"])
        table.add(note: "much longer than the columns")
        #expect(table.aligned(.plain) == ["id  label", "1   one", "much longer than the columns"])
        #expect(table.aligned(Style(isOn: true)).last == "\u{1B}[2mmuch longer than the columns\u{1B}[0m")
    }

    // MARK: Lines

    @Test("a program gets one line with tabs per snapshot, and marked gaps")
    func plain() {
        let record = ListedSnapshot.made(7, at: 10, label: "milestone", cause: .audit)
        #expect(
            SnapshotList.plain(record)
                == "\(record.id.short)\t2026-11-21T11:10:00.000000000+01:00\t/home/ann\t"
                + "1\t2\t7\t2048\t100\taudit\tmilestone"
        )
        #expect(
            SnapshotList.plain(.lasting(1, to: 2, .polling))
                == "# gap\t2026-11-21T11:01:00.000000000+01:00\t2026-11-21T11:02:00.000000000+01:00\t/home/ann\t"
                + "polling")
    }

    /// Snapshots that differ in everything from their neighbours, and some that equal them.
    private static let records: [ListedSnapshot] = {
        let roots = [ann, Array("/home/\u{1B}\"\\\n\u{202E}/é".utf8) + [0xFF], bob]
        let times: [Timestamp] = [
            .tenOClock(0), .tenOClock(0).advanced(byNanoseconds: 987_654_321), Timestamp(seconds: 86_399),
            Timestamp(seconds: 86_400), Timestamp(seconds: -1, nanoseconds: 999_999_999), Timestamp(seconds: -86_401),
            Timestamp(seconds: 1 << 40), .tenOClock(1), Timestamp(seconds: .max), Timestamp(seconds: .min),
        ]
        let numbers: [UInt64] = [0, 9, 10, 99, 100, 12_345_678_901, .max]
        return times.indices.flatMap { index in
            roots.indices.map { which in
                let id = ChunkID(hashing: [UInt8(index), UInt8(which)])
                func number(_ place: Int) -> UInt64 { numbers[(index * 3 + which + place) % numbers.count] }
                return ListedSnapshot(
                    id: SnapshotID(id), time: times[index], rootPath: roots[index % 2 == 0 ? which : 0],
                    host: index % 3 == 0 ? "a \"host\"" : "here",
                    cause: Cause.allCases[(index + which) % Cause.allCases.count],
                    label: index % 4 == 0 ? nil : "a\tlabel\n\"\\/\u{2028}", parent: which == 0 ? nil : SnapshotID(id),
                    tree: id,
                    totals: Totals(files: number(0), directories: number(1), others: number(2), bytes: number(3)),
                    changes: ChangeCounts(added: number(4), modified: number(5), removed: number(6)), problems: index,
                    storedBytes: number(7), sequence: number(8), machine: MachineID(deriving: [UInt8(which)]),
                    isAside: index % 2 == 1)
            }
        }
    }()

    @Test("fast row output equals the output of the encoders")
    func fastRows() throws {
        var lines = SnapshotLines()
        var objects = SnapshotJSONRows()
        for (index, record) in Self.records.enumerated() {
            var line = LineBuffer()
            lines.append(record, to: &line)
            let cells = [
                record.id.short, LocalTime.plain(record.time), Escaping.text(record.rootPath),
                "\(record.changes.added)",
                "\(record.changes.modified)", "\(record.changes.removed)", "\(record.totals.bytes)",
                "\(record.storedBytes)", record.cause.rawValue, Escaping.text(record.label ?? ""),
            ]
            #expect(line.text == cells.joined(separator: "\t"))
            var object = LineBuffer()
            let gaps: [GapRecord] = index % 5 == 0 ? [.lasting(1, to: 2)] : []
            try objects.append(record, gaps, isPinned: false, to: &object)
            #expect(try object.text == JSONText.of(ListedSnapshotJSON(record, gaps, isPinned: false)))
        }
    }
}
