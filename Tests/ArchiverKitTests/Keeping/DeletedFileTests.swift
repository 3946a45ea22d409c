// Thinning keeps the last state with a long-lived file that was deleted, however often it runs.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Roots
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit
@testable import Keeping

@Suite("Thinning and deleted files", .blocking) struct DeletedFileTests {
    /// Monday, the 5th of January 2026, at 00:01.
    private static let monday: Int64 = 1_767_571_260
    private static let (hour, day, week): (Int64, Int64, Int64) = (3600, 86_400, 604_800)

    private func thin(_ history: MadeHistory, _ policy: RetentionPolicy = .usual, at seconds: Int64) throws -> [Int] {
        let (archive, root) = (history.archive, try history.root())
        var options = ThinningOptions(root: root, policy: policy)
        options.now = Timestamp(seconds: seconds)
        try archive.thin(options)
        return try archive.snapshots(SnapshotQuery(root: root)).map { Int($0.sequence) - 1 }
    }

    /// The number of snapshots that a thinning would leave.
    private func kept(_ history: MadeHistory, at seconds: Int64) throws -> Set<Int> {
        let (archive, root) = (history.archive, try history.root())
        let number = try #require(try archive.number(of: root))
        let going = Set(try archive.plan(root, number, .usual, now: Timestamp(seconds: seconds)).going.map(\.id))
        return Set(history.snapshots.indices.filter { !going.contains(history.snapshots[$0].id) })
    }

    private func make(_ states: [(seconds: Int64, files: [String: [Int]])]) throws -> MadeHistory {
        let history = try MadeHistory()
        for state in states {
            var files: [RelativePath: MadeFile] = [:]
            for (name, lines) in state.files { files[try .at(FilePath(name))] = MadeFile(lines: lines) }
            try history.add(files, at: Self.monday + state.seconds)
        }
        return history
    }

    @Test("the last state with a deleted file stays in every later thinning, until a wider span applies")
    func decay() throws {
        let (day, week) = (Self.day, Self.week)
        let history = try make([
            (0, ["other": [1]]), (day + 10 * Self.hour, ["other": [1], "report": [10]]),
            (week, ["other": [2], "report": [10]]), (week + 2 * day, ["other": [2], "report": [10, 11]]),
            (week + 2 * day + 600, ["other": [2]]), (2 * week, ["other": [3]]), (3 * week, ["other": [4]]),
            (147 * day, ["other": [5]]),
        ])
        for run in 0..<4 {
            let left = try thin(history, at: Self.monday + 148 * day + Int64(run) * Self.hour)
            #expect(left.contains(3), "run \(run): \(left)")
            if run == 1 { try history.archive.store.catalogue.forgetHistory() }
        }
        let rebuilt = try history.sandbox.reopened()
        #expect(try rebuilt.store.catalogue.recordedLifetime(history.snapshots[3].id) == 8 * 86_400 - 35_400)
    }

    @Test("the last state of a file that was made again, or renamed before it was deleted, stays")
    func others() throws {
        let (day, week) = (Self.day, Self.week)
        let madeAgain = try make([
            (0, ["thesis": [1]]), (35 * week, ["thesis": [1], "other": [9]]),
            (35 * week + 2 * day, ["thesis": [1, 2], "other": [9]]), (35 * week + 2 * day + 600, ["other": [9]]),
            (35 * week + 2 * day + 4200, ["thesis": [3], "other": [9]]),
            (36 * week, ["thesis": [3], "other": [8]]), (55 * week, ["thesis": [3], "other": [7]]),
        ])
        let renamed = try make([
            (0, ["d/book": [1], "other": [9]]), (8 * week, ["d/book": [1], "other": [8]]),
            (8 * week + 2 * day, ["d/book": [1, 2], "other": [8]]),
            (8 * week + 2 * day + 300, ["e/book-old": [1, 2], "other": [8]]),
            (8 * week + 2 * day + 1200, ["other": [8]]), (9 * week, ["other": [7]]), (55 * week, ["other": [6]]),
        ])
        for run in 0..<3 {
            let now = Self.monday + 55 * week + Int64(run + 1) * Self.hour
            #expect(try thin(madeAgain, at: now).contains(2), "run \(run)")
            #expect(try thin(renamed, at: now).contains(3), "run \(run)")
        }
    }

    @Test("a rename protects nothing, but a claim of an edited rename does not let the last state go")
    func renames() throws {
        let (day, week) = (Self.day, Self.week)
        func history(_ lines: [Int]) throws -> MadeHistory {
            try make([
                (0, ["file": [1, 2, 3, 4], "other": [9]]), (week, ["file": [1, 2, 3, 4], "other": [8]]),
                (week + 2 * day, ["file": [1, 2, 3, 5], "other": [8]]),
                (week + 2 * day + 300, ["new": lines, "other": [8]]), (55 * week, ["new": lines, "other": [7]]),
            ])
        }
        let now = Self.monday + 56 * week
        #expect(try !thin(history([1, 2, 3, 5]), at: now).contains(2))
        #expect(try thin(history([1, 2, 3, 6]), at: now).contains(2))
    }

    @Test("thinning again changes nothing, and runs in any order keep what one late run keeps", arguments: 0..<3)
    func order(part: UInt64) throws {
        let printed = SeededGenerator("thinning and deleted files, part \(part)")
        let seed = printed.seed &+ part
        var random = SeededGenerator(seed: seed)
        for _ in 0..<3 {
            let history = try randomHistory(&random)
            let end = history.snapshots.last?.time.seconds ?? 0
            var times = (0..<4).map { _ in end + Int64(random.below(Int(150 * Self.day))) }.sorted()
            times.append((times.last ?? end) + 1)
            let late = try kept(history, at: times[4])
            for (number, time) in times.enumerated() {
                let left = try thin(history, at: time)
                #expect(late.isSubset(of: left), "TEST_SEED=\(seed), run \(number): \(late.subtracting(left))")
                if random.oneIn(2) { try history.archive.store.catalogue.forgetHistory() }
                let again = try thin(history, at: time)
                #expect(again == left, "TEST_SEED=\(seed), run \(number) again: \(Set(left).subtracting(again))")
            }
        }
    }

    /// Files that live from minutes to months, and are renamed, deleted and made again.
    private func randomHistory(_ random: inout SeededGenerator) throws -> MadeHistory {
        let history = try MadeHistory()
        var files: [RelativePath: MadeFile] = [:]
        var (time, line) = (Self.monday, 0)
        for _ in 0..<60 {
            let name = try RelativePath.at(FilePath("f\(random.below(8))"))
            line += 1
            if files[name] == nil {
                files[name] = MadeFile(lines: [line])
            } else if random.oneIn(2) {
                files[name]?.lines.append(line)
            } else if random.oneIn(2) {
                files[name] = nil
            } else {
                let other = try RelativePath.at(FilePath("g\(random.below(100))"))
                files[other] = files[name]
                files[name] = nil
            }
            if random.oneIn(3), let old = files.keys.sorted().first(where: { $0.bytes.first == UInt8(ascii: "g") }) {
                files[old] = nil
            }
            try history.add(files, at: time)
            time += Int64(random.below([30, 600, 5000, 50_000, 900_000][random.below(5)]) + 1)
        }
        return history
    }
}
