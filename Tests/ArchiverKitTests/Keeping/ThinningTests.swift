// Which snapshots a policy forgets, and why the others stay.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit
@testable import Keeping

@Suite("Thinning", .blocking)
struct ThinningTests {
    private static let root = ArchivedRoot(path: "/root", host: "host")
    /// A Monday.
    private static let start: Int64 = 1_700_438_400
    private static let (minute, hour, day, week): (Int64, Int64, Int64, Int64) = (60, 3600, 86_400, 604_800)

    private static func id(_ number: Int) -> SnapshotID { SnapshotID(ChunkID(hashing: Array("\(number)".utf8))) }

    /// Returns snapshots at these seconds after the start, each the parent of the next.
    private func rows(_ seconds: [Int64]) -> [ThinningRow] {
        seconds.enumerated().map { index, second in
            ThinningRow(
                id: Self.id(index), sequence: UInt64(index + 1), time: Timestamp(seconds: Self.start + second),
                parent: index > 0 ? Self.id(index - 1) : nil, entries: 1000)
        }
    }

    /// Returns the indices in `rows` of the snapshots that stay.
    private func kept(
        _ rows: [ThinningRow], at seconds: Int64, _ policy: RetentionPolicy = .usual,
        _ change: (inout ThinningPlan.Circumstances) -> Void = { _ in }
    ) -> [Int] {
        var circumstances = ThinningPlan.Circumstances(now: Timestamp(seconds: Self.start + seconds))
        change(&circumstances)
        let plan = ThinningPlan(Self.root, policy, rows, circumstances)
        let going = Set(plan.going.map(\.id))
        #expect(plan.count == rows.count)
        return rows.indices.filter { !going.contains(rows[$0].id) }
    }

    @Test("the first snapshot of each minute, hour, day and week stays as snapshots grow older")
    func tiers() {
        // One every 20 s for ten minutes.
        let rows = rows((0..<30).map { $0 * 20 })
        #expect(kept(rows, at: 3600) == Array(0..<30))
        #expect(kept(rows, at: 2 * Self.hour) == Array(stride(from: 0, to: 30, by: 3)) + [29])
        #expect(kept(rows, at: 2 * Self.day) == [0, 29])
        let days = self.rows((0..<28).map { $0 * 25 * Self.minute + 600 * Self.day })
        #expect(kept(days, at: 700 * Self.day) == [0, 27])
        // Days start at midnight, weeks on Monday.
        let nights = self.rows([
            0, 20 * Self.minute, Self.day - 1, Self.day, Self.day + 1200, 7 * Self.day, 7 * Self.day + 5,
        ])
        let policy = try? RetentionPolicy(weekly: .forever)
        #expect(policy.map { kept(nights, at: 400 * Self.day, $0) } == [0, 5, 6])
    }

    @Test("without tiers all snapshots are kept, and with tiers those dated in the future")
    func everything() {
        let rows = rows([0, 1, 2, 1000 * Self.day])
        #expect(kept(rows, at: 900 * Self.day, .everything) == [0, 1, 2, 3])
        #expect(kept(rows, at: -5) == [0, 1, 2, 3])
    }

    @Test("pinned and labelled snapshots, those of operations, the newest and the newest not captured aside stay")
    func always() {
        var rows = rows((0..<9).map { $0 * 10 })
        rows[2] = ThinningRow(
            id: rows[2].id, sequence: 3, time: rows[2].time, parent: rows[2].parent, hasLabel: true, entries: 1000)
        rows[8] = ThinningRow(
            id: rows[8].id, sequence: 9, time: rows[8].time, parent: rows[8].parent, isAside: true, entries: 1000)
        let found = kept(rows, at: 100 * Self.day) {
            $0.pinned = [Self.id(4).chunk]
            $0.operations = [Self.id(5)]
        }
        #expect(found == [0, 2, 4, 5, 7, 8])
    }

    @Test("the end of a burst of work and the start of the next stay while a pause is long beside the tier's span")
    func bursts() {
        // Ten minutes of work, a pause, ten minutes of work.
        for (pause, last) in [(40 * Self.minute, 14 * Self.day), (7 * Self.hour, 90 * Self.day)] {
            let all = rows((0..<60).map { $0 * 10 } + (0..<30).map { 600 + pause + $0 * 10 })
            let expected = [0, 59, 60, 89]
            #expect(kept(all, at: last - Self.day) == expected)
            var left = all
            for age in [2 * Self.hour, 2 * Self.day, 13 * Self.day, last - Self.day] {
                left = kept(left, at: age).map { left[$0] }
            }
            #expect(left.map(\.id) == expected.map { all[$0].id })
            #expect(kept(left, at: last + Self.day) == [0, 3])
        }
    }

    @Test("with the usual policy, a capture every two hours becomes one a day after 14 days, and one a week after 90")
    func everyTwoHours() {
        let days: Int64 = 200
        var left: [ThinningRow] = []
        let all = rows((0..<(days * 12)).map { $0 * 2 * Self.hour })
        // Thinned every day, as a watcher does.
        for today in 1...days {
            let new = all[left.isEmpty ? 0..<Int(today * 12) : Int((today - 1) * 12)..<Int(today * 12)]
            left += new
            left = kept(left, at: today * Self.day).map { left[$0] }
        }
        func count(_ ages: Range<Int64>) -> Int {
            left.count { ages.contains((Self.start + days * Self.day - $0.time.seconds) / Self.day) }
        }
        // The latest is two hours old.
        #expect(count(0..<14) == 14 * 12 - 1)
        #expect((75...77).contains(count(14..<90)), "\(count(14..<90))")
        #expect((14...17).contains(count(90..<200)), "\(count(90..<200))")
    }

