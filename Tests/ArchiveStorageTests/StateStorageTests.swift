// Saved states when their segment is damaged: each is kept or lost completely.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Saved states and crashes", .blocking)
struct StateStorageTests {
    /// A segment with three states, the last with content in its block, and the catalogue before the last.
    private struct Scene {
        let directory = try? TemporaryDirectory(inMemory: true)
        let path: FilePath
        let states: [ListedState]
        let segment: FilePath
        let bytes: [UInt8]
        /// The range of the last state's block.
        let block: Range<Int>
        private let catalogue: [UInt8]

        init() throws {
            path = try #require(directory).path
            var states: [ListedState] = []
            do {
                let store = try ArchiveStore.open(path, creating: true)
                states = [try store.save(1), try store.save(2)]
            }
            catalogue = try path.appending("catalogue.sqlite").readFile()
            segment = try onlySegment(in: path)
            let start = try segment.readFile().count
            do { states.append(try ArchiveStore.open(path, creating: false).save(3)) }
            self.states = states
            bytes = try segment.readFile()
            block = start..<bytes.count
        }

        /// Opens the archive after a crash that left `bytes` in the segment, and the old catalogue or none.
        func crash(_ bytes: [UInt8], isCatalogueKept: Bool) throws -> ArchiveStore {
            try segment.writeFile(bytes)
            let file = path.appending("catalogue.sqlite")
            for suffix in ["", "-wal", "-shm"] { try? FilePath(file.string + suffix).removeFile() }
            if isCatalogueKept { try file.writeFile(catalogue) }
            return try ArchiveStore.open(path, creating: false)
        }
    }

    @Test("a state whose block is cut off at any byte does not exist", arguments: [true, false])
    func cuts(isCatalogueKept: Bool) throws {
        let scene = try Scene()
        for length in (scene.block.lowerBound...scene.block.upperBound).sampled {
            let store = try scene.crash(Array(scene.bytes.prefix(length)), isCatalogueKept: isCatalogueKept)
            let isWhole = length == scene.block.upperBound
            #expect(try store.catalogue.states() == (isWhole ? scene.states : Array(scene.states.dropLast())))
            #expect(try store.holds(scene.states[0]) && store.holds(scene.states[1]), "cut at \(length)")
            #expect(try !isWhole || store.holds(scene.states[2]), "cut at \(length)")
        }
    }

    @Test("a wrong byte anywhere in a state's block loses that state and no other")
    func garbage() throws {
        let scene = try Scene()
        for offset in scene.block.sampled {
            var bytes = scene.bytes
            bytes[offset] ^= 0x01
            let store = try scene.crash(bytes, isCatalogueKept: offset % 2 == 0)
            #expect(try store.catalogue.states() == Array(scene.states.dropLast()), "flip at \(offset)")
            #expect(try store.holds(scene.states[0]) && store.holds(scene.states[1]), "flip at \(offset)")
        }
    }

    @Test("a state is found by an index, however many states its title has")
    func plans() throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let catalogue = try ArchiveStore.open(directory.path, creating: true).catalogue
        func index(_ filter: Catalogue.StateFilter) throws -> String {
            try catalogue.plan(filter).joined(separator: "; ")
        }
        #expect(try index(.init(of: "t", newestFirst: true, limit: 1)).contains("stateByTitle"))
        #expect(try index(.init(of: "t", label: "l", newestFirst: true, limit: 1)).contains("stateByLabel"))
        #expect(try index(.init(of: "t", idPrefix: "ab", newestFirst: true, limit: 20)).contains("PRIMARY KEY"))
        #expect(try index(.init(label: "l", newestFirst: true, limit: 1)).contains("stateByLabel"))
    }

    @Test("a page of states takes as many steps of SQLite, however many states its title has and wherever it begins")
    func pages() throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let store = try ArchiveStore.open(directory.path, creating: true)
        var states: [ListedState] = []
        func steps() throws -> [Int] {
            let places: [ListedState?] = [nil, states[states.count / 2]]
            return try places.flatMap { place in
                try [false, true].map { newestFirst in
                    var page = Catalogue.StateFilter(of: "title", newestFirst: newestFirst, limit: 10)
                    page.behind = place.map { .init(sequence: $0.sequence, time: $0.time, id: $0.id.chunk) }
                    return try store.catalogue.steps(page)
                }
            }
        }
        func save(_ numbers: Range<Int>) throws {
            for number in numbers { states.append(try store.save(number, sequence: UInt64(number))) }
        }
        try save(1..<41)
        let few = try steps()
        try save(41..<801)
        #expect(try steps() == few)
        let all = try store.catalogue.steps(.init(of: "title"))
        #expect(all > 30 * (few.max() ?? 0), "\(all) and \(few)")
    }

    @Test("a forgotten state or snapshot stays forgotten, whichever of the two records is found first")
    func forgotten() throws {
        let directory = try TemporaryDirectory(inMemory: true)
        var kept: [ListedState] = []
        do {
            let store = try ArchiveStore.open(directory.path, creating: true)
            // The state goes into a second segment while a writer holds the first, and is then forgotten in the first.
            let early = try store.beginCommit()
            let later = try store.save(1)
            early.abandon()
            try store.forget([later.id.chunk])
            let snapshot = try store.commit(1, [Array("one".utf8)])
            kept = [try store.save(2)]
            try store.forget([snapshot.id.chunk])
            #expect(try store.catalogue.states() == kept && store.catalogue.snapshots().isEmpty)
        }
        #expect(try ArchiveStore.rebuildCatalogue(of: directory.path).states == 2)
        let catalogue = try ArchiveStore.open(directory.path, creating: false).catalogue
        #expect(try catalogue.segments().count == 2)
        #expect(try catalogue.states() == kept && catalogue.snapshots().isEmpty)
        #expect(try !catalogue.isForgotten(#require(kept.first).id.chunk))
    }
}

extension ArchiveStore {
    /// Saves a state with the time `number` and its own chunk.
    fileprivate func save(_ number: Int, sequence: UInt64 = 1) throws -> ListedState {
        let content = RawChunk(kind: .content, bytes: Array("a state, the number of which is \(number)".utf8))
        let writer = try beginCommit()
        #expect(try writer.claim(content.id))
        let record = StateRecord(
            title: "title", host: "host", time: Timestamp(seconds: Int64(number)), sequence: sequence,
            label: "\(number)", type: "State", version: 7,
            content: .slices([Slice(length: UInt64(content.bytes.count), chunk: content.id)]))
        return try writer.commit(record, content: [content], bases: [])
    }

    /// Whether all of `state` can be read.
    fileprivate func holds(_ state: ListedState) throws -> Bool {
        let record = try stateRecord(state.id)
        guard case .slices(let slices) = record.content, let chunk = slices.first?.chunk else { return false }
        let text = "a state, the number of which is \(state.label ?? "")"
        return try record.label == state.label && read(chunk) == Array(text.utf8)
    }
}
