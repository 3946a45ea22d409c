// Golden archives "from the future": today's program lists and restores them as the format promises, and loses nothing.

import ArchiveFormat
import ArchiveStorage
import Compression
import FileIO
import Foundation
import Glibc
import Roots
import SnapshotTree
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit

/// The names of the golden archives, and what a later program wrote into them.
enum FutureArchives {
    static let names = ["future-records", "future-blocks"]
    static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "fixtures/golden-archives")
    /// The root that was captured.
    static let root = FilePath("/future/root")

    /// Contents that only records and fields of later programs refer to.
    static let named = ["unknown kind", "unknown field", "nested field", "field of an entry"].map {
        RawChunk(kind: .content, bytes: Array("named by an \($0)".utf8))
    }
    static let field = CBORValue.text("field of a later program")
    static let hidden = RawChunk(kind: .gap, bytes: Array("hidden by a codec or a key".utf8))

    /// A copy of a golden archive.
    static func copy(_ name: String, in directory: FilePath) throws -> FilePath {
        let copy = directory.appending(name)
        try FileManager.default.copyItem(
            atPath: folder.appending(path: name).appending(path: "archive").path(), toPath: copy.string)
        return copy
    }

    static func adding(_ pairs: [(UInt64, CBORValue)], to bytes: [UInt8]) throws -> [UInt8] {
        guard case .map(let old) = try CBORValue(decoding: bytes) else { return bytes }
        return CBORValue.map(old + pairs.map { (.unsigned($0.0), $0.1) }).encoded()
    }
}

@Suite("Archives of later programs", .blocking)
struct FutureArchiveTests {
    private func text(_ path: FilePath, _ archive: Archive, _ label: String) throws -> String? {
        let snapshot = try #require(try archive.snapshots().first { $0.label == label })
        let tree = Tree(snapshot.tree, in: StoredNodes(archive.store))
        guard let entry = try tree.entry(at: .at(path)) else { return nil }
        return String(decoding: try archive.read(entry, range: 0..<1_000), as: UTF8.self)
    }

