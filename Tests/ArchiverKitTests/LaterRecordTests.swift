// Records and fields of later programs: a prune keeps what they refer to, and a purge keeps them.

import ArchiveFormat
import ArchiveStorage
import Exclusions
import FileIO
import Glibc
import Roots
import SnapshotTree
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit

@Suite("Records of later programs", .blocking)
struct LaterRecordTests {
    /// An archive in which a later program wrote.
    private struct Scene {
        let sandbox: Sandbox

        init() throws { sandbox = try Sandbox() }

        /// Appends chunks, as a program does that knows their kinds and fields.
        func append(_ chunks: [RawChunk]) throws {
            let archive = try sandbox.reopened()
            let writer = try archive.store.beginCommit()
            for chunk in chunks {
                #expect(try writer.claim(chunk.id))
                try writer.append(archive.store.encode([chunk]))
            }
            try writer.commitChunks()
            archive.store.releaseWriters()
        }

        /// Opens the archive with a new catalogue.
        func rebuilt() throws -> Archive {
            sandbox.archive.store.releaseWriters()
            for suffix in ["", "-wal", "-shm"] {
                unlink(sandbox.archive.directory.appending("catalogue.sqlite").string + suffix)
            }
            return try sandbox.reopened()
        }
    }

    private static func content(_ text: String) -> RawChunk { RawChunk(kind: .content, bytes: Array(text.utf8)) }

    /// `bytes`, a map, with one more field.
    private static func adding(_ key: UInt64, _ value: CBORValue, to bytes: [UInt8]) throws -> [UInt8] {
        guard case .map(let pairs) = try CBORValue(decoding: bytes) else { return bytes }
        return CBORValue.map(pairs + [(.unsigned(key), value)]).encoded()
    }

    /// `bytes`, a map, with one more field in the map of the field `outer`.
    private static func adding(
        _ key: UInt64, _ value: CBORValue, in outer: UInt64, to bytes: [UInt8]
    ) throws -> [UInt8] {
        guard case .map(var pairs) = try CBORValue(decoding: bytes) else { return bytes }
        for index in pairs.indices {
            guard case .unsigned(outer) = pairs[index].key else { continue }
            pairs[index].value = try CBORValue(decoding: adding(key, value, to: pairs[index].value.encoded()))
        }
        return CBORValue.map(pairs).encoded()
    }

    @Test("a prune keeps what records and fields of later programs refer to")
    func pruned() throws {
        let scene = try Scene()
        let store = scene.sandbox.archive.store
        var random = SeededGenerator("later records")
        func noise() -> RawChunk { RawChunk(kind: .content, bytes: random.noise(3_000)) }
        try scene.sandbox.root.write("f", random.noise(50_000))
        let first = try scene.sandbox.capture()
        try scene.sandbox.root.write("f", "short")
        try scene.sandbox.root.write("g", random.noise(2_000))
        let second = try scene.sandbox.capture()
        // What an unknown kind names, what an unknown field names, and a whole tree that one names.
        let (named, inField, inMap, unneeded) = (noise(), noise(), noise(), noise())
        let record = RawChunk(
            kind: ChunkKind(rawValue: 99),
            bytes: CBORValue.map([
                (.unsigned(0), .array([.text("x"), .bytes(named.id.bytes)])),
                (.text("tree"), .bytes(first.tree.bytes)),
            ]).encoded())
        var later = try store.snapshot(second.id)
        later.sequence += 1
        later.parent = second.id
        later.time = second.time.advanced(byNanoseconds: 1)
        let bytes = try LaterRecordTests.adding(
            40, .array([.bytes(inField.id.bytes)]),
            to: LaterRecordTests.adding(20, .bytes(inMap.id.bytes), in: 7, to: later.encoded()))
        let third = RawChunk(kind: .snapshot, bytes: bytes)
        let notCBOR = RawChunk(kind: ChunkKind(rawValue: 98), bytes: [0xff] + unneeded.id.bytes)
        try scene.append([named, inField, inMap, unneeded, record, third, notCBOR])
        do {
            let archive = try scene.rebuilt()
            #expect(try archive.snapshots().map(\.id) == [first.id, second.id, SnapshotID(third.id)])
            try archive.store.forget([first.id.chunk])
            let result = try archive.prune(grace: .zero)
            #expect(result.dropped > 0)
            archive.store.releaseWriters()
        }
        for _ in 0..<2 {
            let archive = try scene.rebuilt()
            let store = archive.store
            for kept in [named, inField, inMap, record, third, notCBOR] {
                #expect(try store.read(kept.id) == kept.bytes)
            }
            #expect(try failure(reading: unneeded.id, store))
            let tree = Tree(first.tree, in: StoredNodes(store))
            let entry = try #require(try tree.entry(at: .at("f")))
            #expect(try archive.read(entry, range: 0..<60_000).count == 50_000)
            #expect(try archive.check(data: true).findings == [])
            _ = try archive.prune(grace: .zero)
            store.releaseWriters()
        }
    }

    private func failure(reading id: ChunkID, _ store: ArchiveStore) throws -> Bool {
        do { _ = try store.read(id) } catch { return true }
        return false
    }

