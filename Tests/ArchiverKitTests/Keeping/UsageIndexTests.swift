// What earlier surveys of the space remembered changes no answer.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SnapshotTree
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit
@testable import Keeping

@Suite("The index of usage", .blocking) struct UsageIndexTests {
    private static let tries = isThorough ? 40 : 4
    private static let steps = 25

    @Test(
        "usage is that of a survey from nothing, whatever was captured, forgotten, pruned, rebuilt or killed before"
    )
    func histories() throws {
        var random = SeededGenerator("usage after random histories")
        for _ in 0..<UsageIndexTests.tries { try history(&random) }
    }

    private func history(_ random: inout SeededGenerator) throws {
        let scene = try PruneScene(segmentBytes: [20_000, 200_000][random.below(2)])
        try scene.root.write("always", "here")
        try scene.capture()
        for step in 0..<UsageIndexTests.steps {
            var what = "nothing"
            switch random.below(12) {
            case 0 where scene.snapshots.count > 2:
                what = "forget"
                try scene.forget(at: random.below(scene.snapshots.count - 1))
            case 1:
                what = "thin"
                try scene.thin { _ in random.below(3) > 0 }
            case 2:
                what = "prune"
                scene.store.releaseWriters()
                _ = try scene.archive.prune(protecting: ForgottenSpan(grace: .zero), goalBytes: .max, isDryRun: false)
            case 3:
                what = "rebuild"
                try scene.reopen(withNewCatalogue: true)
            case 4:
                what = "save a state"
                try scene.archive.save(random.noise(100 + random.below(3000)), as: "state \(random.below(3))")
            case 5:
                what = "killed survey"
                try killedSurvey(scene.store, &random)
            case 6:
                what = "another object"
                try scene.reopen(withNewCatalogue: false)
            default:
                what = "capture"
                try change(scene.root, step, &random)
                try scene.capture()
            }
            if random.below(3) > 0 { try compare(scene, "seed \(random.seed), step \(step), \(what)", &random) }
        }
        try compare(scene, "seed \(random.seed), at the end", &random)
    }

    private func change(_ root: Files, _ step: Int, _ random: inout SeededGenerator) throws {
        for _ in 0...random.below(3) {
            let directory = ["", "a/", "a/b/", "c/"][random.below(4)]
            if !directory.isEmpty { try root.makeDirectory(FilePath(directory)) }
            let path = FilePath("\(directory)file\(random.below(6))")
            switch random.below(5) {
            case 0: try root.write(path, "small \(step) \(random.below(4))")
            // The same bytes at several places are shared.
            case 1: try root.write(path, [UInt8](repeating: UInt8(random.below(3)), count: 3000))
            case 2: try root.write(path, random.noise(200 + random.below(20_000)))
            case 3: try root.write(path, random.noise(40))
            default: try root.write(path, Array(String(repeating: "a line\n", count: 100 + random.below(900)).utf8))
            }
        }
        try root.write("step", "\(step)")
    }

    /// Leaves what a survey leaves that was killed in the middle.
    private func killedSurvey(_ store: ArchiveStore, _ random: inout SeededGenerator) throws {
        var index = try UsageIndex(store.catalogue)
        let nodes = StoredNodes(store)
        for root in try store.catalogue.roots() {
            for (_, tree) in try store.catalogue.trees(root: root.number) where random.below(2) == 0 {
                _ = try index.node(tree, from: nodes, nil)
                if random.below(2) == 0 { index.save(store.catalogue, all: true) }
            }
        }
    }

    private func compare(_ scene: PruneScene, _ comment: String, _ random: inout SeededGenerator) throws {
        let archive = scene.archive
        let root = try #require(try archive.roots().first)
        let directory = try #require(RelativePath(["", "a", "a/b", "c"][random.below(4)]))
        let grouping = random.below(3) == 0 ? ArchiveUsage.Grouping.root : .path(root: root, directory: directory)
        // In a year, the usual policy would thin them.
        let now = Timestamp(seconds: Timestamp.now.seconds + Int64(random.below(400)) * 86_400)
        let usage = try archive.usage(by: grouping, now: now)
        let number = try #require(try archive.number(of: root))
        let going = Set(try archive.plan(root, number, .usual, now: now).going.map(\.id))
        let model = try UsageModel(archive, root, grouping, going)
        let comment = Comment(rawValue: comment)
        #expect(Set(usage.items.map(\.owner)) == Set(model.items.keys), comment)
        for item in usage.items {
            let expected = model.items[item.owner] ?? (0, 0)
            #expect(abs(Double(item.ownBytes) - expected.bytes) <= 1, "\(item) \(comment)")
            #expect(item.versions == expected.versions, "\(item) \(comment)")
        }
        #expect(usage.thinning.snapshots == going.count, comment)
        #expect(abs(Double(usage.thinning.bytes) - model.goingBytes) <= 1, comment)
    }