    @Test("unknown kinds and fields are kept by a prune and by a purge, with what they refer to")
    func records() throws {
        let scratch = try TemporaryDirectory()
        let place = try FutureArchives.copy("future-records", in: scratch.path)
        do {
            let archive = try Archive.open(place)
            #expect(archive.findings.isEmpty, "\(archive.findings)")
            #expect(try archive.snapshots().map(\.label) == ["one", "two", "three"])
            for label in ["one", "two", "three"] { #expect(try text("f", archive, label) == label) }
            #expect(try archive.check(data: true).findings == [])
            let one = try #require(try archive.snapshots().first)
            try archive.store.forget([one.id.chunk])
            #expect(try archive.prune(grace: .zero).dropped > 0)
            archive.store.releaseWriters()
        }
        for isPurged in [false, true] {
            if isPurged {
                let machine = try #require(try Archive.open(place).snapshots().first).machine
                let root = ArchivedRoot(path: FutureArchives.root, machine: machine, host: "future")
                let result = try Archive.purge(.paths([.at("secret")], of: root), in: place)
                #expect(result.isComplete, "\(result)")
            }
            unlink(place.appending("catalogue.sqlite").string)
            let archive = try Archive.open(place)
            #expect(archive.findings.isEmpty, "\(archive.findings)")
            #expect(try archive.snapshots().map(\.label) == ["two", "three"])
            #expect(try text("f", archive, "three") == "three")
            #expect(try text("secret", archive, "three") == (isPurged ? nil : "s3cr3t"))
            for chunk in FutureArchives.named { #expect(try archive.store.read(chunk.id) == chunk.bytes) }
            let three = try #require(try archive.snapshots().last)
            let bytes = try archive.store.read(three.id.chunk)
            #expect(bytes.ranges(of: Array("field of a later program".utf8)).count == 2)
            #expect(try archive.check(data: true).findings == [])
            archive.store.releaseWriters()
        }
    }

    @Test("what a later codec, key or feature hides is named, everything else is restored, and nothing is changed")
    func blocks() throws {
        let scratch = try TemporaryDirectory()
        let place = try FutureArchives.copy("future-blocks", in: scratch.path)
        func segments() throws -> [String: Data] {
            let folder = place.appending("segments").string
            var files: [String: Data] = [:]
            for name in try FileManager.default.subpathsOfDirectory(atPath: folder) where name.hasSuffix(".segment") {
                files[name] = try Data(contentsOf: URL(filePath: folder + "/" + name))
            }
            return files
        }
        let before = try segments()
        // With the feature's word, and without it, as in a file put back from an old copy.
        for hasWord in [true, false] {
            if !hasWord {
                let file = URL(filePath: place.appending("archive.json").string)
                let old = try ArchiveManifest(decoding: Array(Data(contentsOf: file)))
                let plain = ArchiveManifest(id: old.id, created: old.created, parameters: old.parameters, revision: 9)
                try Data(plain.encoded()).write(to: file)
            }
            let archive = try Archive.open(place)
            #expect(try archive.snapshots().map(\.label) == ["one", "two"])
            for label in ["one", "two"] { #expect(try text("f", archive, label) == label) }
            let unreadable = archive.store.findings.filter { $0.kind == .unreadable }.map(\.message)
            for word in ["codec 1000", "key 7"] {
                #expect(unreadable.contains { $0.contains(word) }, "\(unreadable)")
            }
            #expect(archive.store.findings.contains { $0.kind == .lostSnapshot })
            let target = scratch.path.appending("restored-\(hasWord)")
            let two = try #require(try archive.snapshots().last)
            _ = try archive.restore(two, RestoreOptions(target: target))
            #expect(try String(contentsOfFile: target.appending("f").string, encoding: .utf8) == "two")
            ArchiverError.expect(.newerFormat) { _ = try archive.prune(grace: .zero) }
            ArchiverError.expect(.newerFormat) { _ = try archive.capture(target) }
            #expect(try archive.check(data: false).findings.count >= 2)
        }
        #expect(try segments() == before)
    }
}

/// Makes the archives; not a test: it runs only if `$ARCHIVER_FUTURE` names the directory for them.
@Suite(.blocking, .enabled(if: getenv("ARCHIVER_FUTURE") != nil))
struct FutureArchiveMaking {
    private func record(_ kind: ChunkKind, _ bytes: [UInt8], _ pairs: [(UInt64, CBORValue)]) throws -> RawChunk {
        RawChunk(kind: kind, bytes: try FutureArchives.adding(pairs, to: bytes))
    }

    /// Appends blocks, each changed by a later program.
    private func append(
        _ chunks: [RawChunk], to archive: Archive, _ change: (EncodedBlock) -> EncodedBlock = { $0 }
    ) throws {
        let writer = try archive.store.beginCommit()
        for chunk in chunks { try writer.append(change(archive.store.encode([chunk]))) }
        try writer.commitChunks()
        archive.store.releaseWriters()
    }

    /// An archive with two snapshots of a root with the path that all these archives have.
    private func archive(_ name: String) throws -> (Archive, [ListedSnapshot], FilePath) {
        let place = FilePath(String(cString: getenv("ARCHIVER_FUTURE"))).appending(name).appending("archive")
        try FileManager.default.createDirectory(atPath: place.string, withIntermediateDirectories: true)
        let archive = try Archive.open(place, creating: true)
        var listed: [ListedSnapshot] = []
        for (number, label) in ["one", "two"].enumerated() {
            let writer = try archive.store.beginCommit()
            let tree = try self.tree(label)
            try writer.append(archive.store.encode([tree]))
            let snapshot = Snapshot(
                time: Timestamp(seconds: 1_700_000_000 + Int64(number)), rootPath: FutureArchives.root.bytes,
                host: "future", cause: .capture, label: label, parent: listed.last?.id, tree: tree.id,
                totals: Totals(files: 2, directories: 1, bytes: UInt64(label.utf8.count + 6)),
                changes: ChangeCounts(added: number == 0 ? 3 : 0, modified: number == 0 ? 0 : 1),
                storedBytes: 0, sequence: UInt64(number + 1), machine: MachineID(deriving: Array("future".utf8)))
            listed.append(try writer.commit(snapshot, base: nil))
        }
        archive.store.releaseWriters()
        return (archive, listed, place)
    }

    private func tree(_ text: String, later: [UInt8] = []) throws -> RawChunk {
        let time = Timestamp(seconds: 1_700_000_000)
        var file = Entry(
            path: try .at("f"), kind: .file, permissions: 0o644, modified: time, content: .inline(Array(text.utf8)))
        file.later = later
        let entries = [
            Entry(path: .root, kind: .directory, permissions: 0o755, modified: time), file,
            Entry(
                path: try .at("secret"), kind: .file, permissions: 0o600, modified: time,
                content: .inline(Array("s3cr3t".utf8))),
        ]
        return RawChunk(kind: .node, bytes: Node.leaf(entries).encoded())
    }

    @Test("the archive with unknown kinds and fields is made")
    func records() throws {
        let (archive, listed, place) = try archive("future-records")
        let named = FutureArchives.named
        let tree = try tree("three", later: [0x18, 70, 0x58, 0x20] + named[3].id.bytes)
        var snapshot = try archive.store.snapshot(listed[1].id)
        (snapshot.label, snapshot.parent, snapshot.sequence, snapshot.tree) = ("three", listed[1].id, 3, tree.id)
        snapshot.totals.bytes = 11
        snapshot.time = Timestamp(seconds: 1_700_000_002)
        guard case .map(var pairs) = try CBORValue(decoding: snapshot.encoded()) else { return }
        for index in pairs.indices {
            guard case .unsigned(7) = pairs[index].key else { continue }
            let changed = try FutureArchives.adding(
                [(9, .bytes(named[2].id.bytes)), (10, FutureArchives.field)], to: pairs[index].value.encoded())
            pairs[index].value = try CBORValue(decoding: changed)
        }
        let three = try record(
            .snapshot, CBORValue.map(pairs).encoded(),
            [(40, .array([.bytes(named[1].id.bytes)])), (41, FutureArchives.field)])
        let time = Timestamp(seconds: 1_700_000_010)
        let (root, host, machine) = (snapshot.rootPath, snapshot.host, snapshot.machine)
        let kind = try #require(OperationKind(rawValue: "teleport"))
        try append(
            named + [
                tree, three,
                RawChunk(
                    kind: ChunkKind(rawValue: 77),
                    bytes: CBORValue.map([(.text("x"), .bytes(named[0].id.bytes))]).encoded()
                ),
                RawChunk(kind: ChunkKind(rawValue: 78), bytes: [0xff, 0, 1]),
                try record(
                    .gap,
                    GapRecord(
                        rootPath: root, host: host, cause: try #require(GapCause(rawValue: "solar-flare")), start: time,
                        end: time, machine: machine
                    ).encoded(), [(30, FutureArchives.field)]),
                try record(
                    .operation,
                    OperationRecord(
                        rootPath: root, host: host, kind: kind, time: time, before: listed[0].id, machine: machine
                    ).encoded(), [(30, FutureArchives.field)]),
                try record(
                    .pin, PinRecord(target: three.id, time: time, reason: "why").encoded(),
                    [(30, FutureArchives.field)]),
                try record(
                    .note,
                    NoteRecord(
                        rootPath: root, host: host, time: time, text: "text", snapshot: SnapshotID(three.id),
                        machine: machine
                    ).encoded(), [(30, FutureArchives.field)]),
            ], to: archive)
        try finish(place)
    }

    @Test("the archive with unknown codecs, keys and features is made")
    func blocks() throws {
        let (archive, listed, place) = try archive("future-blocks")
        var snapshot = try archive.store.snapshot(listed[1].id)
        (snapshot.label, snapshot.parent, snapshot.sequence) = ("hidden", listed[1].id, 3)
        snapshot.time = Timestamp(seconds: 1_700_000_002)
        try append([RawChunk(kind: .snapshot, bytes: snapshot.encoded())], to: archive) { block in
            later(block, .later(1_000))
        }
        try append([FutureArchives.hidden], to: archive) { later($0, $0.header.codec, key: 7) }
        let payload = Array("a table and a payload, encrypted".utf8)
        let table = BlockHeader(
            codec: .stored, depth: 0, storedLength: payload.count,
            payloadChecksum: payload.withUnsafeBytes { crc32($0) }, bases: [], chunks: [], keyID: 7)
        try append([FutureArchives.hidden], to: archive) { _ in EncodedBlock(header: table, payload: payload) }
        let manifest = archive.store.manifest
        let changed = ArchiveManifest(
            id: manifest.id, created: manifest.created, parameters: manifest.parameters, revision: 1,
            requiresToWrite: ["mirrors-2"])
        try Data(changed.encoded()).write(to: URL(filePath: place.appending("archive.json").string))
        try finish(place)
    }

    private func later(_ block: EncodedBlock, _ codec: Codec, key: Int = 0) -> EncodedBlock {
        let header = block.header
        return EncodedBlock(
            header: BlockHeader(
                codec: codec, depth: header.depth, storedLength: header.storedLength,
                payloadChecksum: header.payloadChecksum, bases: header.bases, chunks: header.chunks, keyID: key),
            payload: block.payload)
    }

    /// Removes everything that is not the archive's content.
    private func finish(_ place: FilePath) throws {
        for name in [
            "catalogue.sqlite", "catalogue.sqlite-wal", "catalogue.sqlite-shm", "locks", "ballast", "settings",
        ] {
            try? FileManager.default.removeItem(atPath: place.appending(name).string)
        }
    }
}