    @Test("a prune leaves out superseded labels and pins, and what is said about records that are gone")
    func vain() throws {
        let scene = try Scene()
        let store = scene.sandbox.archive.store
        var random = SeededGenerator("records without effect")
        try scene.sandbox.root.write("f", random.noise(60_000))
        let first = try scene.sandbox.capture()
        try scene.sandbox.root.write("f", random.noise(60_000))
        let second = try scene.sandbox.capture()
        var vain: [ChunkID] = []
        var kept: [ChunkID] = []
        for (target, number) in [(first, 0), (second, 0), (second, 1)] {
            let time = Timestamp.now
            let label = LabelRecord(target: target.id.chunk, time: time, label: "label \(number)")
            let pin = PinRecord(target: target.id.chunk, time: time, reason: "reason \(number)")
            try store.enter(label)
            try store.enter(pin)
            let ids = [ChunkID(hashing: label.encoded()), ChunkID(hashing: pin.encoded())]
            if target.id == second.id, number == 1 { kept += ids } else { vain += ids }
        }
        try store.enter(lifetimes: [first.id: 5])
        try store.forget([first.id.chunk])
        _ = try scene.sandbox.archive.prune(grace: .zero)
        // Now the snapshot's chunk is gone, and what is said about it is not needed any more.
        try scene.sandbox.root.write("f", random.noise(60_000))
        let third = try scene.sandbox.capture()
        try scene.sandbox.root.write("f", random.noise(60_000))
        _ = try scene.sandbox.capture()
        try store.forget([third.id.chunk])
        _ = try scene.sandbox.archive.prune(grace: .zero)
        let archive = try scene.rebuilt()
        for id in vain { #expect(try failure(reading: id, archive.store)) }
        for id in kept { #expect(try !failure(reading: id, archive.store)) }
        #expect(try !archive.store.catalogue.isForgotten(first.id.chunk))
        #expect(try archive.store.catalogue.isForgotten(third.id.chunk))
        #expect(try archive.snapshots().map(\.label) == ["label 1", nil])
        #expect(try archive.store.catalogue.pins().values.map(\.reason) == ["reason 1"])
        #expect(try archive.check(data: true).findings == [])
    }

    @Test("a purge keeps the fields of later programs")
    func purged() throws {
        let scene = try Scene()
        try scene.sandbox.root.write("kept", "public")
        try scene.sandbox.root.write("secret", "s3cr3t")
        let first = try scene.sandbox.capture()
        var later = try scene.sandbox.archive.store.snapshot(first.id)
        later.sequence += 1
        later.parent = first.id
        later.time = first.time.advanced(byNanoseconds: 1)
        later.exclusions = ExclusionRules(largerThan: 5_000)
        let field = CBORValue.text("field of a later program")
        var bytes = later.encoded()
        for outer: UInt64 in [7, 14] { bytes = try LaterRecordTests.adding(30, field, in: outer, to: bytes) }
        bytes = try LaterRecordTests.adding(50, field, to: bytes)
        let snapshot = RawChunk(kind: .snapshot, bytes: bytes)
        let id = SnapshotID(snapshot.id)
        let root = (first.rootPath, first.host, first.machine)
        let now = Timestamp.now
        func record<Record: ArchiveRecord>(_ record: Record) throws -> RawChunk {
            RawChunk(kind: Record.kind, bytes: try LaterRecordTests.adding(60, field, to: record.encoded()))
        }
        try scene.append([
            snapshot,
            try record(PinRecord(target: id.chunk, time: now, until: nil, reason: "why")),
            try record(
                NoteRecord(
                    rootPath: root.0, host: root.1, time: now, text: "text", snapshot: id, machine: root.2)),
            try record(
                OperationRecord(
                    rootPath: root.0, host: root.1, kind: .mark, time: now, before: id, machine: root.2, name: "turn")),
        ])
        scene.sandbox.archive.store.releaseWriters()
        let place = scene.sandbox.base.directory.appending("purged")
        _ = system("cp -a '\(scene.sandbox.archive.directory)' '\(place)' && rm -f '\(place)'/catalogue*")
        let result = try Archive.purge(
            .paths([.at("secret")], of: ArchivedRoot(here: scene.sandbox.root.directory)), in: place)
        #expect(result.isComplete, "\(result)")
        let archive = try Archive.open(place)
        let store = archive.store
        let new = try #require(try archive.snapshots().last)
        #expect(new.id != id && new.sequence == 2)
        let text = Array("field of a later program".utf8)
        let left = try store.read(new.id.chunk)
        #expect(left.ranges(of: text).count == 3, "\(left.ranges(of: text).count)")
        #expect(try store.snapshot(new.id).totals.files == 1)
        let pin = try #require(try store.catalogue.pinRecord(of: new.id.chunk))
        #expect(try store.read(pin).ranges(of: text).count == 1)
        let note = try #require(try store.catalogue.notes().first)
        #expect(try note.record.snapshot == new.id && store.read(note.id).ranges(of: text).count == 1)
        let mark = try #require(try store.catalogue.operations().first)
        #expect(try mark.record.before == new.id && store.read(mark.id.chunk).ranges(of: text).count == 1)
        #expect(try archive.check(data: true).findings == [])
    }
}
