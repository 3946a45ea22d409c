// Dropping segments while other commits store and read chunks.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Reclaiming", .blocking)
struct ReclaimerTests {
    /// An archive with small segments: one large chunk fills a segment, which is then sealed.
    private struct Scene {
        let directory: TemporaryDirectory

        init() throws {
            directory = try TemporaryDirectory(inMemory: true)
            try ArchiveCreationTests.makeArchive(at: directory.path, segmentBytes: 15_000)
        }

        func open() throws -> ArchiveStore { try ArchiveStore.open(directory.path, creating: false) }

        func removeCatalogue() {
            for suffix in ["", "-wal", "-shm"] {
                try? FilePath(directory.path.appending("catalogue.sqlite").string + suffix).removeFile()
            }
        }

        /// Stores `bytes`, and unneeded bytes in the same segment.
        @discardableResult
        func store(_ bytes: [UInt8], on base: ChunkID? = nil, beside waste: [UInt8] = []) throws -> ChunkID {
            let store = try open()
            let commit = try store.beginCommit()
            let chunk = RawChunk(kind: .content, bytes: bytes)
            #expect(try commit.claim(chunk.id))
            let bases = try base.map { [try #require(try store.base($0))] } ?? []
            try commit.append(store.encode([chunk], bases: bases))
            if !waste.isEmpty { try commit.append(store.encode([RawChunk(kind: .content, bytes: waste)])) }
            try commit.commitChunks()
            return chunk.id
        }
    }

    private func text(_ lines: Range<Int>, _ change: String) -> [UInt8] {
        Array(lines.map { "line \($0 * $0) \($0 == 17 ? change : "")" }.joined(separator: "\n").utf8)
    }

    private func waste(_ seed: UInt64) -> [UInt8] {
        var state = seed
        return (0..<20_000).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1
            return UInt8(truncatingIfNeeded: state >> 33)
        }
    }

    @Test("a chunk stored again against a delta that depends on it is readable, and so is the delta")
    func copiesOnEachOther() throws {
        let scene = try Scene()
        let (old, new) = (text(0..<500, "old"), text(0..<500, "new"))
        let first = try scene.store(old, beside: waste(1))
        let second = try scene.store(new, on: first)
        let store = try scene.open()
        var marks = 0
        let result = try Reclaimer(store).run { live in
            live.insert(first)
            live.insert(second)
            marks += 1
            guard marks == 2 else { return }
            // The first chunk's only copy is condemned now.
            #expect(try store.catalogue.location(of: first) != nil)
            #expect(try !store.catalogue.holds(first))
            try scene.store(old, on: second)
        }
        #expect(marks == 2 && result.dropped == 1)
        store.releaseWriters()
        for isNew in [false, true] {
            if isNew { scene.removeCatalogue() }
            let reader = try scene.open()
            #expect(try reader.read(first) == old)
            #expect(try reader.read(second) == new)
        }
    }

