// One forged archive for each promise that the format makes to later programs, and for each door that it leaves open.

import ArchiveFormat
import ArchiveStorage
import Checking
import Compression
import Exclusions
import FileIO
import Foundation
import Glibc
import Roots
import SnapshotTree
import SystemPackage
import TestSupport
import Testing

@testable import ArchiverKit

/// A promise, and a body that forges an archive and states the right answer.
struct ForgedPoint: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let run: @Sendable (ForgedArchivePlace) throws -> Void

    init(_ name: String, _ run: @escaping @Sendable (ForgedArchivePlace) throws -> Void) {
        testDescription = name
        self.run = run
    }

    static let all = references + records + segments + blocks + entries + limits
}

/// An archive with two snapshots of a root, whose files a test changes behind the program's back.
final class ForgedArchivePlace {
    let sandbox: Sandbox
    let first: ListedSnapshot
    let second: ListedSnapshot
    var directory: FilePath { sandbox.archive.directory }
    var files: Files { Files(directory) }

    init() throws {
        sandbox = try Sandbox()
        try sandbox.root.write("f", "first\n")
        first = try sandbox.capture()
        try sandbox.root.write("f", "second\n")
        second = try sandbox.capture()
    }

    /// Opens the archive as a program does that has no catalogue.
    func rebuilt() throws -> Archive {
        sandbox.archive.store.releaseWriters()
        for suffix in ["", "-wal", "-shm"] { unlink(directory.appending("catalogue.sqlite").string + suffix) }
        return try sandbox.reopened()
    }

    /// The path of the newest segment.
    func segment() throws -> FilePath {
        sandbox.archive.store.releaseWriters()
        let row = try #require(try sandbox.archive.store.catalogue.segments().last)
        return sandbox.archive.store.segments.path(of: row.path)
    }

    /// Appends a block as a later program would: `change` sees the header that this program would write.
    func append(_ chunk: RawChunk, _ change: (BlockHeader) -> BlockHeader = { $0 }) throws {
        var encoder = try BlockEncoder(level: 1)
        let block = try encoder.encode([chunk])
        try append(change(block.header), block.payload)
    }

    func append(_ header: BlockHeader, _ payload: [UInt8]) throws {
        let path = try segment()
        let bytes = try Files("/").read(path)
        let place = try Segment(LocalSegment(at: EnclosedPath(file: path))).place(bytes.count)
        try Files("/").write(path, bytes + header.encoded(at: place) + payload)
    }

    /// A third snapshot, of the tree of the second unless another is given.
    func third(tree: ChunkID? = nil, _ change: (inout Snapshot) -> Void = { _ in }) throws -> Snapshot {
        var snapshot = try sandbox.archive.store.snapshot(second.id)
        snapshot.sequence += 1
        snapshot.parent = second.id
        snapshot.time = second.time.advanced(byNanoseconds: 1)
        snapshot.tree = tree ?? snapshot.tree
        change(&snapshot)
        return snapshot
    }

    /// `bytes`, a map, with one more field.
    func adding(_ key: UInt64, _ value: CBORValue, to bytes: [UInt8]) throws -> [UInt8] {
        guard case .map(let pairs) = try CBORValue(decoding: bytes) else { return bytes }
        return CBORValue.map(pairs + [(.unsigned(key), value)]).encoded()
    }

    /// Expects that the two snapshots are listed and restored as they were.
    func expectUnharmed(_ archive: Archive, others: Int = 0) throws {
        let listed = try archive.snapshots()
        #expect(listed.count == 2 + others && listed.contains(first) && listed.contains(second), "\(listed)")
        for (snapshot, text) in [(first, "first\n"), (second, "second\n")] {
            #expect(try archive.text(of: "f", in: snapshot) == text)
        }
    }
}

extension Archive {
    fileprivate func text(of path: FilePath, in snapshot: ListedSnapshot) throws -> String {
        let tree = Tree(try store.snapshot(snapshot.id).tree, in: StoredNodes(store))
        let entry = try #require(try tree.entry(at: .at(path)))
        return String(decoding: try read(entry, range: 0..<entry.size), as: UTF8.self)
    }

