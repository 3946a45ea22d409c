// Archives that are short of room: what can be freed, what is forgotten for it, and what is named if that is not enough.

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

@Suite("Room", .blocking) struct RoomTests {
    /// Options of a run so many days later, when no snapshot is young any more.
    private func later(_ days: Int64 = 2, grace: Duration = Archive.defaultGrace) -> MaintenanceOptions {
        var options = MaintenanceOptions()
        options.now = Timestamp(seconds: Timestamp.now.seconds + days * 86_400)
        options.grace = grace
        return options
    }

    private func dryRun(_ options: MaintenanceOptions) -> MaintenanceOptions {
        var options = options
        options.isDryRun = true
        return options
    }

    /// An archive with versions of small incompressible files.
    private func scene(_ versions: Int, bytes: Int = 4000, _ random: inout SeededGenerator) throws -> PruneScene {
        let scene = try PruneScene()
        for version in 0..<versions {
            try scene.root.write("file\(version % 3)", random.noise(bytes))
            try scene.capture()
        }
        return scene
    }

    /// Limits the segments to `bytes`, besides the catalogue.
    private func limit(_ scene: PruneScene, to bytes: UInt64) throws {
        let catalogue = try scene.archive.room().usedBytes - scene.store.storedBytes()
        try scene.archive.setBudget(StorageBudget(maxSize: catalogue + bytes))
    }

    @Test(
        "a limit that cannot be reached forgets nothing and names what takes the space, in a dry run and in status, too"
    )
    func outOfReach() throws {
        var random = SeededGenerator("limits out of reach")
        let scene = try scene(20, &random)
        try scene.root.write("accident.img", random.noise(300_000))
        try scene.capture()
        try limit(scene, to: 150_000)
        let options = later()
        let foreseen = try #require(try scene.archive.maintain(dryRun(options)).plan)
        let result = try scene.archive.maintain(options)
        #expect(result.plan == foreseen)
        #expect(result.thinnedForRoom == 0 && result.isShort && foreseen.going.isEmpty)
        #expect(!foreseen.isReachable && foreseen.causes.count == 1, "\(foreseen)")
        guard case .file(let path, _, let bytes, _, let why) = foreseen.causes.first else {
            Issue.record("no file is named")
            return
        }
        #expect(path == scene.root.full("accident.img") && why == "the newest snapshot")
        #expect((300_000...310_000).contains(bytes))
        try scene.expectAllKept()
        #expect(try scene.archive.status().findings.contains { $0.message.contains("accident.img takes 293.") })
    }

    @Test("if a limit cannot be reached, everything but what is always kept stays within it by itself")
    func byItself() throws {
        var random = SeededGenerator("limits of the rest")
        let scene = try scene(60, &random)
        try scene.root.write("accident.img", random.noise(800_000))
        try scene.capture()
        let catalogue = try scene.archive.room().usedBytes - scene.store.storedBytes()
        try scene.archive.setBudget(StorageBudget(maxSize: 150_000))
        try #require(catalogue + 800_000 > 150_000)
        let result = try scene.archive.maintain(later(grace: .zero))
        let plan = try #require(result.plan)
        #expect(!plan.isReachable && (1...30).contains(result.thinnedForRoom), "\(plan)")
        #expect(plan.freeableBytes > 150_000)
        // The records of a run and half-dead blocks take a little, so a further run may forget a few more.
        var again = try #require(try scene.archive.maintain(later(grace: .zero)).plan)
        for _ in 0..<4 where !again.going.isEmpty {
            again = try #require(try scene.archive.maintain(later(grace: .zero)).plan)
        }
        #expect(again.freeableBytes <= 160_000 && again.going.isEmpty, "\(again)")
        for snapshot in scene.snapshots where try !scene.archive.snapshots().map(\.id).contains(snapshot.id) {
            scene.leaveOut(snapshot)
        }
        try scene.expectAllKept()
    }

    @Test("what one run forgets for room can be brought back together for a day, and is then freed")
    func grace() throws {
        var random = SeededGenerator("a grace for room")
        let scene = try scene(40, &random)
        try limit(scene, to: 130_000)
        let before = try scene.bytes
        let result = try scene.archive.maintain(later())
        let plan = try #require(result.plan)
        #expect(plan.isReachable && result.thinnedForRoom > 0 && !result.isShort, "\(result)")
        #expect(result.room.isShort && plan.waitingBytes >= result.room.lackingBytes)
        #expect(try scene.bytes >= before, "nothing is freed within the grace")
        #expect(try scene.archive.forgottenLast().count == result.thinnedForRoom)
        #expect(try !scene.archive.status().findings.contains { $0.message.contains("limit") })
        #expect(try scene.archive.maintain(later()).thinnedForRoom == 0, "what waits counts")
        try scene.archive.unforget(scene.archive.forgottenLast())
        try scene.expectAllKept()
        let again = try scene.archive.maintain(later())
        #expect(again.thinnedForRoom > 0)
        let end = try scene.archive.maintain(later(4))
        #expect(!end.room.isShort && end.thinnedForRoom == 0, "\(end)")
        #expect(try scene.archive.snapshots().count == 40 - again.thinnedForRoom)
    }

