// A capture after damage: what the root still has is stored again.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.timeLimit(.minutes(60)), .blocking) struct HealingTests {
    /// How blocks are damaged.
    enum Damage: CaseIterable, Sendable {
        case payload, header, segment

        /// Whether a check sees it without reading every byte.
        var needsData: Bool { self == .payload }
    }

    /// What the damaged blocks hold.
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

    /// Damages all blocks of an archive that `isMeant`.
    ///
    /// - Returns: how many there were.
    @discardableResult
    private func damage(
        _ archive: FilePath, _ damage: Damage, where isMeant: (BlockHeader) -> Bool
    ) throws -> Int {
        var count = 0
        for path in try Files(archive).segments() {
            let segment = try Segment(LocalSegment(at: path))
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

    /// A root with content of all kinds, captured.
    private func filledSandbox(_ random: inout SeededGenerator) throws -> Sandbox {
        let sandbox = try Sandbox()
        for number in 0..<200 { try sandbox.root.write("file\(number)", random.noise(300)) }
        try sandbox.root.makeDirectory("folder/deep")
        try sandbox.root.write("folder/deep/large", random.noise(4 << 20))
        try sandbox.root.write("folder/small", "inline")
        try sandbox.root.makeLink("folder/name", to: "file3")
        try sandbox.capture()
        return sandbox
    }

    /// Expects the latest snapshot to be the root as it is, with the catalogue that there is and with a new one.
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
        "what check found lost is stored anew by the next capture, although nothing changed",
        arguments: Damage.allCases, Part.allCases)
    func afterCheck(damage: Damage, part: Part) throws {
        var random = SeededGenerator(seed: 31)
        let sandbox = try filledSandbox(&random)
        let count = try self.damage(sandbox.archive.directory, damage) { $0.chunks.contains { $0.kind == part.kind } }
        #expect(count > 0)
        let archive = try sandbox.reopened()
        let found = try archive.check(data: damage.needsData)
        #expect(found.findingCount > 0)
        if part == .content, damage != .segment {
            // What a capture can do about it is said of each file.
            let there = found.findings.filter {
                $0.remedy == "the file is still there: the next capture stores it again"
            }
            #expect(there.contains { $0.path?.description == "folder/deep/large" }, "\(damage)")
        }
        _ = try archive.capture(sandbox.root.directory)
        try expectLatestIsWhole(sandbox, "\(damage) of \(part)")
        let result = try sandbox.reopened().check(data: true)
        #expect(result.goodSnapshots >= 1)
        // What can be had again under its id makes the older snapshots whole, too.
        if part != .snapshot, damage != .segment { #expect(result.goodSnapshots == result.snapshots) }
        #expect(try archive.capture(sandbox.root.directory).snapshot == nil)
    }

    @Test("a watcher that runs stores anew what check found lost", arguments: [Part.content, .node])
    func runningWatcher(part: Part) async throws {
        var random = SeededGenerator(seed: 32)
        let sandbox = try filledSandbox(&random)
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try damage(sandbox.archive.directory, .payload) { $0.chunks.contains { $0.kind == part.kind } }
        #expect(try sandbox.reopened().check(data: true).goodSnapshots == 0)
        try sandbox.root.write("new", "something else")
        try await watcher.nextSnapshot()
        try expectLatestIsWhole(sandbox, "\(part)")
        try await watcher.stop()
    }

    @Test("an audit that meets damage stores anew what the root still has", arguments: [Part.content, .node])
    func audit(part: Part) async throws {
        var random = SeededGenerator(seed: 37)
        let sandbox = try filledSandbox(&random)
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try damage(sandbox.archive.directory, .payload) { $0.chunks.contains { $0.kind == part.kind } }
        // Content is not read by an audit: a check has to find that it is lost.
        if part == .content { #expect(try sandbox.reopened().check(data: true).goodSnapshots == 0) }
        let result = try #require(try await watcher.service.audit()[sandbox.root.directory])
        #expect(result.found == 0)
        try expectLatestIsWhole(sandbox, "\(part)")
        #expect(try sandbox.reopened().check(data: true).goodSnapshots == 1)
        try await watcher.stop()
    }

    @Test("what opening told of damage is told no more once a check finds everything")
    func healedDamageIsNotTold() throws {
        var random = SeededGenerator(seed: 38)
        let sandbox = try filledSandbox(&random)
        try damage(sandbox.archive.directory, .payload) { $0.chunks.contains { $0.kind == .content } }
        // In a copy, as nobody else writes to its segments.
        let copy = sandbox.base.full("archive-copy")
        _ = system("cp -a '\(sandbox.archive.directory)' '\(copy)'; rm -f '\(copy)'/catalogue*")
        #expect(try Archive.open(copy).findings.contains { $0.kind == .damage })
        #expect(try Archive.open(copy).check(data: true).findingCount > 0)
        #expect(try Archive.open(copy).findings.contains { $0.kind == .damage }, "it is still lost")
        _ = try Archive.open(copy).capture(sandbox.root.directory)
        #expect(try Archive.open(copy).check(data: true).findingCount == 0)
        #expect(try Archive.open(copy).findings.isEmpty)
    }

    @Test("a lost base that is stored again makes readable what stands on it", arguments: Damage.allCases)
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
        if damage == .segment { return }
        try self.damage(sandbox.archive.directory, damage) { header in
            header.chunks.contains { $0.id == ChunkID(hashing: first) }
        }
        let archive = try sandbox.reopened()
        #expect(try archive.check(data: damage.needsData).goodSnapshots == 0)
        _ = try archive.capture(sandbox.root.directory)
        let result = try sandbox.reopened().check(data: true)
        #expect(result.goodSnapshots == result.snapshots)
        let target = sandbox.base.full("target")
        _ = try sandbox.reopened().restore(second, RestoreOptions(target: target))
        try TreeListing(of: target).expect(equals: wanted, "the version on the lost base")
    }

    @Test("of a segment that is gone, the next capture stores what the root still has, unchanged files too")
    func goneSegment() throws {
        let sandbox = try Sandbox()
        var random = SeededGenerator(seed: 34)
        try sandbox.root.write("old", random.noise(20_000))
        try sandbox.capture()
        let segment = try #require(try Files(sandbox.archive.directory).segments().first)
        // While one archive object holds the segment, another begins its own, with nodes that stand on none of the first.
        let other = try sandbox.reopened()
        for number in 0..<300 { try sandbox.root.write("new\(number)", random.noise(200)) }
        _ = try other.capture(sandbox.root.directory)
        try Files("/").remove(segment)
        let archive = try sandbox.reopened()
        _ = try archive.capture(sandbox.root.directory)
        try expectLatestIsWhole(sandbox, "a segment is gone")
    }

    @Test("a state whose content check found lost is stored anew when it is saved again")
    func state() throws {
        let sandbox = try Sandbox()
        var random = SeededGenerator(seed: 35)
        let value = random.noise(5000)
        _ = try sandbox.archive.save(value, as: "numbers")
        #expect(try sandbox.archive.load([UInt8].self, "numbers") == value)
        try damage(sandbox.archive.directory, .payload) { $0.chunks.contains { $0.kind == .content } }
        #expect(try sandbox.reopened().check(data: true).findingCount > 0)
        // This object has read the state before, and remembers it.
        _ = try sandbox.archive.save(value, as: "numbers")
        #expect(try sandbox.reopened().load([UInt8].self, "numbers") == value)
    }

    @Test("whatever is damaged, check and capture leave a latest snapshot that is the root")
    func random() throws {
        var random = SeededGenerator("HealingTests.random")
        let sandbox = try Sandbox()
        var edits = RandomEdits(sandbox.root, random)
        for number in 0..<30 { try sandbox.root.write("first\(number)", random.noise(random.below(3000))) }
        _ = try sandbox.archive.capture(sandbox.root.directory)
        for round in 0..<12 {
            for _ in 0..<random.below(6) { _ = try edits.edit() }
            let archive = try sandbox.reopened()
            _ = try archive.capture(sandbox.root.directory)
            let damage: Damage = random.oneIn(2) ? .payload : .header
            try self.damage(sandbox.archive.directory, damage) { _ in random.oneIn(8) }
            if random.oneIn(2) { for _ in 0..<random.below(6) { _ = try edits.edit() } }
            let isAnew = random.oneIn(2)
            _ = try (isAnew ? sandbox.reopened() : archive).check(data: damage.needsData)
            _ = try (random.oneIn(2) ? archive : sandbox.reopened()).capture(sandbox.root.directory)
            try expectLatestIsWhole(sandbox, "round \(round), TEST_SEED=\(random.seed)")
        }
    }

    @Test func aChangeAfterDamageIsCaptured() throws {
        var random = SeededGenerator(seed: 36)
        let sandbox = try filledSandbox(&random)
        try damage(sandbox.archive.directory, .payload) { $0.chunks.contains { $0.kind == .node } }
        try sandbox.root.write("file7", "changed")
        let archive = try sandbox.reopened()
        #expect(try archive.capture(sandbox.root.directory).snapshot != nil)
        try expectLatestIsWhole(sandbox, "a change after damage")
        #expect(try archive.capture(sandbox.root.directory).snapshot == nil)
    }
}