    fileprivate func kinds() -> Set<ArchiveFinding.Kind> { Set(findings.map(\.kind)) }

    /// The code of the error of a capture of a changed root; nil if it succeeds.
    fileprivate func refusal(capturing sandbox: Sandbox) throws -> ArchiverError.Code? {
        try sandbox.root.write("g", "new")
        do throws(ArchiverError) { _ = try capture(sandbox.root.directory) } catch { return error.code }
        return nil
    }
}

// MARK: What later programs write

extension ForgedPoint {
    fileprivate static let references: [ForgedPoint] = [
        ForgedPoint("1: a record of an unknown kind and an unknown field keep the chunks that they name") { place in
            let named = RawChunk(kind: .content, bytes: Array("named by a record of an unknown kind".utf8))
            let inField = RawChunk(kind: .content, bytes: Array("named by an unknown field".utf8))
            let unneeded = RawChunk(kind: .content, bytes: Array("named by nothing".utf8))
            let record = RawChunk(
                kind: ChunkKind(rawValue: 200), bytes: CBORValue.array([.bytes(named.id.bytes)]).encoded())
            let bytes = try place.adding(77, .bytes(inField.id.bytes), to: place.third().encoded())
            let chunks = [named, inField, unneeded, record, RawChunk(kind: .snapshot, bytes: bytes)]
            for chunk in chunks { try place.append(chunk) }
            let archive = try place.rebuilt()
            try archive.forget([.snapshot(place.first)])
            _ = try archive.prune(grace: .zero)
            archive.store.releaseWriters()
            let store = try place.rebuilt().store
            for chunk in [named, inField, record] { #expect(try store.read(chunk.id) == chunk.bytes) }
            #expect((try? store.read(unneeded.id)) == nil)
        },
        ForgedPoint("2: a purge keeps the unknown fields of what it writes again") { place in
            let text = "a field of a later program"
            try place.sandbox.root.write("secret", "s3cr3t")
            let captured = try place.sandbox.capture()
            var snapshot = try place.sandbox.archive.store.snapshot(captured.id)
            snapshot.sequence += 1
            snapshot.parent = captured.id
            let bytes = try place.adding(90, .text(text), to: snapshot.encoded())
            try place.append(RawChunk(kind: .snapshot, bytes: bytes))
            place.sandbox.archive.store.releaseWriters()
            let copy = place.sandbox.base.full("purged")
            try FileManager.default.copyItem(atPath: place.directory.string, toPath: copy.string)
            for suffix in ["", "-wal", "-shm"] { unlink(copy.appending("catalogue.sqlite").string + suffix) }
            let root = ArchivedRoot(here: place.sandbox.root.directory)
            let result = try Archive.purge(.paths([.at("secret")], of: root), in: copy)
            #expect(result.isComplete)
            let archive = try Archive.open(copy)
            let last = try #require(try archive.snapshots(SnapshotQuery(root: root)).last)
            #expect(last.sequence == 4 && last.id.chunk != ChunkID(hashing: bytes))
            #expect(try archive.store.read(last.id.chunk).contains(Array(text.utf8)))
        },
    ]

    private static func later(_ header: BlockHeader, _ codec: Codec, key: Int = 0) -> BlockHeader {
        BlockHeader(
            codec: codec, depth: header.depth, storedLength: header.storedLength,
            payloadChecksum: header.payloadChecksum, bases: header.bases, chunks: header.chunks, keyID: key)
    }

    fileprivate static let records: [ForgedPoint] = [
        ForgedPoint("3: a record in an unknown codec is named, older snapshots are listed and restored") { place in
            try place.append(RawChunk(kind: .snapshot, bytes: place.third().encoded())) { later($0, .later(4)) }
            let archive = try place.rebuilt()
            try place.expectUnharmed(archive)
            #expect(archive.kinds() == [.unreadable, .lostSnapshot], "\(archive.findings)")
            #expect(try archive.refusal(capturing: place.sandbox) == .newerFormat)
        },
        ForgedPoint("3, 7: a record with a key is named, whatever its ids are, and nothing is written") { place in
            let chunk = RawChunk(
                id: ChunkID(hashing: Array("a keyed id".utf8)), kind: .snapshot, bytes: try place.third().encoded())
            try place.append(chunk) { later($0, $0.codec, key: 5) }
            let archive = try place.rebuilt()
            try place.expectUnharmed(archive)
            #expect(archive.findings.contains { $0.kind == .unreadable && $0.message.contains("key 5") })
            #expect(try archive.refusal(capturing: place.sandbox) == .newerFormat)
        },
        ForgedPoint("7: content whose codec has a number in the extension is kept, and captures go on") { place in
            let content = RawChunk(kind: .content, bytes: Array("in a codec of a later program".utf8))
            try place.append(content) { later($0, .later(300)) }
            let archive = try place.rebuilt()
            try place.expectUnharmed(archive)
            #expect(archive.findings.isEmpty)
            #expect(try archive.refusal(capturing: place.sandbox) == nil)
            archive.store.releaseWriters()
            #expect(try place.rebuilt().store.catalogue.location(of: content.id) != nil)
        },
        ForgedPoint("7: a block whose table is in its payload is named, and nothing is written") { place in
            let payload = Array("a table, encrypted".utf8)
            let header = BlockHeader(
                codec: .stored, depth: 0, storedLength: payload.count,
                payloadChecksum: payload.withUnsafeBytes { crc32($0) }, bases: [], chunks: [], keyID: 9)
            try place.append(header, payload)
            let archive = try place.rebuilt()
            try place.expectUnharmed(archive)
            #expect(archive.kinds() == [.unreadable], "\(archive.findings)")
            #expect(try archive.refusal(capturing: place.sandbox) == .newerFormat)
        },
        ForgedPoint("7: an archive with another hash is refused") { place in
            let manifest = place.directory.appending("archive.json")
            let text = String(decoding: try Files("/").read(manifest), as: UTF8.self)
            let digits = String(try #require(text.split(separator: "\"").first { $0.count == 64 }))
            let zeros = String(repeating: "0", count: 64)
            let changed = text.replacingOccurrences(of: digits, with: zeros)
                .replacingOccurrences(of: "\"sha-256\"", with: "\"blake3\"")
            #expect(changed.contains("blake3"))
            let sum = ChunkID(hashing: Array(changed.utf8)).hex
            try Files("/").write(manifest, changed.replacingOccurrences(of: zeros, with: sum))
            let error = #expect(throws: ArchiverError.self) { try Archive.open(place.directory) }
            #expect(error?.message.contains("blake3") ?? false, "\(error?.message ?? "")")
        },
        ForgedPoint("10: superseded labels are gone after a prune, and the last one stays") { place in
            let store = place.sandbox.archive.store
            let records = (0..<3).map {
                LabelRecord(
                    target: place.second.id.chunk, time: Timestamp(seconds: 2_000_000_000 + $0), label: "label \($0)")
            }
            for record in records { try store.enter(record) }
            try store.forget([place.first.id.chunk])
            _ = try place.sandbox.archive.prune(grace: .zero)
            store.releaseWriters()
            let archive = try place.rebuilt()
            #expect(try archive.snapshots().map(\.label) == ["label 2"])
            let left = try records.filter {
                try archive.store.catalogue.location(of: ChunkID(hashing: $0.encoded())) != nil
            }
            #expect(left == [records[2]])
        },
        ForgedPoint("12: after a clock that was ahead, the order is the sequence, and a moment finds the last") {
            place in
            let ahead = try place.third { $0.time = Timestamp(seconds: Timestamp.now.seconds + 900_000_000) }
            let ahead1 = RawChunk(kind: .snapshot, bytes: ahead.encoded())
            let back = try place.third {
                $0.sequence += 1
                $0.parent = SnapshotID(ahead1.id)
            }
            try place.append(ahead1)
            let last = RawChunk(kind: .snapshot, bytes: back.encoded())
            try place.append(last)
            let archive = try place.rebuilt()
            let root = try #require(try archive.root(at: place.sandbox.root.directory))
            #expect(try archive.snapshot(.latest, of: root).id.chunk == last.id)
            #expect(try archive.snapshot(of: root, at: .now)?.id.chunk == last.id)
            try place.expectUnharmed(archive, others: 2)
        },
    ]
}

// MARK: Segments and archive.json

extension ForgedPoint {
    private static func manifest(_ place: ForgedArchivePlace, read: [String] = [], write: [String] = []) -> [UInt8] {
        let old = place.sandbox.archive.store.manifest
        return ArchiveManifest(
            id: old.id, created: old.created, parameters: old.parameters, revision: 1, requiresToRead: read,
            requiresToWrite: write
        ).encoded()
    }

    fileprivate static let segments: [ForgedPoint] = [
        ForgedPoint("4: an unknown word that is required to write opens the archive for reading only") { place in
            try place.files.write("archive.json", manifest(place, write: ["replicas"]))
            let archive = try place.rebuilt()
            try place.expectUnharmed(archive)
            #expect(try archive.refusal(capturing: place.sandbox) == .newerFormat)
        },
        ForgedPoint("4: an unknown word that is required to read refuses the archive, by its name") { place in
            try place.files.write("archive.json", manifest(place, read: ["encryption"]))
            let error = ArchiverError.expect(.newerFormat) { _ = try Archive.open(place.directory) }
            #expect(error?.message.contains("encryption") ?? false)
        },
        ForgedPoint("5: a segment that others name is missed without a catalogue, also by check") { place in
            let path = try place.segment()
            // The next writer begins another segment, which names this one.
            let archive = place.sandbox.archive
            let row = try #require(try archive.store.catalogue.segments().last)
            let file = try LocalSegment(
                at: EnclosedPath(archive.directory).appending("segments/" + row.path), writable: true)
            defer { withExtendedLifetime(file) {} }
            #expect(try file.tryLock())
            try place.sandbox.root.write("f", "third\n")
            _ = try place.sandbox.reopened().capture(place.sandbox.root.directory)
            unlink(path.string)
            unlink(place.directory.appending("begun").string)
            let name = try #require(row.name).hex
            let opened = try place.rebuilt()
            #expect(opened.findings.contains { $0.kind == .missing && $0.message.contains(name) })
            let check = try opened.check(data: true)
            #expect(check.findings.contains { $0.message.contains(name) }, "\(check.findings)")
        },
        ForgedPoint("6: a changed digit of the id is damage, and repair brings archive.json back") { place in
            let good = try place.files.read("archive.json")
            let id = Array(place.sandbox.archive.store.manifest.id.hex.utf8)
            let start = try #require(good.firstRange(of: id)?.lowerBound)
            var bad = good
            bad[start] = bad[start] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
            try place.files.write("archive.json", bad)
            ArchiverError.expect(.damaged) { _ = try Archive.open(place.directory) }
            place.sandbox.archive.store.close()
            #expect(try Archive.repairCatalogue(of: place.directory).findings == [])
            #expect(try place.files.read("archive.json") == good)
            try place.expectUnharmed(Archive.open(place.directory))
        },
        ForgedPoint("9: a block in a watched file is no block of the segment, whoever knows the segment's name") {
            place in
            let path = try place.segment()
            let origin = try Segment(LocalSegment(at: EnclosedPath(file: path))).place(0).origin
            let length = try Files("/").read(path).count
            // Who can list the segments knows the segment's id and the offset, but not the archive's id.
            let forged = RawChunk(kind: .snapshot, bytes: try place.third().encoded())
            var encoder = try BlockEncoder(level: 1)
            let block = try encoder.encode([forged])
            let guess = BlockOrigin(
                archive: .random(),
                segment: try Segment(LocalSegment(at: EnclosedPath(file: path))).readHeader().segment)
            let planted = block.bytes(at: BlockPlace(in: guess, offset: length + 100))
            // The writer's own block is damaged, so a reader searches for the next one.
            let bytes = try Files("/").read(path)
            try Files("/").write(path, bytes + [UInt8](repeating: 0x55, count: 100) + planted)
            let archive = try place.rebuilt()
            try place.expectUnharmed(archive)
            #expect(try archive.store.catalogue.location(of: forged.id) == nil)
            // With the archive's id it is one: the place is all that distinguishes them.
            try Files("/").write(
                path,
                bytes + [UInt8](repeating: 0x55, count: 100)
                    + block.bytes(at: BlockPlace(in: origin, offset: length + 100)))
            archive.store.close()
            try place.expectUnharmed(place.rebuilt(), others: 1)
        },
        ForgedPoint("11: a segment with another name is read, and nothing is appended to it") { place in
            let path = try place.segment()
            let bytes = try Files("/").read(path)
            link(path.string, place.sandbox.base.full("copy of the segment").string)
            let archive = try place.rebuilt()
            try place.expectUnharmed(archive)
            #expect(try archive.refusal(capturing: place.sandbox) == nil)
            #expect(try Files("/").read(path) == bytes)
            #expect(try archive.snapshots().count == 3)
        },
        ForgedPoint("a segment twice: one file is read, the other is named, and both stay") { place in
            let path = try place.segment()
            let copy = place.directory.appending("segments").appending("copy")
            mkdir(copy.string, 0o700)
            let other = copy.appending(try #require(path.lastComponent))
            try Files("/").write(other, Files("/").read(path))
            let archive = try place.rebuilt()
            try place.expectUnharmed(archive)
            #expect(archive.kinds() == [.unread], "\(archive.findings)")
            #expect(try archive.refusal(capturing: place.sandbox) == nil)
            #expect(try Files("/").read(other) == Files("/").read(path))
        },
        ForgedPoint("a segment of a newer version refuses the archive, also if a record drops it") { place in
            let manifest = place.sandbox.archive.store.manifest
            let header = SegmentHeader(archive: manifest.id, segment: .random(), created: .now)
            var bytes = header.encoded()
            bytes[8] = 2
            let sum = bytes[..<60].withUnsafeBytes { crc32($0) }
            for index in 0..<4 { bytes[60 + index] = UInt8(truncatingIfNeeded: sum >> UInt32(8 * index)) }
            let dropped = DroppedSegments(time: .now, segments: [header.segment])
            try place.append(RawChunk(kind: .droppedSegments, bytes: dropped.encoded()))
            let name = SegmentName(created: header.created, segment: header.segment).fileName
            try Files("/").write(place.directory.appending("segments").appending(name), bytes)
            let error = ArchiverError.expect(.newerFormat) { _ = try place.rebuilt() }
            #expect(error?.message.contains("2") ?? false, "\(error?.message ?? "")")
        },
    ]
}

// MARK: Blocks, entries and numbers

extension ForgedPoint {
    /// Appends a snapshot of a tree of the root and one file, whose entry has the field `key`.
    private static func appendEntry(_ place: ForgedArchivePlace, key: UInt64) throws -> RawChunk {
        let entries: [Entry] = [.forgedRoot, .forged("f", text: "with a field")]
        guard case .map(let pairs) = try CBORValue(decoding: Node.leaf(entries).encoded()),
            case .array(var items)? = pairs.first?.value, case .map(let fields) = items[1]
        else { throw FormatError.malformed("not a leaf") }
        items[1] = .map(fields + [(.unsigned(key), .text("of a later program"))])
        let node = RawChunk(kind: .node, bytes: CBORValue.map([(.unsigned(1), .array(items))]).encoded())
        let snapshot = try place.third(tree: node.id) {
            $0.totals = Totals(files: 1, directories: 1, bytes: 12)
            $0.changes = ChangeCounts()
            $0.changedPaths = []
        }
        let record = RawChunk(kind: .snapshot, bytes: snapshot.encoded())
        for chunk in [node, record] { try place.append(chunk) }
        return record
    }

    fileprivate static let entries: [ForgedPoint] = [
        ForgedPoint("8: a field of an entry from 64 on is ignored by a restore") { place in
            let record = try appendEntry(place, key: 64)
            let archive = try place.rebuilt()
            try place.expectUnharmed(archive, others: 1)
            let last = try #require(try archive.snapshots().last)
            #expect(last.id.chunk == record.id)
            #expect(try archive.text(of: "f", in: last) == "with a field")
            #expect(try archive.check(data: true).findings == [])
        },
        ForgedPoint("8: another unknown field of an entry is refused, and check names the snapshot") { place in
            _ = try appendEntry(place, key: 18)
            let archive = try place.rebuilt()
            try place.expectUnharmed(archive, others: 1)
            let last = try #require(try archive.snapshots().last)
            #expect(throws: (any Error).self) { try archive.text(of: "f", in: last) }
            #expect(try archive.check(data: false).findings.contains { $0.snapshot == last.id })
        },
    ]

    fileprivate static let blocks: [ForgedPoint] = [
        ForgedPoint("11: a header that says it is longer than any table is refused before it is read") { place in
            let path = try place.segment()
            let bytes = try Files("/").read(path)
            // 2^35 - 1 bytes of header.
            let header: [UInt8] = Array("ABLK".utf8) + [0xff, 0xff, 0xff, 0xff, 0x7f]
            try Files("/").write(path, bytes + header + [UInt8](repeating: 1, count: 4096))
            try place.expectUnharmed(place.rebuilt())
        },
        ForgedPoint("11: many records in one block are indexed with work that grows with their number only") { place in
            let records = (0..<20_000).map {
                RawChunk(
                    kind: .label,
                    bytes: LabelRecord(
                        target: place.second.id.chunk, time: Timestamp(seconds: Int64($0)), label: "\($0)"
                    ).encoded())
            }
            var encoder = try BlockEncoder(level: 1)
            let block = try encoder.encode(records)
            try place.append(block.header, block.payload)
            let archive = try place.rebuilt()
            #expect(try archive.snapshots().last?.label == "19999")
            // Each block is unpacked once, however many records it has.
            #expect(archive.store.counters.counts.blocksRead < 20, "\(archive.store.counters.counts)")
        },
        ForgedPoint("36, 21: copies that are each other's base are no damage while another copy can be read") { place in
            let text = (0..<400).map { "line \($0)\n" }.joined()
            let one = RawChunk(kind: .content, bytes: Array((text + "one").utf8))
            let two = RawChunk(kind: .content, bytes: Array((text + "two").utf8))
            func add(_ chunk: RawChunk, on base: RawChunk?) throws {
                var encoder = try BlockEncoder(level: 1)
                let bases = base.map { [BaseChunk(id: $0.id, bytes: $0.bytes, depth: 0)] } ?? []
                let block = try encoder.encode([chunk], bases: bases)
                #expect(block.header.bases.count == bases.count)
                try place.append(block.header, block.payload)
            }
            try add(one, on: nil)
            try add(two, on: one)
            try add(one, on: two)
            let archive = try place.rebuilt()
            for readingData in [false, true] {
                let result = try ArchiveCheck.run(archive.store, reading: readingData ? .all : .none, nil)
                #expect(result.findings.isEmpty, "\(result.findings)")
            }
            #expect(try archive.store.read(one.id) == one.bytes)
            #expect(try archive.store.read(two.id) == two.bytes)
            try place.expectUnharmed(archive)
        },
        ForgedPoint("36, 21: chunks whose only copies are each other's base are lost, and check names them") { place in
            let text = (0..<400).map { "line \($0)\n" }.joined()
            let one = RawChunk(kind: .content, bytes: Array((text + "one").utf8))
            let two = RawChunk(kind: .content, bytes: Array((text + "two").utf8))
            for (chunk, base) in [(two, one), (one, two)] {
                var encoder = try BlockEncoder(level: 1)
                let block = try encoder.encode([chunk], bases: [BaseChunk(id: base.id, bytes: base.bytes, depth: 0)])
                try place.append(block.header, block.payload)
            }
            let archive = try place.rebuilt()
            for readingData in [false, true] {
                let result = try ArchiveCheck.run(archive.store, reading: readingData ? .all : .none, nil)
                #expect(result.findings.count >= 1, "\(readingData)")
            }
            try place.expectUnharmed(archive)
        },
        ForgedPoint("11: a check of blocks that lie about their bases does a bounded work, and reports them") { place in
            let size = 5 << 20
            var (bases, source): ([ChunkID], [UInt8]) = ([], [])
            for number in 0..<8 {
                // Of each large block a small chunk is the base.
                let large = RawChunk(
                    kind: .content, bytes: [UInt8(number)] + [UInt8](repeating: 7, count: size))
                let small = RawChunk(kind: .content, bytes: Array("the base with the number \(number)".utf8))
                var encoder = try BlockEncoder(level: 1)
                let block = try encoder.encode([large, small])
                try place.append(block.header, block.payload)
                bases.append(small.id)
                source += small.bytes
            }
            for number in 0..<300 {
                let text = Array("number \(number), which is true".utf8)
                let raw = text + source.prefix(200)
                // Insert the text, then copy 200 bytes from the beginning of the bases.
                let delta = [UInt8(text.count), 0xc8, 0x01, 0] + text
                let payload = [UInt8(delta.count)] + delta
                let header = BlockHeader(
                    codec: .delta, depth: 1, storedLength: payload.count,
                    payloadChecksum: payload.withUnsafeBytes { crc32($0) }, bases: bases.map { ChunkPrefix($0) },
                    chunks: [.init(kind: .content, length: raw.count, id: ChunkID(hashing: raw))])
                try place.append(header, payload)
            }
            let store = try place.rebuilt().store
            let before = store.counters.counts
            let result = try ArchiveCheck.run(store, reading: .all, nil, leastWork: 64 << 20)
            let work = (store.counters.counts - before).bytesUnpacked
            // Without a bound, each of the 300 blocks would unpack all of the 8: 11.7 GiB.
            let rawBytes = 8 * (size + 100) + 300 * 300 + (1 << 20)
            let bound = 64 << 20 + ArchiveCheck.workFactor * rawBytes + BlockHeader.rawLengthLimit
            #expect(work < bound, "\(work >> 20) MiB of \(bound >> 20)")
            #expect(
                result.findings.contains { $0.message.contains("would take too long") },
                "\(result.findings.first?.message ?? "")")
        },
    ]

    fileprivate static let limits: [ForgedPoint] = [
        ForgedPoint("11: records with a time outside the years 0 to 9999 are damage, and everything else is listed") {
            place in
            for seconds in [Int64.min, -62_167_219_201, 253_402_300_800, .max] {
                let pin = PinRecord(target: place.second.id.chunk, time: Timestamp(seconds: seconds))
                try place.append(RawChunk(kind: .pin, bytes: pin.encoded()))
                let late = try place.third { $0.time = Timestamp(seconds: seconds) }
                try place.append(RawChunk(kind: .snapshot, bytes: late.encoded()))
            }
            let archive = try place.rebuilt()
            try place.expectUnharmed(archive)
            #expect(try archive.check(data: false).findingCount >= 8)
            #expect(try archive.store.catalogue.pins().isEmpty)
        },
        ForgedPoint("11: a snapshot with a sequence of 2^62 or more is damage, and not the latest") { place in
            for sequence in [1 << 62, UInt64(Int64.max), .max] {
                let late = try place.third { $0.sequence = sequence }
                try place.append(RawChunk(kind: .snapshot, bytes: late.encoded()))
            }
            let archive = try place.rebuilt()
            try place.expectUnharmed(archive)
            #expect(try archive.check(data: false).findingCount >= 3)
            let root = try #require(try archive.root(at: place.sandbox.root.directory))
            #expect(try archive.snapshot(.latest, of: root) == place.second)
        },
        ForgedPoint("11: a label, a host or a title that is too long is damage, and everything else is listed") {
            place in
            let long = String(repeating: "x", count: 65_537)
            let label = LabelRecord(target: place.second.id.chunk, time: .now, label: long)
            try place.append(RawChunk(kind: .label, bytes: label.encoded()))
            try place.append(RawChunk(kind: .snapshot, bytes: place.third { $0.host = long }.encoded()))
            let state = StateRecord(title: long, host: "", time: .now, type: "", content: .inline([1]))
            try place.append(RawChunk(kind: .state, bytes: state.encoded()))
            let archive = try place.rebuilt()
            try place.expectUnharmed(archive)
            #expect(try archive.check(data: false).findingCount >= 3)
            #expect(try archive.stateTitles().isEmpty)
        },
    ]
}
