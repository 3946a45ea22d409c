// Pruning: it frees the space of what is forgotten, and touches nothing else.

import ArchiveFormat
import ArchiveStorage
import Dispatch
import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading

@testable import ArchiverKit

@Suite("Reclaiming space", .timeLimit(.minutes(60)), .blocking) struct PruneTests {
    /// Writes versions of a document and of other files, each slightly different, and captures them.
    private func write(_ versions: Int, _ scene: PruneScene, _ random: inout SeededGenerator) throws {
        var lines = (0..<400).map { "line \($0) \(random.below(1 << 30))" }
        for version in 0..<versions {
            for _ in 0..<4 { lines[random.below(lines.count)] = "changed in \(version): \(random.below(1 << 30))" }
            try scene.root.write("document", lines.joined(separator: "\n"))
            try scene.root.write("file\(version % 2)", random.noise(500 + random.below(2000)))
            try scene.capture()
        }
    }

    @Test("pruning frees the space of forgotten snapshots, and every kept snapshot restores")
    func freed() throws {
        var random = SeededGenerator("pruning")
        let scene = try PruneScene()
        try write(100, scene, &random)
        let whole = try scene.bytes
        #expect(try scene.archive.prune(grace: .zero).dropped == 0)
        try scene.thin { $0 % 10 == 0 }
        let thinned = try scene.segments()
        let foreseen = try scene.archive.prune(grace: .zero, isDryRun: true)
        #expect(try scene.segments() == thinned, "a dry run changes nothing")
        let result = try scene.archive.prune(grace: .zero)
        let left = try scene.bytes
        #expect(left * 3 < whole, "\(left) of \(whole) bytes are left")
        #expect(result.bytesBefore >= UInt64(whole) && result.freedBytes > 0)
        #expect(foreseen.freedBytes > 0 && foreseen.isDryRun)
        try scene.expectAllKept()
        try scene.expectAllKept(scene.rebuild(), "with a new catalogue")
        // A child of another test may hold a segment's lock for a moment: that segment stays.
        let again = try Archive.open(scene.archive.directory).prune(grace: .zero)
        #expect(again.freedBytes == 0 || result.inUse > 0, "nothing is left to free")
    }

    @Test("pruning beside other processes leaves the bytes of a hard-linked copy of the archive")
    func hardLinks() throws {
        var random = SeededGenerator("copies by hard links")
        let scene = try PruneScene()
        try write(40, scene, &random)
        let before = try scene.segments()
        let copies = scene.sandbox.base.directory.appending("copies")
        try Directory.create(copies, permissions: 0o700, durable: false)
        for (number, path) in before.keys.enumerated() where number % 2 == 0 {
            #expect(link(path.string, copies.appending("\(number)").string) == 0)
        }
        try scene.thin { $0 % 8 == 0 }
        let other = try Archive.open(scene.archive.directory)
        #expect(scene.store.isOpenElsewhere)
        #expect(try scene.archive.prune(grace: .zero).dropped > 0)
        for (number, bytes) in before.values.enumerated() where number % 2 == 0 {
            // The last segment was appended to.
            #expect(try Files(copies).read(FilePath("\(number)")).starts(with: bytes))
        }
        try scene.expectAllKept(other)
    }

    @Test("saved states take no more space after some of them were forgotten and pruned than before")
    func statesStayDeltas() throws {
        var random = SeededGenerator("states that are moved")
        let scene = try PruneScene()
        var lines = (0..<400).map { _ in "a line \(random.below(1 << 30))" }
        var states: [StateID] = []
        for _ in 0..<300 {
            lines[random.below(lines.count)] = "another \(random.below(1 << 30))"
            states.append(StateID(try scene.archive.save(lines, as: "lines").id))
        }
        let whole = try scene.bytes
        // Forget a part of each segment, so that the rest has to be moved.
        let gone = states.indices.filter { $0 % 4 == 1 }
        try scene.store.forget(Set(gone.map { states[$0].chunk }))
        let result = try scene.archive.prune(grace: .zero)
        let left = try scene.bytes
        #expect(result.movedBytes > 0)
        #expect(left <= whole, "\(left) bytes instead of \(whole)")
        #expect(try scene.archive.load([String].self, as: "lines") == lines)
        #expect(try scene.archive.check(data: true).findings == [])
    }

    @Test("a dropped segment that reappears brings nothing back")
    func oldCopies() throws {
        var random = SeededGenerator("old copies of segments")
        let scene = try PruneScene()
        try write(40, scene, &random)
        let before = try scene.segments()
        try scene.thin { $0 % 8 == 0 }
        _ = try scene.archive.prune(grace: .zero)
        let after = try scene.segments()
        let gone = before.filter { after[$0.key] == nil }
        #expect(!gone.isEmpty)
        for (path, bytes) in gone { try Files("/").write(path, bytes) }
        try scene.expectAllKept(nil, "with old segments")
        try scene.expectAllKept(scene.rebuild(), "with old segments and a new catalogue")
        _ = try Archive.open(scene.archive.directory).prune(grace: .zero)
        for path in gone.keys { #expect(!Files("/").exists(path), "\(path) still exists") }
    }

    @Test("a snapshot that was brought back stays when segments are dropped, also with a rebuilt catalogue")
    func statementsOfWhatIsBack() throws {
        var random = SeededGenerator("statements of bringing back")
        let scene = try PruneScene()
        try write(30, scene, &random)
        let early = scene.snapshots[3]
        try scene.forget(at: 3)
        try scene.archive.unforget([scene.archive.forgotten(withIDPrefix: early.id.hex)])
        try scene.expectBack(early)
        for _ in 0..<3 {
            try scene.thin { scene.snapshots[$0].id == early.id || $0 % 3 == 0 }
            _ = try scene.archive.prune(grace: .zero)
            try scene.reopen(withNewCatalogue: true)
            try scene.expectAllKept(scene.archive, "with a new catalogue")
        }
    }

    @Test("a chunk that a running commit has found in the archive is still there when it ends")
    func grace() async throws {
        let scene = try PruneScene()
        let content = [UInt8]((0..<3000).map { UInt8(truncatingIfNeeded: $0 * $0 / 7) })
        try scene.root.write("file", content)
        try scene.capture()
        try scene.root.remove("file")
        for number in 0..<6 {
            try scene.root.write("other", "\(number)")
            try scene.capture()
        }
        try scene.thin { $0 != 0 }
        // The chunk is in the archive, and nothing needs it.
        let id = ChunkID(hashing: content)
        let waits = DispatchSemaphore(value: 0)
        let writer = try Archive.open(scene.archive.directory)
        let commit = try writer.store.beginCommit()
        #expect(try !commit.claim(id))
        let archive = scene.archive
        let number = Files(archive.directory.appending("locks"))
        // A prune that is cancelled while waiting has begun an epoch of its own; the next one still waits for the
        // commit.
        let first = try? number.read("epoch")
        _ = try await onThread {
            ArchiverError.expect(.cancelled) {
                _ = try archive.prune(grace: .zero, isCancelled: { (try? number.read("epoch")) != first })
            }
        }
        // A waiting prune polls `isCancelled`, too; it condemns segments just before.
        async let pruned = onThread {
            defer { waits.signal() }
            return try archive.prune(
                grace: .zero,
                isCancelled: {
                    let segments = (try? archive.store.catalogue.segments()) ?? []
                    if segments.contains(where: { $0.state == .condemned }) { waits.signal() }
                    return false
                })
        }
        try await onThread { waits.wait() }
        #expect(try Archive.open(scene.archive.directory).store.catalogue.location(of: id) != nil)
        let record = StateRecord(
            title: "found", host: "", time: .now, type: "bytes",
            content: .slices([Slice(length: UInt64(content.count), chunk: id)]))
        _ = try commit.commit(record, content: [], bases: [])
        _ = try await pruned
        let reader = try Archive.open(scene.archive.directory)
        #expect(try reader.store.read(id) == content)
        try scene.expectAllKept()
    }

    /// Returns a function that is true from its call number `count` + 1 on.
    private func after(_ count: Int) -> @Sendable () -> Bool {
        let asked = Counter()
        return { asked.next() > count }
    }

    /// Counts calls.
    private final class Counter: Sendable {
        private let count = Locked(0)

        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    @Test("after a cancellation at any step, the next prune does the rest")
    func ended() throws {
        var random = SeededGenerator("ends of pruning")
        let scene = try PruneScene()
        try write(60, scene, &random)
        try scene.thin { $0 % 6 == 0 }
        for steps in 0..<40 {
            let archive = try Archive.open(scene.archive.directory)
            do {
                _ = try archive.prune(grace: .zero, isCancelled: after(steps * 3))
                break
            } catch {
                #expect(error.code == .cancelled)
            }
            if steps % 8 == 0 { try scene.expectAllKept(nil, "after \(steps * 3) steps") }
        }
        _ = try scene.archive.prune(grace: .zero)
        try scene.expectAllKept()
    }

    @Test("a prune is refused while a check is running")
    func alone() throws {
        let scene = try PruneScene()
        try scene.root.write("file", "text")
        try scene.capture()
        let lock = try scene.store.withoutReclaimers()
        ArchiverError.expect(.inUse) { _ = try scene.archive.prune(grace: .zero) }
        withExtendedLifetime(lock) {}
    }

    @Test("if a needed node cannot be read, nothing is dropped, and the error names the snapshot")
    func damaged() throws {
        var random = SeededGenerator("pruning what is damaged")
        let scene = try PruneScene()
        try write(30, scene, &random)
        let tree = try #require(scene.snapshots.first).tree
        let place = try #require(try scene.store.catalogue.location(of: tree))
        let record = try #require(try scene.store.catalogue.segment(place.segment))
        let path = scene.store.segments.path(of: record.path)
        let header = try scene.store.blockHeader(at: place)
        let byte = place.offset + header.headerLength + 2
        try Files("/").write(path, [try Files("/").read(path)[byte] ^ 1], at: byte)
        try scene.thin { $0 < 3 }
        let before = try scene.segments()
        let archive = try Archive.open(scene.archive.directory)
        let error = ArchiverError.expect(.damaged) { _ = try archive.prune(grace: .zero) }
        #expect(error?.message.hasPrefix("snapshot \(scene.snapshots[0].id.short)") ?? false)
        #expect(try scene.segments() == before)
    }

    @Test("recently forgotten snapshots can be brought back, and reclaimed ones are refused")
    func broughtBack() throws {
        var random = SeededGenerator("bringing back")
        let scene = try PruneScene()
        try write(30, scene, &random)
        let archive = scene.archive
        let early = try #require(scene.snapshots.first)
        try scene.forget(at: 0)
        _ = try archive.prune()
        try archive.unforget([archive.forgotten(withIDPrefix: early.id.hex)])
        try scene.expectBack(early)
        try archive.forget([.snapshot(early)])
        scene.leaveOut(early)
        for number in scene.snapshots.indices.dropLast() where number % 3 != 0 {
            try archive.forget([.snapshot(scene.snapshots[number])])
        }
        let gone = scene.snapshots.indices.dropLast().filter { $0 % 3 != 0 }.map { scene.snapshots[$0] }
        for snapshot in gone { scene.leaveOut(snapshot) }
        _ = try archive.prune(grace: .zero)
        for snapshot in gone + [early] {
            guard let found = try? archive.forgotten(withIDPrefix: snapshot.id.hex) else { continue }
            do {
                try archive.unforget([found])
                try scene.expectBack(snapshot)
            } catch {
                #expect((error as? ArchiverError)?.code == .noSuchSnapshot)
            }
        }
        try scene.expectAllKept()
    }

    /// Runs captures, forgetting, complete and cancelled prunes, and rebuilds, in random order and through several
    /// archive objects.
    @Test("kept snapshots survive captures, forgetting, prunes and rebuilds in any order", arguments: 0..<6)
    func model(_ run: Int) throws {
        var random = SeededGenerator("model of pruning \(run)")
        let scene = try PruneScene(segmentBytes: 8_000 + random.below(60_000))
        var edits = RandomEdits(scene.root, SeededGenerator(seed: random.next()))
        try scene.capture()
        for step in 0..<80 {
            switch random.below(12) {
            case 0..<6:
                for _ in 0...random.below(4) { _ = try edits.edit() }
                if let snapshot = try scene.archive.capture(scene.root.directory).snapshot {
                    try scene.remember(snapshot)
                }
            case 6, 7:
                for _ in 0...random.below(6) where scene.snapshots.count > 1 {
                    try scene.forget(at: random.below(scene.snapshots.count - 1))
                }
            case 8:
                _ = try scene.archive.prune(grace: .zero)
            case 9:
                let archive = try Archive.open(scene.archive.directory)
                _ = try? archive.prune(grace: .zero, isCancelled: after(random.below(30)))
            case 10:
                _ = try Archive.open(scene.archive.directory).prune(grace: .zero, isDryRun: true)
            default:
                try scene.reopen(withNewCatalogue: random.below(2) == 0)
            }
            if step % 20 == 19 { try scene.expectAllKept(nil, "step \(step)") }
        }
        _ = try scene.archive.prune(grace: .zero)
        try scene.expectAllKept(scene.rebuild(), "in the end")
    }
}
