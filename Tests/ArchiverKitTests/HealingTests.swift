// A capture after damage stores the lost data that the root still has.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import Capturing

@Suite(.timeLimit(.minutes(60)), .blocking) struct HealingTests {
    /// A kind of damage to blocks.
    enum Damage: CaseIterable, Sendable {
        case payload, header, segment

        /// Whether a check must read every byte to find it.
        var needsData: Bool { self == .payload }
    }

    /// The content of the damaged blocks.
    enum Part: CaseIterable, Sendable {
        case content, node, snapshot, list

        var kind: ChunkKind {
            switch self {
            case .content: .content
            case .node: .node
            case .snapshot: .snapshot
            case .list: .sliceList
            }
        }
    }

    /// Damages all blocks of an archive for which `isMeant` returns true.
    ///
    /// - Returns: how many blocks were damaged.
    @discardableResult
    static func damage(
        _ archive: FilePath, _ damage: Damage, where isMeant: (BlockHeader) -> Bool
    ) throws -> Int {
        var count = 0
        for path in try Files(archive).segments() {
            let segment = try Segment(LocalSegment(at: EnclosedPath(file: path)))
            let scan = try SegmentScan(
                of: segment, from: SegmentHeader.byteCount, verifyingPayloads: false, passingDamage: true)
            for offset in Set(scan.chunks.map(\.offset)).sorted() {
                let header = try segment.blockHeader(at: offset)
                guard isMeant(header) else { continue }
                count += 1
                if damage == .segment {
                    try Files("/").remove(path)
                    break
                }
                let place =
                    damage == .header
                    ? offset + header.headerLength - 10 : offset + header.headerLength + header.storedLength / 2
                let byte = try Files("/").read(path)[place]
                try Files("/").write(path, [byte ^ 0x10], at: place)
            }
        }
        return count
    }

    /// A captured root with content of all kinds.
    private func filledSandbox(_ random: inout SeededGenerator) throws -> Sandbox {
        let sandbox = try Sandbox()
        for number in 0..<200 { try sandbox.root.write("file\(number)", random.noise(300)) }
        try sandbox.root.makeDirectory("folder/deep")
        try sandbox.root.write("folder/deep/large", random.noise(4 << 20))
        try sandbox.root.write("folder/small", "inline")
        for path in ["folder", "folder/small"] {
            try sandbox.root.setAttribute(FilePath(path), "user.large", random.noise(1500))
        }
        try sandbox.root.makeLink("folder/name", to: "file3")
        // Once the time of the directory is settled, its entry gets a signature, and a later capture without a readable base
        // has the same tree. A capture waits for times of files only.
        let folder = try Descriptor.open(sandbox.root.full("folder"), O_RDONLY | O_DIRECTORY)
        let changed = try FileStatus.read(folder).changed
        while !Settling.isSettled(changed, isOurClock: true) { sched_yield() }
        try sandbox.capture()
        return sandbox
    }

    /// Expects that the latest snapshot equals the root, with the existing catalogue and with a rebuilt one.
    private func expectLatestIsWhole(_ sandbox: Sandbox, _ comment: String) throws {
        let wanted = try TreeListing(of: sandbox.root.directory)
        let copy = sandbox.base.full("copy")
        _ = system("rm -rf '\(copy)'; cp -a '\(sandbox.archive.directory)' '\(copy)'; rm -f '\(copy)'/catalogue*")
        for directory in [sandbox.archive.directory, copy] {
            let archive = try Archive.open(directory)
            let target = sandbox.base.full("target")
            let result = try archive.restore(try archive.snapshot(.latest), RestoreOptions(target: target))
            #expect(!result.hasDamage, "\(comment), \(directory.lastComponent?.string ?? "")")
            try TreeListing(of: target).expect(equals: wanted, "\(comment), \(directory)")
            try Files(target).removeAll()
        }
    }

    @Test(
        "the next capture stores again what check found lost, even if nothing changed",
        arguments: Damage.allCases, Part.allCases)
    func afterCheck(damage: Damage, part: Part) throws {
        var random = SeededGenerator(seed: 31)
        let sandbox = try filledSandbox(&random)
        let count = try Self.damage(sandbox.archive.directory, damage) { $0.chunks.contains { $0.kind == part.kind } }
        #expect(count > 0)
        let archive = try sandbox.reopened()
        let found = try archive.check(data: damage.needsData ? .all : .none)
        #expect(found.findingCount > 0)
        if part == .content, damage != .segment {
            // Each file's finding says that a capture can repair it.
            let there = found.findings.filter {
                $0.remedy == "the file is still there: the next capture stores it again"
            }
            #expect(there.contains { $0.path?.description == "folder/deep/large" }, "\(damage)")
        }
        _ = try archive.capture(sandbox.root.directory)
        try expectLatestIsWhole(sandbox, "\(damage) of \(part)")
        let result = try sandbox.reopened().check(data: true)
        #expect(result.goodSnapshots >= 1)
        // Chunks that are stored again under their ids repair the older snapshots too.
        if part != .snapshot, damage != .segment { #expect(result.goodSnapshots == result.snapshots) }
        #expect(try archive.capture(sandbox.root.directory).snapshot == nil)
    }

    @Test("a running watcher stores again what check found lost", arguments: [Part.content, .node])
    func runningWatcher(part: Part) async throws {
        var random = SeededGenerator(seed: 32)
        let sandbox = try filledSandbox(&random)
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try Self.damage(sandbox.archive.directory, .payload) { $0.chunks.contains { $0.kind == part.kind } }
        #expect(try sandbox.reopened().check(data: true).goodSnapshots == 0)
        try sandbox.root.write("new", "something else")
        try await watcher.nextSnapshot()
        try expectLatestIsWhole(sandbox, "\(part)")
        try await watcher.stop()
    }

    @Test("an audit that finds damage stores again what the root still has", arguments: [Part.content, .node])
    func audit(part: Part) async throws {
        var random = SeededGenerator(seed: 37)
        let sandbox = try filledSandbox(&random)
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try Self.damage(sandbox.archive.directory, .payload) { $0.chunks.contains { $0.kind == part.kind } }
        // An audit does not read content, so a check has to find the loss.
        if part == .content { #expect(try sandbox.reopened().check(data: true).goodSnapshots == 0) }
        let result = try #require(try await watcher.service.audit()[sandbox.root.directory])
        #expect(result.found == 0)
        try expectLatestIsWhole(sandbox, "\(part)")
        #expect(try sandbox.reopened().check(data: true).goodSnapshots == 1)
        try await watcher.stop()
    }

    @Test("damage reported on opening is no longer reported after a check finds nothing wrong")
    func healedDamageIsNotTold() throws {
        var random = SeededGenerator(seed: 38)
        let sandbox = try filledSandbox(&random)
        try Self.damage(sandbox.archive.directory, .payload) { $0.chunks.contains { $0.kind == .content } }
        // Use a copy, as no other archive object writes to its segments.
        let copy = sandbox.base.full("archive-copy")
        _ = system("cp -a '\(sandbox.archive.directory)' '\(copy)'; rm -f '\(copy)'/catalogue*")
        #expect(try Archive.open(copy).findings.contains { $0.kind == .damage })
        #expect(try Archive.open(copy).check(data: true).findingCount > 0)
        #expect(try Archive.open(copy).findings.contains { $0.kind == .damage }, "it is still lost")
        _ = try Archive.open(copy).capture(sandbox.root.directory)
        #expect(try Archive.open(copy).check(data: true).findingCount == 0)
        #expect(try Archive.open(copy).findings.isEmpty)
    }

    @Test(
        "a lost base that is stored again makes its deltas readable",
        arguments: Damage.allCases.filter { $0 != .segment })
    func base(damage: Damage) throws {
        let sandbox = try Sandbox()
        var random = SeededGenerator(seed: 33)
        let first = random.noise(5000)
        try sandbox.root.write("file", first)
        try sandbox.capture()
        try sandbox.root.write("file", first + random.noise(500))
        let second = try sandbox.capture()
        let wanted = try TreeListing(of: sandbox.root.directory)
        try sandbox.root.write("file", first)
        try sandbox.capture()
        try Self.damage(sandbox.archive.directory, damage) { header in
            header.chunks.contains { $0.id == ChunkID(hashing: first) }
        }
        let archive = try sandbox.reopened()
        #expect(try archive.check(data: damage.needsData ? .all : .none).goodSnapshots == 0)
        _ = try archive.capture(sandbox.root.directory)
        let result = try sandbox.reopened().check(data: true)
        #expect(result.goodSnapshots == result.snapshots)
        let target = sandbox.base.full("target")
        _ = try sandbox.reopened().restore(second, RestoreOptions(target: target))
        try TreeListing(of: target).expect(equals: wanted, "the version on the lost base")
    }

    @Test("after the loss of a segment, the next capture stores what the root still has, including unchanged files")
    func goneSegment() throws {
        let sandbox = try Sandbox()
        var random = SeededGenerator(seed: 34)
        try sandbox.root.write("old", random.noise(20_000))
        try sandbox.capture()
        let segment = try #require(try Files(sandbox.archive.directory).segments().first)
        // While one archive object holds the segment, another one begins its own, with nodes that have no base in the
        // first one.
        let other = try sandbox.reopened()
        for number in 0..<300 { try sandbox.root.write("new\(number)", random.noise(200)) }
        _ = try other.capture(sandbox.root.directory)
        try Files("/").remove(segment)
        let archive = try sandbox.reopened()
        _ = try archive.capture(sandbox.root.directory)
        try expectLatestIsWhole(sandbox, "a segment is gone")
    }

    @Test("a state whose content check found lost is stored again when it is saved again")
    func state() throws {
        let sandbox = try Sandbox()
        var random = SeededGenerator(seed: 35)
        let value = random.noise(5000)
        _ = try sandbox.archive.save(value, as: "numbers")
        #expect(try sandbox.archive.load([UInt8].self, as: "numbers") == value)
        try Self.damage(sandbox.archive.directory, .payload) { $0.chunks.contains { $0.kind == .content } }
        #expect(try sandbox.reopened().check(data: true).findingCount > 0)
        // This object has read the state before and has it in its cache.
        _ = try sandbox.archive.save(value, as: "numbers")
        #expect(try sandbox.reopened().load([UInt8].self, as: "numbers") == value)
    }

    @Test("after any damage, check and capture lead to a latest snapshot that equals the root")
    func random() throws {
        var random = SeededGenerator("HealingTests.random")
        let sandbox = try Sandbox()
        var edits = RandomEdits(sandbox.root, random)
        for number in 0..<30 { try sandbox.root.write("first\(number)", random.noise(random.below(3000))) }
        _ = try sandbox.archive.capture(sandbox.root.directory)
        for round in 0..<(isThorough ? 12 : 6) {
            for _ in 0..<random.below(6) { _ = try edits.edit() }
            let archive = try sandbox.reopened()
            _ = try archive.capture(sandbox.root.directory)
            let damage: Damage = random.oneIn(2) ? .payload : .header
            try Self.damage(sandbox.archive.directory, damage) { _ in random.oneIn(8) }
            if random.oneIn(2) { for _ in 0..<random.below(6) { _ = try edits.edit() } }
            let isAnew = random.oneIn(2)
            _ = try (isAnew ? sandbox.reopened() : archive).check(data: damage.needsData ? .all : .none)
            _ = try (random.oneIn(2) ? archive : sandbox.reopened()).capture(sandbox.root.directory)
            try expectLatestIsWhole(sandbox, "round \(round), TEST_SEED=\(random.seed)")
        }
    }

    @Test("a change after damage is captured")
    func changeAfterDamage() throws {
        var random = SeededGenerator(seed: 36)
        let sandbox = try filledSandbox(&random)
        try Self.damage(sandbox.archive.directory, .payload) { $0.chunks.contains { $0.kind == .node } }
        try sandbox.root.write("file7", "changed")
        let archive = try sandbox.reopened()
        #expect(try archive.capture(sandbox.root.directory).snapshot != nil)
        try expectLatestIsWhole(sandbox, "a change after damage")
        #expect(try archive.capture(sandbox.root.directory).snapshot == nil)
    }
}