    @Test("a second survey reads no node, and after a capture only new ones")
    func cost() throws {
        var random = SeededGenerator("the cost of usage")
        let scene = try PruneScene(segmentBytes: 1 << 20)
        for number in 0..<300 { try scene.root.write(FilePath("file\(number)"), "file \(number)") }
        for step in 0..<10 {
            try change(scene.root, step, &random)
            try scene.capture()
        }
        func entriesRead() throws -> UInt64 {
            let progress = OperationProgress()
            _ = try scene.sandbox.reopened().usage(by: .root, progress: progress)
            return progress.reading.entries
        }
        let first = try entriesRead()
        #expect(first > 300)
        #expect(try entriesRead() == 0)
        try scene.root.write("file7", "another")
        try scene.capture()
        let read = try entriesRead()
        // Every capture changed about as many leaves.
        #expect(read > 0 && read < first / 2, "\(read) of \(first) entries")
    }

    @Test("what most surveys no longer need is removed from the catalogue")
    func compacted() throws {
        var random = SeededGenerator("a shorter index of usage")
        let scene = try PruneScene(segmentBytes: 1 << 20)
        for step in 0..<40 {
            try scene.root.write("file", "version \(step)")
            try scene.capture()
        }
        func bytes() throws -> Int {
            var bytes = 0
            try scene.store.catalogue.forEachUsagePart { _, part in
                bytes += part.count
                return true
            }
            return bytes
        }
        try compare(scene, "before", &random)
        let before = try bytes()
        try scene.thin { $0 % 10 == 0 }
        try compare(scene, "after", &random)
        #expect(try bytes() < before / 2)
        try compare(scene, "compacted", &random)
    }

    @Test("two surveys at once do not spoil what is remembered")
    func together() throws {
        var random = SeededGenerator("surveys at once")
        let scene = try PruneScene(segmentBytes: 1 << 20)
        let store = scene.store
        var indexes = [try UsageIndex(store.catalogue), try UsageIndex(store.catalogue)]
        for step in 0..<8 {
            try change(scene.root, step, &random)
            let tree = try scene.capture().tree
            let number = random.below(2)
            _ = try indexes[number].node(tree, from: StoredNodes(store), nil)
            indexes[number].save(store.catalogue, all: true)
        }
        try compare(scene, "after both", &random)
    }

    @Test("bytes that are no index are refused")
    func hostile() throws {
        var random = SeededGenerator("forged indexes of usage")
        let scene = try PruneScene(segmentBytes: 1 << 20)
        for step in 0..<4 {
            try change(scene.root, step, &random)
            try scene.capture()
        }
        _ = try scene.archive.usage()
        let catalogue = scene.store.catalogue
        var parts: [[UInt8]] = []
        try catalogue.forEachUsagePart { _, part in
            parts.append(Array(part))
            return true
        }
        let part = try #require(parts.first)
        var last: Int64 = 1
        var refused = 0
        for _ in 0..<300 {
            var forged = part
            if random.below(3) == 0 { forged.removeLast(1 + random.below(forged.count)) }
            if !forged.isEmpty { forged[random.below(forged.count)] = UInt8(random.below(256)) }
            last = try #require(try catalogue.enter(usagePart: forged, after: last, isReplacing: true))
            // Some are valid, with other numbers: an estimate is then wrong, and nothing else.
            do { _ = try scene.archive.usage() } catch {
                #expect(error.code == .damaged, "seed \(random.seed)")
                refused += 1
            }
            try catalogue.forEachUsagePart { number, _ in
                last = number
                return true
            }
        }
        #expect(refused > 100, "seed \(random.seed)")
    }
}

