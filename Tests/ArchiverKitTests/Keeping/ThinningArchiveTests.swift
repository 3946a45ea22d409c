// Thinning a real archive: its cost, and the state of the archive afterwards.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import Glibc
import Roots
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit
@testable import Keeping

@Suite("Thinning an archive", .blocking)
struct ThinningArchiveTests {
    private let sandbox: Sandbox
    private var archive: Archive { sandbox.archive }

    init() throws { sandbox = try Sandbox() }

    private static let day: Int64 = 86_400

    private static func id(_ number: Int) -> SnapshotID { SnapshotID(ChunkID(hashing: Array("made \(number)".utf8))) }

    /// Lists snapshots of one root in the catalogue only, at these ages in seconds; each changes a file.
    private func list(_ ages: [Int64], now: Int64 = Timestamp.now.seconds) throws {
        let catalogue = archive.store.catalogue
        let segment = try catalogue.enterSegment("s", indexedLength: 0).number
        let change = PathChange(path: try #require(RelativePath(Array("file".utf8))), kind: .modified, object: .file)
        var next = 0
        while next < ages.count {
            let numbers = next..<min(next + 5000, ages.count)
            let records = numbers.map { number in
                ListedSnapshot(
                    id: Self.id(number), time: Timestamp(seconds: now - ages[number]), rootPath: Array("/made".utf8),
                    host: "here", cause: .watch, label: nil, parent: number > 0 ? Self.id(number - 1) : nil,
                    tree: Self.id(number).chunk, totals: Totals(files: 10), changes: ChangeCounts(modified: 1),
                    problems: 0,
                    storedBytes: 400, sequence: UInt64(number + 1), machine: Machine.id)
            }
            let changes = Dictionary(records.map { ($0.id, $0.parent == nil ? [] : [change]) }) { first, _ in first }
            try catalogue.enter(
                segment: segment, length: 0, chunks: [], records: CommitRecords(snapshots: records, changes: changes))
            next = numbers.upperBound
        }
    }

    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test("the snapshots of a year are thinned in one commit, and planning again takes almost no time")
    func cost() throws {
        // A year with 274 snapshots a day, one every 38 s; in a short run, with 55.
        let perDay: Int64 = isThorough ? 274 : 55
        let ages = (0..<365 * perDay).map { number in
            let (day, place) = number.quotientAndRemainder(dividingBy: perDay)
            return (365 - day) * Self.day - place * 38
        }
        try list(ages)
        try archive.setPolicy(.usual)
        let before = Self.processorSeconds()
        let plans = try archive.thin()
        let spent = Self.processorSeconds() - before
        let plan = try #require(plans.first)
        #expect(plan.count == ages.count && plan.going.count > ages.count - 5_000, "\(plan.kept)")
        #expect(try archive.snapshotCount() == ages.count - plan.going.count)
        print(
            "thinned \(ages.count) snapshots to \(ages.count - plan.going.count) in \(spent) s of processor time: \(plan.kept)"
        )
        let number = try #require(try archive.number(of: plan.root))
        let again = Self.processorSeconds()
        #expect(try archive.plan(plan.root, number, .usual, now: .now).going.count <= 2)
        print("planned again in \(Self.processorSeconds() - again) s of processor time")
    }

    @Test("a dry run forgets nothing; thinning forgets what the policy does not keep, and it can be brought back")
    func dryRun() throws {
        // Around noon, so that all are of one day.
        let noon = Timestamp.now.seconds / Self.day * Self.day - Self.day / 2
        try list((0..<50).map { 40 * Self.day - $0 }, now: noon)
        let root = try #require(try archive.roots().first)
        #expect(try archive.thin().isEmpty)
        try archive.setPolicy(RetentionPolicy(daily: .forever), of: root)
        let plan = try #require(try archive.thin(ThinningOptions(isDryRun: true)).first)
        #expect(plan.going.count == 48)
        #expect(try archive.snapshotCount() == 50)
        #expect(try archive.thin().first?.going == plan.going)
        #expect(try archive.snapshotCount() == 2)
        #expect(try archive.forgottenLast().count == 48)
    }

    @Test("other archive objects see the policies of a root and of all roots, and policies can be reset")
    func policies() throws {
        try list([5])
        let root = try #require(try archive.roots().first)
        let daily = try RetentionPolicy(daily: .forever)
        #expect(try archive.policy(of: root) == .everything)
        try archive.setPolicy(.usual)
        try archive.setBudget(StorageBudget(maxSize: 1 << 30, minFreeBytes: nil, minFreePercent: 5))
        try archive.setPolicy(daily, of: root)
        let other = try sandbox.reopened()
        #expect(try other.policy() == .usual && other.policy(of: root) == daily)
        #expect(try other.budget() == StorageBudget(maxSize: 1 << 30, minFreeBytes: nil, minFreePercent: 5))
        try archive.setPolicy(nil, of: root)
        #expect(try other.policy(of: root) == .usual && other.ownPolicy(of: root) == nil)
        try archive.setPolicy(.everything, of: root)
        #expect(try other.policy(of: root) == .everything)
        try archive.setPolicy(nil)
        #expect(try other.policy() == .everything && other.budget().maxSize == 1 << 30)
        try archive.setBudget(StorageBudget(minFreeBytes: nil, minFreePercent: nil))
        #expect(try other.budget() == StorageBudget())
        #expect(throws: ArchiverError.self) { try archive.setBudget(StorageBudget(minFreePercent: 101)) }
        #expect(throws: ArchiverError.self) { try archive.setBudget(StorageBudget(maxSize: 0)) }
    }

    @Test("the last state with a deleted file stays, and later ones may go")
    func deletedFile() throws {
        // Two snapshots a minute apart; then the file that both have is deleted.
        try sandbox.root.write("file", "content")
        try sandbox.root.write("other", "1")
        let snapshots = try (0..<6).map { number in
            try sandbox.root.write("other", "\(number)")
            if number == 3 { try sandbox.root.remove("file") }
            return try sandbox.capture()
        }
        let root = try #require(try archive.roots().first)
        let number = try #require(try archive.number(of: root))
        // Only seconds have passed, so the file has lived less than a span of a minute.
        let later = Timestamp(seconds: Timestamp.now.seconds + 40 * Self.day)
        let plan = try archive.plan(root, number, RetentionPolicy(minutely: .forever), now: later)
        #expect(Set(plan.going.map(\.id)).isSuperset(of: [snapshots[1].id, snapshots[4].id]))
        #expect(!plan.going.contains { $0.id == snapshots[0].id || $0.id == snapshots[5].id })
    }

    @Test("after a first run, an unattended run that would forget most of many snapshots fails")
    func jump() throws {
        try archive.setPolicy(.usual)
        try archive.thin()
        try list((0..<2000).map { 40 * Self.day - $0 })
        #expect {
            try archive.thin(ThinningOptions(isUnattended: true))
        } throws: { ($0 as? ArchiverError)?.code == .tooMuchToForget }
        #expect(try archive.snapshotCount() == 2000)
        #expect(try archive.thin().first?.going.count ?? 0 > 1900)
    }
}