    @Test(
        "the catalogue shrinks when rows are removed, whether or not others have the archive open",
        arguments: [1, 2])
    func catalogue(openings: Int) throws {
        let scene = try Scene()
        let path = scene.directory.path.appending("catalogue.sqlite")
        let kept = try scene.store(text(0..<500, "kept"), beside: waste(4))
        do {
            let store = try scene.open()
            for round in 0..<60 {
                let commit = try store.beginCommit()
                let chunks = (0..<1000).map { RawChunk(kind: .content, bytes: Array("\(round) \($0)".utf8)) }
                for chunk in chunks { #expect(try commit.claim(chunk.id)) }
                try commit.append(store.encode(chunks))
                try commit.commitChunks()
            }
        }
        let before = try #require(FileStatus.size(at: path))
        #expect(before > 3 << 20)
        do {
            let others = try (1..<openings).map { _ in try scene.open() }
            let store = try scene.open()
            let full = try store.catalogue.pages()
            _ = try Reclaimer(store).run { $0.insert(kept) }
            let left = try store.catalogue.pages()
            #expect(left.usedBytes < full.usedBytes / 4 && left.count < full.count / 3, "\(full), \(left)")
            #expect(try store.read(kept) == text(0..<500, "kept"))
            withExtendedLifetime(others) {}
        }
        #expect(try #require(FileStatus.size(at: path)) < before / 3)
        #expect(try scene.open().read(kept) == text(0..<500, "kept"))
    }

    @Test("bytes that others store during the run do not reduce the freed bytes")
    func freedBesideOthers() throws {
        let scene = try Scene()
        let kept = try scene.store(text(0..<500, "kept"), beside: waste(1))
        var marks = 0
        let result = try Reclaimer(scene.open()).run { live in
            live.insert(kept)
            marks += 1
            guard marks == 2 else { return }
            for seed in UInt64(2)..<6 { try scene.store(text(0..<500, "\(seed)"), beside: waste(seed)) }
        }
        #expect(marks >= 2 && result.dropped > 0, "\(marks) marks, \(result)")
        #expect(result.freedBytes > 20_000 && result.bytesAfter > result.bytesBefore, "\(result)")
    }

    @Test("the bases of a segment that stays are copied, even if no live chunk needs them")
    func supports() throws {
        let scene = try Scene()
        let (old, new) = (text(0..<500, "old"), text(0..<500, "new"))
        let first = try scene.store(old, beside: waste(2))
        // Dead like the first, but its segment has little to free.
        let second = try scene.store(new, on: first)
        let third = try scene.store(waste(3))
        let result = try Reclaimer(scene.open()).run { $0.insert(third) }
        #expect(result.dropped >= 1)
        let reader = try scene.open()
        if try reader.catalogue.holds(second) { #expect(try reader.read(second) == new) }
        #expect(try reader.read(third) == waste(3))
    }

    @Test(
        "what stays of a segment is copied in its order, by one thread beside others and by several alone",
        arguments: [1, 2])
    func order(openings: Int) throws {
        let scene = try Scene()
        var versions: [(id: ChunkID, bytes: [UInt8])] = []
        for number in 0..<60 {
            let bytes = text(0..<100, "version \(number)")
            versions.append((try scene.store(bytes, on: versions.last?.id), bytes))
        }
        let kept = versions.enumerated().filter { $0.offset % 3 != 1 }.map(\.element)
        do {
            let others = try (1..<openings).map { _ in try scene.open() }
            let result = try Reclaimer(scene.open()).run { live in for version in kept { live.insert(version.id) } }
            #expect(result.dropped > 0 && result.damaged.isEmpty, "\(result)")
            withExtendedLifetime(others) {}
        }
        scene.removeCatalogue()
        let store = try scene.open()
        var places: [BlockLocation] = []
        for version in versions {
            let place = try store.catalogue.location(of: version.id)
            #expect((place != nil) == kept.contains { $0.id == version.id })
            guard let place else { continue }
            #expect(try store.read(version.id) == version.bytes)
            places.append(place)
        }
        #expect(places.count == kept.count && places.map(\.packed) == places.map(\.packed).sorted())
    }

    @Test("a needed chunk whose newest copy is damaged is copied from an older one")
    func damagedCopy() throws {
        let scene = try Scene()
        let bytes = text(0..<500, "needed")
        let needed = try scene.store(bytes)
        let kept = try scene.store(waste(1))
        do {
            let store = try scene.open()
            let commit = try store.beginCommit()
            // Nothing prevents two writers from storing a chunk at the same time, so this one does not ask.
            for contents in [[Array(waste(2).prefix(12_000))], [waste(3), waste(4), bytes]] {
                try commit.append(store.encode(contents.map { RawChunk(kind: .content, bytes: $0) }))
            }
            try commit.commitChunks()
            let newest = try #require(try store.catalogue.location(of: needed))
            let length = try #require(try store.catalogue.block(at: newest)).length
            let segment = try #require(try store.catalogue.segment(newest.segment))
            try store.segments.path(of: segment.path).flipByte(at: newest.offset + length - 100)
            #expect(try store.catalogue.copies(beginning: ChunkPrefix(needed)).count == 2)
            #expect(throws: StorageError.self) { try store.read(needed, at: newest) }
        }
        let result = try Reclaimer(scene.open()).run { live in
            live.insert(needed)
            live.insert(kept)
        }
        #expect(result.dropped == 1 && result.damaged.isEmpty, "\(result)")
        scene.removeCatalogue()
        let reader = try scene.open()
        let copies = try reader.catalogue.copies(beginning: ChunkPrefix(needed))
        #expect(copies.count == 2)
        for copy in copies { #expect(try reader.read(needed, at: copy.location) == bytes) }
    }

    @Test("no copy is based on what is only in a replica", arguments: [false, true])
    func awayBase(isAway: Bool) throws {
        let scene = try Scene()
        let first = try scene.store(text(0..<500, "first"), beside: waste(1))
        let second = try scene.store(text(0..<500, "second"), on: first)
        let third = try scene.store(text(0..<500, "third"), on: second, beside: waste(2))
        let store = try scene.open()
        let base = try #require(try store.catalogue.segment(store.catalogue.location(of: first)?.segment ?? 0))
        if isAway {
            try store.catalogue.markAway([base.number])
            let away = AwaySegment(path: base.path, bytes: base.indexedLength, replica: "disk", objectBytes: 1)
            try #require(store.joined).change { $0[base.path] = away }
        }
        let result = try Reclaimer(store).run { live in
            live.insert(first)
            live.insert(third)
        }
        #expect(result.dropped > 0)
        #expect(try store.catalogue.segment(base.number)?.state == (isAway ? .away : nil))
        let copy = try #require(try store.catalogue.location(of: third))
        #expect(try store.catalogue.block(at: copy)?.bases == (isAway ? [] : [ChunkPrefix(first)]))
        #expect(try store.read(third) == text(0..<500, "third"))
    }

    @Test("deltas against dropped chunks are rewritten against the nearest chunk that stays")
    func rewritten() throws {
        let scene = try Scene()
        var versions: [(id: ChunkID, bytes: [UInt8])] = []
        for number in 0..<12 {
            var bytes = text(0..<600, "version \(number)")
            bytes += Array("\(number)".utf8)
            versions.append((try scene.store(bytes, on: versions.last?.id, beside: waste(UInt64(10 + number))), bytes))
        }
        let kept = [0, 5, 11]
        let result = try Reclaimer(scene.open()).run { live in
            for index in kept { live.insert(versions[index].id) }
        }
        #expect(result.dropped >= 12 && result.inUse == 0, "\(result)")
        let store = try scene.open()
        for index in versions.indices {
            let location = try store.catalogue.location(of: versions[index].id)
            #expect((location != nil) == kept.contains(index), "version \(index)")
            guard let location else { continue }
            #expect(try store.read(versions[index].id) == versions[index].bytes)
            let depth = try #require(try store.catalogue.block(at: location)).depth
            #expect(depth == kept.firstIndex(of: index))
        }
    }
}