/// What takes the space, counted from nothing.
private struct UsageModel {
    private(set) var items: [ArchiveUsage.Owner: (bytes: Double, versions: Int)] = [:]
    private(set) var goingBytes = 0.0
    private var lengths: [ChunkID: UInt64] = [:]
    private var owners: [ChunkID: Set<ArchiveUsage.Owner>] = [:]
    private var kept: Set<ChunkID> = []
    private var versions: [ArchiveUsage.Owner: Set<Version>] = [:]
    private let archive: Archive

    private struct Version: Hashable {
        let path: RelativePath
        let content: Content
    }

    init(
        _ archive: Archive, _ root: ArchivedRoot, _ grouping: ArchiveUsage.Grouping, _ going: Set<SnapshotID>
    ) throws {
        self.archive = archive
        for listed in try archive.snapshots() {
            let stays = !going.contains(listed.id)
            use(listed.id.chunk, 256, .records, stays)
            try visit(archive.store.snapshot(listed.id).tree, root, grouping, stays)
        }
        let states: ArchiveUsage.Owner = grouping == .root ? .states : .elsewhere
        for id in try archive.store.catalogue.stateIDs() {
            use(id.chunk, 256, .records, true)
            let content = try archive.store.stateRecord(id).content
            try use(content, states, true)
            let path = try #require(RelativePath(id.chunk.hex))
            versions[states, default: []].insert(Version(path: path, content: .none))
        }
        try share()
    }

    private mutating func visit(
        _ id: ChunkID, _ root: ArchivedRoot, _ grouping: ArchiveUsage.Grouping, _ stays: Bool
    ) throws {
        switch try StoredNodes(archive.store).node(id, level: nil) {
        case .inner(_, let children):
            use(id, UInt64(64 * children.count), .records, stays)
            for child in children { try visit(child.id, root, grouping, stays) }
        case .leaf(let entries):
            use(id, UInt64(96 * entries.count), .records, stays)
            for entry in entries where entry.content != .none {
                let owner = owner(of: entry.path, root, grouping)
                versions[owner, default: []].insert(Version(path: entry.path, content: entry.content))
                try use(entry.content, owner, stays)
            }
        }
    }

    private func owner(
        of path: RelativePath, _ root: ArchivedRoot, _ grouping: ArchiveUsage.Grouping
    ) -> ArchiveUsage.Owner {
        guard case .path(_, let directory) = grouping else { return .root(root) }
        let parts = path.bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let above = directory.isRoot ? [] : directory.bytes.split(separator: UInt8(ascii: "/"))
        guard parts.count > above.count, Array(parts.prefix(above.count)) == above else { return .elsewhere }
        let name = Array(parts.prefix(above.count + 1).joined(separator: [UInt8(ascii: "/")]))
        return .path(RelativePath(unchecked: name), isDirectory: parts.count > above.count + 1)
    }

    private mutating func use(_ content: Content, _ owner: ArchiveUsage.Owner, _ stays: Bool) throws {
        switch content {
        case .none, .inline, .linkTarget: return
        case .slices(let slices):
            for slice in slices { if let id = slice.chunk { use(id, slice.length, owner, stays) } }
        case .sliceLists(let lists):
            for list in lists {
                use(list.list, 0, owner, stays)
                try use(.slices(ContentReader.slices(in: list, of: archive.store)), owner, stays)
            }
        }
    }

    private mutating func use(_ id: ChunkID, _ length: UInt64, _ owner: ArchiveUsage.Owner, _ stays: Bool) {
        lengths[id] = length
        owners[id, default: []].insert(owner)
        if stays { kept.insert(id) }
    }

    private mutating func share() throws {
        var places: [ChunkID: BlockLocation] = [:]
        try archive.store.catalogue.forEachChunk { id, location in
            if places[id] == nil { places[id] = location }
            return true
        }
        var used: [BlockLocation: Double] = [:]
        for (id, length) in lengths { if let place = places[id] { used[place, default: 0] += Double(max(1, length)) } }
        for (id, owners) in owners {
            guard let place = places[id], let block = try archive.store.catalogue.block(at: place),
                let whole = used[place],
                let length = lengths[id], let first = owners.first
            else { continue }
            let share = Double(block.length) * Double(max(1, length)) / whole
            items[owners.count > 1 ? .shared : first, default: (0, 0)].bytes += share
            if !kept.contains(id) { goingBytes += share }
        }
        for (owner, found) in versions { items[owner, default: (0, 0)].versions = found.count }
        items = items.filter { $0.value.bytes.rounded() > 0 || $0.value.versions > 0 }
    }
}