    @Test("no snapshot of the youngest hour is forgotten for room, and one run forgets at most half")
    func bounds() throws {
        var random = SeededGenerator("bounds of a run")
        let scene = try scene(40, &random)
        try limit(scene, to: 30_000)
        var options = later()
        options.now = nil
        let young = try scene.archive.maintain(options)
        #expect(young.thinnedForRoom == 0 && young.plan?.isReachable == false && young.isShort)
        let cause = try #require(young.plan?.causes.first)
        // The newest is always kept; the first too, if all were made within the second that the run is in.
        guard case .lastHour(let count, let bytes) = cause, (38...39).contains(count) else {
            Issue.record("\(cause)")
            return
        }
        #expect(bytes > 100_000 && cause.message.hasPrefix("\(count) snapshots of the last hour take"))
        let first = try scene.archive.maintain(later(grace: .zero))
        #expect(first.thinnedForRoom == 20 && first.plan?.isContinued == true && first.isShort, "\(first)")
        var runs = 1
        while try scene.archive.maintain(later(grace: .zero)).isShort, runs < 6 { runs += 1 }
        #expect(runs < 6 && runs > 1)
        #expect(try scene.archive.snapshots().count > 1)
    }

    @Test("only what frees something is forgotten: drafts before a large file stay")
    func density() throws {
        var random = SeededGenerator("drafts and a large file")
        let scene = try PruneScene()
        for version in 0..<20 {
            try scene.root.write("draft", "\(version)")
            try scene.capture()
        }
        try scene.root.write("large", random.noise(300_000))
        try scene.capture()
        try scene.root.remove("large")
        try scene.root.write("draft", "the end")
        try scene.capture()
        try scene.root.write("draft", "after the end")
        try scene.capture()
        let used = try scene.archive.room().usedBytes
        try scene.archive.setBudget(StorageBudget(maxSize: used - 200_000))
        let result = try scene.archive.maintain(later(grace: .zero))
        #expect(!result.isShort && result.plan?.isReachable == true, "\(result)")
        let listed = Set(try scene.archive.snapshots().map(\.id))
        #expect(scene.snapshots[0..<20].count { listed.contains($0.id) } >= 18, "\(listed.count) are left")
        #expect(!listed.contains(scene.snapshots[20].id))
    }

    @Test("space that other programs use is named, and nothing is forgotten for it")
    func otherPrograms() throws {
        var random = SeededGenerator("other programs")
        let scene = try scene(20, &random)
        let budget = StorageBudget(minFreeBytes: 500_000_000, minFreePercent: nil)
        func plan(free: UInt64) throws -> RoomPlan {
            let room = ArchiveRoom(
                usedBytes: try scene.archive.room().usedBytes, freeBytes: free, totalBytes: 1_000_000_000,
                budget: budget, isBudgetSet: true)
            let options = later()
            return try RoomPlanning(
                archive: scene.archive, room: room, options: options, now: try #require(options.now), thinned: [],
                mark: LiveMark(scene.store)
            ).plan()
        }
        let full = try plan(free: 400_000_000)
        #expect(full.going.isEmpty && !full.isReachable)
        #expect(full.causes.contains { if case .otherPrograms(let bytes) = $0 { bytes > 599_000_000 } else { false } })
        let little = try plan(free: 500_000_000 - 20_000)
        #expect(little.isReachable && (4...7).contains(little.going.count), "\(little)")
        #expect(little.causes.isEmpty)
    }

    @Test("on a full disk, what was forgotten loses its grace")
    func fullDisk() throws {
        var random = SeededGenerator("full disks")
        let scene = try scene(20, &random)
        try scene.thin { $0 >= 10 }
        var options = later()
        options.isRoomOut = true
        let before = try scene.bytes
        let result = try scene.archive.maintain(options)
        #expect(result.pruned?.freedBytes ?? 0 > 30_000, "\(result)")
        #expect(try scene.bytes < before)
        #expect(result.plan?.waitingBytes == 0)
    }

