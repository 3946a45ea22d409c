// Maintaining an archive: what is forgotten and pruned automatically, what is always kept, and when nothing is done.

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

@Suite("Maintenance", .blocking) struct MaintenanceTests {
    /// Writes versions of incompressible files, and captures each.
    private func write(_ versions: Int, _ scene: PruneScene, _ random: inout SeededGenerator) throws {
        for version in 0..<versions {
            try scene.root.write("file\(version % 3)", random.noise(4000))
            try scene.capture()
        }
    }

    /// Makes the scene expect exactly the snapshots that are listed now.
    private func followThinning(_ scene: PruneScene) throws {
        let listed = Set(try scene.archive.snapshots().map(\.id))
        for snapshot in scene.snapshots where !listed.contains(snapshot.id) { scene.leaveOut(snapshot) }
    }

    @Test("an archive over its budget forgets snapshots until it fits, and the remaining ones restore")
    func budget() throws {
        var random = SeededGenerator("budgets")
        let scene = try PruneScene()
        try write(60, scene, &random)
        let newest = try #require(scene.snapshots.last)
        try scene.archive.pin(.snapshot(scene.snapshots[20]))
        let before = try scene.archive.room()
        #expect(!before.isShort && !before.isBudgetSet)
        let catalogue = try before.usedBytes - scene.archive.store.storedBytes()
        try scene.archive.setBudget(StorageBudget(maxSize: catalogue + 175_000))
        #expect(try scene.archive.room().isShort)
        var options = MaintenanceOptions()
        options.grace = .zero
        options.now = Timestamp(seconds: Timestamp.now.seconds + 2 * 86_400)
        options.isDryRun = true
        let foreseen = try scene.archive.maintain(options)
        #expect(try scene.archive.snapshots().count == 60 && foreseen.room.isShort, "a dry run changes nothing")
        options.isDryRun = false
        let result = try scene.archive.maintain(options)
        #expect(foreseen.plan == result.plan)
        let room = try scene.archive.room()
        #expect(!room.isShort, "\(room)")
        #expect(result.thinnedForRoom > 20 && result.room.usedBytes == room.usedBytes)
        let listed = try scene.archive.snapshots().map(\.id)
        #expect(listed.contains(newest.id) && listed.contains(scene.snapshots[20].id))
        #expect(listed.count == 60 - result.thinnedForRoom)
        try followThinning(scene)
        try scene.expectAllKept()
        try scene.expectAllKept(scene.rebuild(), "with a new catalogue")
        // Reclaimed snapshots are not shown as forgotten; those in segments that were not worth pruning are.
        #expect(try scene.archive.forgotten().count < result.thinnedForRoom, "\(result)")
        // The records of forgetting may have been pruned, too.
        let reasons = try scene.archive.store.catalogue.forgotten().map(\.reason)
        #expect(reasons.allSatisfy { $0 == .room } && reasons.count <= result.thinnedForRoom)
        // A child of another test may hold a segment's lock for a moment: that segment is skipped.
        let isLeftAlone = (result.pruned?.inUse ?? 0) > 0
        #expect(try isLeftAlone || !scene.archive.maintain(options).hasChanged, "nothing is left to do")
    }

    @Test("a policy is applied, and what it forgets can be brought back during the grace")
    func policy() throws {
        var random = SeededGenerator("policies")
        let scene = try PruneScene()
        try write(20, scene, &random)
        try scene.archive.setPolicy(RetentionPolicy(weekly: .forever))
        let bytes = try scene.bytes
        let result = try scene.archive.maintain()
        #expect(result.thinned > 10 && result.thinnedForRoom == 0)
        let forgotten = try scene.archive.forgotten()
        #expect(forgotten.count == result.thinned && forgotten.allSatisfy { $0.reason == .policy })
        #expect(try scene.bytes >= bytes, "nothing is freed within the grace")
        try scene.archive.unforget(forgotten)
        try scene.expectAllKept()
        var options = MaintenanceOptions()
        options.grace = .zero
        #expect(try scene.archive.maintain(options).hasChanged)
        #expect(try scene.bytes < bytes)
        try followThinning(scene)
        try scene.expectAllKept()
    }

