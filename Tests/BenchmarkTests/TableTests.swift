// Rows, ratios, goals and the table that shows them.

import SystemPackage
import Testing

@testable import benchmarks

@Suite struct TableTests {
    private static func row(
        _ program: String, _ seconds: [Double], processor: Double = 0, stored: Int? = nil, peak: Int = 0,
        goals: [Goal] = []
    ) -> Row {
        let runs = seconds.map {
            Measurement(seconds: $0, processorSeconds: processor, peakBytes: peak, storedBytes: stored)
        }
        return Row("first-x", "first capture", program, runs, yardstick: "restic", goals: goals)
    }

    @Test("ratios compare medians of the same work") func ratios() {
        let own = TableTests.row("archiver", [1, 2, 9])
        let other = TableTests.row("restic", [8, 4, 8])
        let elsewhere = Row("first-y", "first capture", "restic", [Measurement(seconds: 100)])
        #expect(own.ratio(among: [elsewhere, own, other]) == 0.25)
        #expect(other.ratio(among: [own, other]) == nil)
        #expect(own.ratio(among: [own]) == nil)
    }

    @Test("rows of the same program at the same work become one, with all runs") func merging() {
        var first = TableTests.row("archiver", [1, 2, 9])
        let (own, before) = (TableTests.row("archiver", [4]), TableTests.row("archiver before", [8]))
        first.seconds = 6
        let other = Row("first-x", "second capture", "archiver", [])
        let merged = Row.merging([first, other, before, own])
        #expect(merged.map(\.program) == ["archiver", "archiver before", "archiver"])
        #expect(merged.first?.runs.map(\.seconds) == [1, 2, 9, 4])
        #expect(merged.map(\.seconds) == [5, 8, nil])
        #expect(merged.first?.goals == first.goals)
    }

    @Test("an older binary takes turns, every second time first: one round each, without other programs and goals")
    func turns() throws {
        let workshop = Workshop(
            directory: "/tmp", rounds: 2, scale: .full, archiver: "/bin/true", repository: nil)
        var turns: [String] = []
        let rows = try workshop.taking(turnsWith: Archiver(binary: "/bin/false", name: "before")) {
            turns.append(workshop.archiver.binary)
            let contenders = [workshop.archiver.name, "restic"].map { name in
                Contender(name) { _ in Measurement(seconds: name == "restic" ? 10 : 1) }
            }
            return try workshop.contest("line", "work", contenders, yardstick: "restic", goals: [.seconds(5)])
        }
        #expect(turns == ["/bin/true", "/bin/false", "/bin/false", "/bin/true"])
        #expect(rows.map(\.program) == ["archiver", "restic", "before"])
        #expect(rows.map(\.runs.count) == [2, 2, 2])
        #expect(rows.map(\.goals.count) == [1, 0, 0])
        #expect(workshop.archiver.binary == "/bin/true" && workshop.rounds == 2)
    }

    @Test("a goal is reached up to its limit") func goals() {
        let restic = TableTests.row("restic", [10], stored: 200)
        let row = TableTests.row("archiver", [5], stored: 200, peak: 1_000)
        let rows = [row, restic]
        #expect(Goal.time(times: 0.5, of: "restic").isReached(by: row, among: rows) == true)
        #expect(Goal.time(times: 0.49, of: "restic").isReached(by: row, among: rows) == false)
        #expect(Goal.time(times: 0.5, of: "borg").isReached(by: row, among: rows) == nil)
        #expect(Goal.seconds(5).isReached(by: row, among: rows) == true)
        #expect(Goal.seconds(4.9).isReached(by: row, among: rows) == false)
        #expect(Goal.memory(bytes: 1_000).isReached(by: row, among: rows) == true)
        #expect(Goal.memory(bytes: 999).isReached(by: row, among: rows) == false)
        #expect(Goal.memory(bytes: 999).isReached(by: restic, among: rows) == nil)
        #expect(Goal.stored(times: 1, of: "restic").isReached(by: row, among: rows) == true)
        #expect(Goal.stored(times: 0.99, of: "restic").isReached(by: row, among: rows) == false)
        #expect(Goal.storedBytes(199).isReached(by: row, among: rows) == false)
    }

    @Test("the table is Markdown and names each work once") func markdown() {
        let rows = [
            TableTests.row(
                "archiver", [0.5, 0.25, 1], processor: 0.9, stored: 3 << 20, peak: 1 << 20,
                goals: [.time(times: 0.2, of: "restic"), .stored(times: 1, of: "restic")]),
            TableTests.row("restic", [2], stored: 3 << 20),
        ]
        let verdicts = "≤ 0.20 × restic: **no**; no more stored than restic: yes"
        let expected = """
            | work | program | time | ratio | processor | peak memory | stored | goal | note |
            |-|-|-|-|-|-|-|-|-|
            | first capture | archiver | 500 ms | 0.25 × restic | 900 ms | 1.00 MiB | 3.00 MiB | \(verdicts) | |
            | | restic | 2.00 s | | | | 3.00 MiB | | |

            """
        func cells(_ text: String) -> [[Substring]] {
            text.split(separator: "\n").map { $0.split(separator: "|").map { $0[...] }.map(trimmed) }
        }
        let table = Table(of: rows).markdown
        #expect(cells(table).enumerated().allSatisfy { $0.offset == 1 || $0.element == cells(expected)[$0.offset] })
        let lengths = Set(table.split(separator: "\n").map(\.count))
        #expect(lengths.count == 1, "every line is as long as the others")
    }

    private func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return text
    }

    @Test(
        "times have three digits",
        arguments: [
            (0.0, "0 ns"), (3.2e-9, "3.20 ns"), (0.000_45, "450 µs"), (0.001, "1.00 ms"), (0.0999, "99.9 ms"),
            (0.09996, "100 ms"), (1, "1.00 s"), (61.26, "61.3 s"), (1_234.5, "1235 s"),
        ])
    func times(seconds: Double, expected: String) {
        #expect(Figure.time(seconds) == expected)
    }

    @Test(
        "small numbers keep a significant digit",
        arguments: [(0.004_04, "0.004"), (0.0949, "0.095"), (0.25, "0.25"), (9.99, "9.99"), (-12.34, "-12.3")])
    func smallNumbers(value: Double, expected: String) {
        #expect(Figure.number(value) == expected)
    }

    @Test(
        "sizes have binary units",
        arguments: [(0, "0 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (1 << 20, "1.00 MiB"), (5 << 29, "2.50 GiB")])
    func sizes(bytes: Int, expected: String) {
        #expect(Figure.bytes(bytes) == expected)
    }

    @Test(
        "counts have thousands separators",
        arguments: [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (-1_234, "-1,234")])
    func counts(count: Int, expected: String) {
        #expect(Figure.count(count) == expected)
    }
}