    @Test("a segment that captures use is freed: they go on in a new one")
    func retired() throws {
        var random = SeededGenerator("retired segments")
        let scene = try PruneScene(segmentBytes: 4 << 20)
        for _ in 0..<6 {
            try scene.root.write("file", random.noise(100_000))
            try scene.capture()
        }
        try scene.thin { $0 >= 4 }
        let before = try Set(scene.segments().keys)
        // A watcher's archive goes on to capture while another object frees the space.
        let others = try Archive.open(scene.archive.directory)
        try scene.store.retireSegments()
        try scene.root.write("file", "during the prune")
        try scene.capture()
        let result = try others.maintain(later(grace: .zero))
        scene.store.continueSegments()
        #expect(result.pruned?.inUse == 0 && result.pruned?.freedBytes ?? 0 > 300_000, "\(result)")
        #expect(try before.isDisjoint(with: scene.segments().keys))
        try scene.expectAllKept()
    }

    @Test("a process that is suspended while it holds a lock is found; one that runs is not")
    func stoppedHolder() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("lock")
        do {
            let lock = try FileLock.exclusive(EnclosedPath(file: path))
            #expect(KernelLocks.holders(of: path).isEmpty)
            #expect(KernelLocks.stoppedHolder(of: path) == nil)
            withExtendedLifetime(lock) {}
        }
        let process = try ChildProcess(
            ["flock", "--no-fork", path.string, "sh", "-c", "kill -STOP $$"])
        var status = siginfo_t()
        #expect(waitid(P_PID, id_t(process.id), &status, WSTOPPED | WNOWAIT) == 0)
        #expect(KernelLocks.stoppedHolder(of: path)?.process == process.id)
        process.send(SIGCONT)
        #expect(try process.finish().status == 0)
    }

    @Test("a capture and a change of what is kept name a suspended process instead of waiting for it forever")
    func stoppedLock() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "1")
        let snapshot = try sandbox.capture()
        let root = ChunkID(hashing: sandbox.root.directory.bytes).hex.prefix(16)
        for name in ["capture-\(root).lock", "keeping.lock"] {
            let path = sandbox.archive.store.layout.lock(name).path
            let process = try ChildProcess(["flock", "--no-fork", path.string, "sh", "-c", "kill -STOP $$"])
            var status = siginfo_t()
            #expect(waitid(P_PID, id_t(process.id), &status, WSTOPPED | WNOWAIT) == 0)
            ArchiverError.expect(.inUse) {
                if name == "keeping.lock" {
                    try sandbox.archive.forget([.snapshot(snapshot)])
                } else {
                    _ = try sandbox.archive.capture(sandbox.root.directory)
                }
            }
            process.send(SIGCONT)
            #expect(try process.finish().status == 0)
        }
        try sandbox.root.write("file", "2")
        #expect(try sandbox.archive.capture(sandbox.root.directory).snapshot != nil)
    }

    // MARK: Models

    @Test("the survey's bytes are those of a model that knows which snapshots need each block")
    func survey() throws {
        var random = SeededGenerator("marginal bytes")
        let scene = try PruneScene(segmentBytes: 200_000)
        for _ in 0..<12 {
            for name in 0..<3 where random.below(2) == 0 {
                var bytes = random.noise(3000)
                // Similar versions are stored as deltas.
                if random.below(2) == 0 { bytes = [UInt8](repeating: UInt8(random.below(256)), count: 2000) + bytes }
                try scene.root.write("file\(name)", bytes)
            }
            try scene.root.write("all", String(repeating: "a line\n", count: 2000 + random.below(50)))
            try scene.capture()
        }
        scene.store.releaseWriters()
        let ids = scene.snapshots.map(\.id)
        let always = ids.filter { _ in random.below(3) == 0 } + [try #require(ids.last)]
        let going = ids.filter { !always.contains($0) }.shuffled(using: &random)
        let survey = try RoomSurvey(
            scene.store, always: always, groups: going.map { .snapshots([$0]) }, LiveMark(scene.store))
        let model = try BlockModel(scene)
        var freed: UInt64 = 0
        for count in 0...going.count {
            freed += survey.freedBytes[count]
            let left = always + going.dropFirst(count)
            #expect(try freed == model.freed(left), "after \(count) of \(going.count)")
        }
    }

    /// How many random archives are tried; ROOM_TESTS=200 tries more.
    private static let tries =
        ProcessInfo.processInfo.environment["ROOM_TESTS"].flatMap(Int.init) ?? (isThorough ? 50 : 8)

    @Test(
        "random archives and limits: what can be reached is, nothing that a rule keeps is forgotten, the rest is named")
    func randomLimits() throws {
        var random = SeededGenerator("random limits")
        for number in 0..<RoomTests.tries { try tryLimit(number, &random) }
    }

    private func tryLimit(_ number: Int, _ random: inout SeededGenerator) throws {
        let scene = try PruneScene(segmentBytes: [20_000, 40_000, 1 << 20][random.below(3)])
        for _ in 0..<(4 + random.below(8)) {
            for name in 0..<(1 + random.below(3)) {
                try scene.root.write("file\(name)", random.noise(500 + random.below(12_000)))
            }
            if random.below(4) == 0 { try scene.root.write("large", random.noise(40_000 + random.below(60_000))) }
            try scene.capture()
        }
        let archive = scene.archive
        var kept = [try #require(scene.snapshots.last).id]
        for snapshot in scene.snapshots where random.below(6) == 0 {
            kept.append(snapshot.id)
            if random.below(2) == 0 {
                try archive.pin(.snapshot(snapshot))
            } else {
                try archive.label(.snapshot(snapshot), as: "label \(snapshot.id.short)")
            }
        }
        scene.store.releaseWriters()
        let (used, least) = (try archive.room().usedBytes, try leastSize(scene, keeping: kept))
        let share = random.below(100)
        let limit = max(1, used / 50 + (used - used / 50) / 100 * UInt64(share))
        try archive.setBudget(StorageBudget(maxSize: limit))
        let options = later(1 + Int64(random.below(200)), grace: .zero)
        let foreseen = try archive.maintain(dryRun(options))
        #expect(try archive.snapshots().count == scene.snapshots.count)
        var result = try archive.maintain(options)
        let name = Comment(rawValue: "archive \(number): \(used) bytes, at least \(least), limit \(limit), \(result)")
        #expect(foreseen.plan == result.plan, name)
        #expect(foreseen.thinnedForRoom == result.thinnedForRoom, name)
        for _ in 0..<8 where result.isShort { result = try archive.maintain(options) }
        let listed = Set(try archive.snapshots().map(\.id))
        #expect(kept.allSatisfy(listed.contains), name)
        // The records of the runs and half-dead blocks take a little.
        let slack = used / 20 + 4096
        if limit >= least + slack {
            #expect(!result.room.isShort && result.plan?.isReachable ?? true, name)
        } else if limit + slack < least {
            #expect(result.isShort && result.plan?.isReachable == false && result.plan?.causes != [], name)
            // The records of forgetting may take more than it frees.
            if used + slack < limit + least { #expect(listed.count == scene.snapshots.count, name) }
        }
        #expect(try archive.check(data: true).findings == [], name)
    }

    /// Returns the size of a copy of the archive after everything but `kept` was forgotten and pruned.
    private func leastSize(_ scene: PruneScene, keeping kept: [SnapshotID]) throws -> UInt64 {
        let copy = scene.sandbox.base.directory.appending("copy")
        try FileManager.default.copyItem(atPath: scene.archive.directory.string, toPath: copy.string)
        let archive = try Archive.open(copy)
        try archive.store.forget(Set(scene.snapshots.map(\.id).filter { !kept.contains($0) }.map(\.chunk)))
        _ = try archive.prune(protecting: ForgottenSpan(grace: .zero), goalBytes: .max, isDryRun: false)
        return try archive.room().usedBytes
    }
}

/// Which snapshots need each block, found separately for each snapshot.
private struct BlockModel {
    private struct Block {
        var length: UInt64
        var isLasting: Bool
        var bases: [ChunkPrefix]
    }

    private var blocks: [BlockLocation: Block] = [:]
    private var places: [ChunkID: BlockLocation] = [:]
    private var needs: [SnapshotID: Set<ChunkID>] = [:]

    init(_ scene: PruneScene) throws {
        var (blocks, places): ([BlockLocation: Block], [ChunkID: BlockLocation]) = ([:], [:])
        try scene.store.catalogue.forEachBlock { location, block in
            blocks[location] = Block(
                length: UInt64(block.length), isLasting: block.isLasting, bases: block.bases)
        }
        try scene.store.catalogue.forEachChunk { id, location in
            if places[id] == nil { places[id] = location }
            return true
        }
        (self.blocks, self.places) = (blocks, places)
        for snapshot in scene.snapshots {
            var mark = LiveMark(scene.store)
            var chunks: Set<ChunkID> = []
            try mark.visit(snapshot: snapshot.id) { chunks.insert($0) }
            needs[snapshot.id] = chunks
        }
    }

    /// The bytes of the blocks that none of `left` needs.
    func freed(_ left: [SnapshotID]) throws -> UInt64 {
        var needed = Set(left.flatMap { needs[$0] ?? [] }.compactMap { places[$0] })
        for place in needed { needed.formUnion(roots(of: place)) }
        return blocks.filter { !$0.value.isLasting && !needed.contains($0.key) }.values.reduce(0) { $0 + $1.length }
    }

    private func roots(of place: BlockLocation) -> [BlockLocation] {
        guard let block = blocks[place] else { return [] }
        if block.bases.isEmpty { return [place] }
        return block.bases.flatMap { base in
            places.first { base.begins($0.key) }.map { roots(of: $0.value) } ?? []
        }
    }
}