    @Test("an unattended run prunes only if that is worth it, and checks nothing twice")
    func unattended() throws {
        var random = SeededGenerator("unattended")
        let scene = try PruneScene()
        try write(30, scene, &random)
        var options = MaintenanceOptions.unattended
        options.grace = .zero
        #expect(try !scene.archive.maintain(options).hasChanged, "nothing is forgotten")
        try scene.thin { $0 % 5 == 0 }
        #expect(try !scene.archive.maintain(options).hasChanged, "pruning is not worth it")
        options.leastFreedBytes = 0
        #expect(try !scene.archive.maintain(options).hasChanged, "nothing was forgotten since")
        try scene.forget(at: 2)
        #expect(try scene.archive.maintain(options).pruned == nil, "one of thirty is not worth a check")
        for _ in 0..<3 { try scene.forget(at: 1) }
        #expect(try scene.archive.maintain(options).hasChanged)
        try scene.expectAllKept()
        // A week without a check.
        let place = scene.archive.directory.appending("settings").appending("pruned").string
        let now = Timestamp.now.seconds
        try Files("/").write(FilePath(place), Array("\(now - 8 * 86_400) 0\n".utf8))
        try scene.forget(at: 1)
        _ = try scene.archive.maintain(options)
        let looked = try String(contentsOfFile: place, encoding: .utf8).split(separator: " ").first
        #expect(looked.flatMap { Int64($0) } ?? 0 >= now)
        options.grace = Archive.defaultGrace
        try scene.forget(at: 0)
        #expect(try !scene.archive.maintain(options).hasChanged, "the grace protects it")
        options.isRoomOut = true
        #expect(try scene.archive.maintain(options).hasChanged, "on a full disk it does not")
        try scene.expectAllKept()
    }

    @Test("what a run skips because its segment is in use is freed by the next one, and nothing is forgotten instead")
    func inUse() throws {
        var random = SeededGenerator("segments in use")
        let scene = try PruneScene(segmentBytes: 1 << 20)
        try write(20, scene, &random)
        try scene.thin { $0 >= 12 }
        try scene.archive.setBudget(StorageBudget(maxSize: scene.archive.room().usedBytes - 12_000))
        scene.store.releaseWriters()
        let segment = try #require(scene.segments().keys.first)
        do {
            // Another process writes to the segment.
            let file = try Descriptor.open(segment, O_RDWR)
            #expect(flock(file.number, LOCK_EX | LOCK_NB) == 0)
            let result = try scene.archive.maintain(.unattended)
            #expect(result.pruned?.inUse == 1 && !result.hasChanged && result.room.isShort, "\(result)")
        }
        let result = try scene.archive.maintain(.unattended)
        #expect(result.pruned?.inUse == 0 && result.hasChanged && !result.room.isShort, "\(result)")
        #expect(result.thinnedForRoom == 0)
        #expect(try scene.archive.forgotten().isEmpty)
        try scene.expectAllKept()
    }