    @Test("the states around a mass change stay for ever")
    func massChanges() {
        var rows = rows((0..<20).map { $0 * 10 })
        func overwriting(_ index: Int, _ count: UInt64) {
            let row = rows[index]
            rows[index] = ThinningRow(
                id: row.id, sequence: row.sequence, time: row.time, parent: row.parent, entries: 1000,
                overwritten: count)
        }
        overwriting(5, 99)
        overwriting(11, 100)
        #expect(kept(rows, at: 1000 * Self.day) == [0, 10, 11, 19])
        #expect(kept(kept(rows, at: 2 * Self.day).map { rows[$0] }, at: 1000 * Self.day) == [0, 1, 2, 3])
    }

    @Test("the last state with a deleted file stays while the file lived longer than the tier's span")
    func deletedFiles() {
        let rows = rows((0..<20).map { $0 * 10 })
        func found(_ lifetime: Int64, at seconds: Int64) -> [Int] {
            kept(rows, at: seconds) { $0.lifetimes = [Self.id(6): UInt64(lifetime)] }
        }
        #expect(found(Self.hour + 1, at: 2 * Self.day) == [0, 6, 19])
        #expect(found(Self.hour, at: 2 * Self.day) == [0, 19])
        #expect(found(Self.hour + 1, at: 20 * Self.day) == [0, 19])
        #expect(found(2 * Self.day, at: 20 * Self.day) == [0, 6, 19])
    }

    @Test("both ends of a pause stay until the later one is too old, and thinning again changes nothing")
    func agingPauses() {
        // Bursts of three snapshots an hour and a half apart, across the age at which pauses no longer count.
        let all = rows((0..<64).flatMap { burst in (0..<3).map { Int64(burst) * 5400 + $0 * 10 } })
        for now in stride(from: 91 * Self.day, to: 95 * Self.day, by: Int(Self.hour)) {
            let once = kept(all, at: now).map { all[$0] }
            #expect(kept(once, at: now) == Array(once.indices), "at \(now)")
        }
    }

    @Test("thinning in steps keeps everything that one late thinning keeps")
    func steps() throws {
        var random = SeededGenerator()
        for _ in 0..<60 {
            // The clock's time, which is sometimes set back, and the real time.
            var (seconds, real, offset): ([Int64], [Int64], Int64) = ([0], [0], 0)
            for _ in 0..<400 {
                let step = [5, 30, 600, 4000, 50_000][random.below(5)]
                if random.oneIn(40) { offset = random.oneIn(2) ? 0 : 90_000 }
                real.append((real.last ?? 0) + Int64(random.below(step) + 1))
                seconds.append((real.last ?? 0) - offset)
            }
            var all = rows(seconds)
            for index in all.indices where random.oneIn(20) {
                let row = all[index]
                all[index] = ThinningRow(
                    id: row.id, sequence: row.sequence, time: row.time, parent: row.parent, hasLabel: random.oneIn(2),
                    isAside: random.oneIn(3), entries: 1000, overwritten: UInt64(random.below(300)))
            }
            let end = real.last ?? 0
            var left: [ThinningRow] = []
            var (next, now) = (0, Int64(0))
            while now < end + 200 * Self.day {
                now += Int64(random.below(Int(6 * Self.day)) + 1)
                while next < all.count, real[next] <= now {
                    left.append(all[next])
                    next += 1
                }
                left = kept(left, at: now).map { left[$0] }
            }
            let atOnce = Set(kept(all, at: now).map { all[$0].id })
            #expect(atOnce.isSubset(of: left.map(\.id)), "seed \(random.seed)")
            #expect(left.count < all.count, "seed \(random.seed)")
        }
    }

    @Test("a policy that keeps nothing or has contradictory tiers is refused")
    func policies() throws {
        func code(_ body: () throws(ArchiverError) -> RetentionPolicy) -> ArchiverError.Code? {
            do throws(ArchiverError) { _ = try body() } catch { return error.code }
            return nil
        }
        #expect(code { () throws(ArchiverError) in try RetentionPolicy([]) } == .unsuitableSettings)
        #expect(code { () throws(ArchiverError) in try RetentionPolicy(all: .seconds(0)) } == .unsuitableSettings)
        #expect(
            code { () throws(ArchiverError) in try RetentionPolicy(hourly: .seconds(60), daily: .seconds(60)) }
                == .unsuitableSettings)
        #expect(
            code { () throws(ArchiverError) in try RetentionPolicy(hourly: .forever, daily: .seconds(60)) }
                == .unsuitableSettings)
        #expect(
            code { () throws(ArchiverError) in
                try RetentionPolicy([.init(width: 60, age: 9), .init(width: 90, age: 99)])
            }
                == .unsuitableSettings)
        #expect(code { () throws(ArchiverError) in try RetentionPolicy(daily: .forever) } == nil)
    }

    @Test("a forward jump of the clock is ignored, and across a restart limited to a month")
    func clock() {
        let last = ThinningClock.Reading(wall: 1000, up: 500, boot: "a")
        func believed(_ wall: Int64, up: Int64, boot: String = "a") -> Int64 {
            ThinningClock.believed(wall: wall, .init(wall: wall, up: up, boot: boot), last)
        }
        #expect(believed(1600, up: 1100) == 1600)
        #expect(believed(1_000_000, up: 1100) == 1000 + 600 + ThinningClock.slack)
        #expect(believed(900, up: 1100) == 900)
        #expect(believed(1_000_000, up: 50, boot: "b") == 1_000_000)
        #expect(believed(10_000_000, up: 50, boot: "b") == 1000 + 50 + ThinningClock.slackAcrossRestart)
    }
}
