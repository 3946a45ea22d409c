// Archives with segments in memory, and a fault at every call of their store.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading

@Suite("Places of segments", .blocking)
struct SegmentStoreTests {
    /// A snapshot that must be readable from call `since` to call `until`.
    private struct Promise {
        let commit: Commit
        let since: Int
        var until = Int.max
    }

    /// A script: commits in several segments, forgetting some snapshots, reclaiming their space, and further commits.
    private struct Script {
        let directory = try? TemporaryDirectory(inMemory: true)
        let segments: MemorySegments
        private(set) var promises: [Promise] = []
        private(set) var dropped = 0

        init(_ segments: MemorySegments) throws {
            self.segments = segments
            try ArchiveCreationTests.makeArchive(at: try #require(directory).path, segmentBytes: 3_000)
        }

        func open() throws -> ArchiveStore {
            try ArchiveStore.open(#require(directory).path, creating: false, segments: segments)
        }

        mutating func run() throws {
            var random = SeededGenerator(seed: 7)
            let shared = random.noise(200)
            for number in 0..<4 { try commit(number, [random.noise(900), shared], in: open()) }
            try giveBack(keeping: 2...)
            let store = try open()
            for number in 4..<6 { try commit(number, [random.noise(2_000), shared], in: store) }
        }

        private mutating func commit(_ number: Int, _ contents: [[UInt8]], in store: ArchiveStore) throws {
            let commit = try store.commit(number, contents, parent: promises.last?.commit)
            promises.append(Promise(commit: commit, since: segments.calls))
        }

        private mutating func giveBack(keeping kept: PartialRangeFrom<Int>) throws {
            let store = try open()
            let unwanted = promises.indices.filter { !kept.contains($0) }
            for index in unwanted { promises[index].until = segments.calls }
            try store.forget(Set(unwanted.map { promises[$0].commit.id.chunk }))
            let live = promises[kept].flatMap { [$0.commit.id.chunk] + $0.commit.chunks.keys }
            dropped = try Reclaimer(store).run { set in
                for chunk in live { set.insert(chunk) }
            }.dropped
        }
    }

    @Test("an archive with segments in memory works like one with segments in a directory")
    func memory() throws {
        var script = try Script(MemorySegments())
        try script.run()
        #expect(script.dropped > 0)
        let path = try #require(script.directory).path
        for isNew in [false, true] {
            if isNew {
                let summary = try ArchiveStore.rebuildCatalogue(of: path, segments: script.segments)
                #expect(summary.damage.isEmpty && summary.cuts.isEmpty && summary.segments > 1)
            }
            let store = try script.open()
            for promise in script.promises {
                let isWanted = promise.until == .max
                #expect(try store.catalogue.hasSnapshot(promise.commit.id) == isWanted)
                if isWanted { #expect(try store.holds(promise.commit)) }
            }
        }
        #expect(try path.filesBelow().allSatisfy { !$0.hasPrefix("segments") })
    }

    @Test("a new archive creates no segments directory if its segments are elsewhere")
    func creation() throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let (path, segments) = (directory.path.appending("new"), MemorySegments())
        let commit = try ArchiveStore.open(path, creating: true, segments: segments).commit(1, [Array("one".utf8)])
        #expect(try ArchiveStore.open(path, creating: false, segments: segments).holds(commit))
        #expect(try segments.list().segments.count == 1)
        #expect(FileStatus.size(at: path.appending("segments")) == nil)
        // Without that store, the directory is an archive without snapshots.
        #expect(try ArchiveStore.rebuildCatalogue(of: path).snapshots == 0)
    }

    @Test(
        "whichever call of the store fails, once or for good, no committed snapshot is lost",
        arguments: [false, true])
    func faults(forGood: Bool) throws {
        let calls = try numberOfCalls()
        #expect(calls > 100)
        for number in (1...calls).sampled {
            let segments = MemorySegments()
            var script = try Script(segments)
            segments.fail(forGood ? .from(number) : .one(number))
            _ = try failure { try script.run() }
            segments.fail(.none)
            let path = try #require(script.directory).path
            try expectPromises(script.promises, in: path, segments, "after a fault of call \(number)")
            _ = try ArchiveStore.rebuildCatalogue(of: path, segments: segments)
            try expectPromises(script.promises, in: path, segments, "after a fault of call \(number)")
        }
    }

    @Test("after a power failure at any call, the segments alone hold all snapshots committed until then")
    func power() throws {
        let segments = MemorySegments()
        let survivors = Locked<[[String: MemoryFile]]>([])
        let chance = Locked(SeededGenerator("power"))
        segments.afterEachCall { _, files in
            let survivor = chance.withLock { random in files.mapValues { $0.survivor(&random) } }
            survivors.withLock { $0.append(survivor) }
        }
        var script = try Script(segments)
        try script.run()
        let all = survivors.withLock { $0 }
        #expect(all.count > 100)
        for index in all.indices.sampled {
            let directory = try TemporaryDirectory(inMemory: true)
            let manifest = try #require(script.directory).path.appending("archive.json").readFile()
            try directory.path.appending("archive.json").writeFile(manifest)
            try expectPromises(
                script.promises, at: index + 1, in: directory.path, MemorySegments(all[index]),
                "power failed after call \(index + 1)")
        }
    }

    private func numberOfCalls() throws -> Int {
        var script = try Script(MemorySegments())
        try script.run()
        return script.segments.calls
    }

    /// Expects that an archive has the promised snapshots and accepts commits.
    ///
    /// - Parameter call: checks the promises that held after this call; nil for those that still hold.
    private func expectPromises(
        _ promises: [Promise], at call: Int? = nil, in path: FilePath, _ segments: MemorySegments, _ what: Comment
    ) throws {
        let call = call ?? .max - 1
        let store = try ArchiveStore.open(path, creating: false, segments: segments)
        for promise in promises where promise.since <= call && call < promise.until {
            #expect(try store.holds(promise.commit), what)
        }
        let next = try store.commit(9, [Array("next".utf8)])
        store.releaseWriters()
        let reader = try ArchiveStore.open(path, creating: false, segments: segments)
        #expect(try reader.holds(next), what)
    }
}