    @Test("the space to free follows from the budget, the archive's size and its disk")
    func room() {
        func lacking(
            used: UInt64, free: UInt64, of total: UInt64, _ budget: StorageBudget = StorageBudget(), isSet: Bool = true
        ) -> UInt64 {
            ArchiveRoom(usedBytes: used, freeBytes: free, totalBytes: total, budget: budget, isBudgetSet: isSet)
                .lackingBytes
        }
        let gigabyte: UInt64 = 1 << 30
        #expect(lacking(used: 5, free: gigabyte, of: 2 * gigabyte) == 0)
        #expect(lacking(used: 5, free: gigabyte, of: 2 * gigabyte, StorageBudget(maxSize: 3)) == 2)
        // A tenth or 10 GiB, whichever is less.
        #expect(lacking(used: gigabyte, free: 0, of: 1000) == 100)
        #expect(lacking(used: 100 * gigabyte, free: gigabyte, of: 1000 * gigabyte) == 9 * gigabyte)
        // Others have filled the disk.
        #expect(lacking(used: 7, free: 0, of: gigabyte) == 7)
        // Without a budget set, a small archive is left alone.
        #expect(lacking(used: 7, free: 0, of: gigabyte, isSet: false) == 0)
        #expect(lacking(used: gigabyte, free: 0, of: 1000, isSet: false) == 100)
        let none = StorageBudget(maxSize: nil, minFreeBytes: nil, minFreePercent: nil)
        #expect(lacking(used: gigabyte, free: 0, of: gigabyte, none) == 0)
    }

    @Test("each step narrows a policy, for old snapshots before young ones")
    func narrowed() throws {
        #expect(RetentionPolicy.everything.narrowed(step: 1) == .usual)
        #expect(try RetentionPolicy(all: .forever).narrowed(step: 1) == .usual)
        let policy = try RetentionPolicy(all: .seconds(7200), daily: .seconds(864_000), weekly: .forever)
        #expect(policy.narrowed(step: 1) == policy)
        let second = policy.narrowed(step: 2)
        #expect(second.tiers.map(\.age) == [3600, 432_000, nil])
        #expect(second.tiers.map(\.width) == [0, 86_400, 2 * 604_800])
        let ages: [UInt64] = [0, 3600, 86_400, 864_000, 86_400_000]
        for age in ages {
            var widths: [UInt64] = []
            for step in 1...16 { widths.append(policy.narrowed(step: step).width(atAge: age) ?? UInt64.max) }
            #expect(widths == widths.sorted(), "at the age \(age): \(widths)")
            // The last step keeps none by its age, not even one of this second.
            #expect(widths.last == .max, "at the age \(age): \(widths)")
        }
    }

    @Test("a watcher maintains its archive while it captures")
    func watched() async throws {
        let scene = try PruneScene()
        var random = SeededGenerator("watched archives")
        try write(30, scene, &random)
        try scene.thin { $0 % 6 == 0 }
        var maintenance = MaintenanceOptions.unattended
        maintenance.grace = .zero
        maintenance.leastFreedBytes = 0
        let watcher = try await Watcher(scene.archive, roots: [scene.root.directory]) { options in
            // An hour takes 360 ms.
            options.timeScale = 10_000
            options.maintenance = maintenance
        }
        // The prune may happen before the first capture, or after many.
        func freed() -> Bool {
            watcher.seen.contains { event in
                if case .maintained(let result) = event { return result.pruned.map { $0.freedBytes > 0 } ?? false }
                return false
            }
        }
        for number in 0..<500 where number < 4 || !freed() {
            try scene.root.write("while watched", "\(number)")
            try scene.remember(try await watcher.nextSnapshot())
        }
        #expect(freed())
        try await watcher.stop()
        try scene.reopen(withNewCatalogue: false)
        try scene.expectAllKept()
    }

    @Test("a watcher reports that its archive is close to its limits before it forgets anything for room")
    func near() async throws {
        let scene = try PruneScene()
        var random = SeededGenerator("archives close to their limits")
        try write(4, scene, &random)
        let used = try scene.archive.room().usedBytes
        try scene.archive.setBudget(StorageBudget(maxSize: used + used / 4))
        let watcher = try await Watcher(scene.archive, roots: [scene.root.directory]) { options in
            // The room is measured every 100 ms.
            options.timeScale = 600
            options.maintenance = .unattended
        }
        try scene.root.write("further", (0..<Int(used / 5)).map { _ in UInt8(random.below(256)) })
        try await watcher.next { event in
            if case .maintained(let result) = event { result.room.isAlmostShort } else { false }
        }
        try await watcher.stop()
        #expect(try scene.archive.forgotten().isEmpty)
    }
}
