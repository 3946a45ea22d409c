// Operations: entering, listing, and damage to their segments.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Operations", .blocking)
struct OperationTests {
    private let directory: TemporaryDirectory
    private var path: FilePath { directory.path }

    init() throws { directory = try TemporaryDirectory(inMemory: true) }

    private func open() throws -> ArchiveStore { try ArchiveStore.open(path, creating: true) }

    @Test("operations are listed by time with all their fields, also by a rebuilt catalogue")
    func listing() throws {
        let chunk = ChunkID(hashing: [])
        let records =
            [
                OperationRecord(
                    rootPath: [0x2f, 0xff], host: "é", kind: try #require(OperationKind(rawValue: "later-on")),
                    time: Timestamp(seconds: -5, nanoseconds: 7), path: RelativePath(unchecked: [0x61, 0x2f, 0xff])),
                OperationRecord(
                    rootPath: [], host: "", kind: .undo, time: Timestamp(seconds: -5, nanoseconds: 8),
                    before: SnapshotID(chunk), snapshot: SnapshotID(chunk), target: OperationID(chunk)),
            ] + (1..<20).map { OperationRecord.sample($0) }
        var expected: [StoredOperation] = []
        do {
            let store = try open()
            let ids = try records.reversed().map { try store.enter($0) }
            expected = zip(ids.reversed(), records).map { StoredOperation(id: $0, record: $1) }
            #expect(try store.catalogue.operations() == expected)
            #expect(try open().catalogue.operations() == expected)
            for operation in expected {
                #expect(operation == StoredOperation(operation.record))
                #expect(try store.record(operation.id.chunk) == operation.record)
            }
        }
        try path.appending("catalogue.sqlite").removeFile()
        #expect(try open().catalogue.operations() == expected)
    }

    @Test("operations and the next sequence are found by root")
    func roots() throws {
        let store = try open()
        #expect(try store.catalogue.nextSequence(ofRoot: Array("/a".utf8), machine: .unknown) == 1)
        for number in [3, 1, 2] { _ = try store.enter(.sample(number, root: number == 3 ? "/b" : "/a")) }
        let root = try #require(try store.catalogue.root(path: Array("/a".utf8), machine: .unknown))
        #expect(
            try store.catalogue.operations(root: root.number).map(\.record)
                == [.sample(1, root: "/a"), .sample(2, root: "/a")])
        #expect(try store.catalogue.nextSequence(ofRoot: root.path, machine: .unknown) == 2)
        // Only roots with snapshots are listed.
        #expect(try store.catalogue.roots().isEmpty)
    }

    @Test("operations are listed by their sequences, whatever the clock said, also by a rebuilt catalogue")
    func clocks() throws {
        let records = [900, 5, 70, 6].enumerated().map { place, seconds in
            OperationRecord(
                rootPath: Array("/a".utf8), host: "", kind: .restore, time: Timestamp(seconds: Int64(seconds)),
                sequence: UInt64(place + 1))
        }
        let orders = [records, records.reversed()]
        for order in orders {
            let directory = try TemporaryDirectory(inMemory: true)
            let store = try ArchiveStore.open(directory.path, creating: true)
            for record in order { _ = try store.enter(record) }
            #expect(try store.catalogue.operations().map(\.record) == records)
            store.close()
            try directory.path.appending("catalogue.sqlite").removeFile()
            let rebuilt = try ArchiveStore.open(directory.path, creating: false)
            #expect(try rebuilt.catalogue.operations().map(\.record) == records)
        }
    }

    @Test("a notice moves operations by their sequences, and a new root at the old path has its own")
    func moved() throws {
        let (old, new) = (Array("/a".utf8), Array("/b".utf8))
        func operation(_ seconds: Int64, _ sequence: UInt64, _ name: String) -> OperationRecord {
            OperationRecord(
                rootPath: old, host: "", kind: .run, time: Timestamp(seconds: seconds), name: name, sequence: sequence)
        }
        func check(_ store: ArchiveStore) throws {
            for (path, names, sequences) in [(new, ["first", "second"], [11, 12]), (old, ["third"], [21])] {
                let root = try #require(try store.catalogue.root(path: path, machine: .unknown))
                let records = try store.catalogue.operations(root: root.number).map(\.record)
                #expect(records.map(\.name) == names && records.map { Int($0.sequence) } == sequences)
            }
        }
        let store = try open()
        // The clock was years ahead, and is right when the root is moved.
        for record in [operation(9_000_000, 1, "first"), operation(9_000_001, 2, "second")] {
            _ = try store.enter(record)
        }
        try store.enter(
            RootNotice(
                rootPath: old, host: "", kind: .moved, time: Timestamp(seconds: 60), machine: .unknown, newPath: new,
                through: 20, shift: 10))
        #expect(try store.catalogue.nextSequence(ofRoot: old, machine: .unknown) == 21)
        #expect(try store.catalogue.nextSequence(ofRoot: new, machine: .unknown) == 13)
        _ = try store.enter(operation(50, 21, "third"))
        try check(store)
        store.close()
        try path.appending("catalogue.sqlite").removeFile()
        try check(try open())
    }

    @Test("all operations that two writers enter are listed")
    func twoWriters() throws {
        let stores = [try open(), try open()]
        let expected = (0..<60).map { OperationRecord.sample($0) }
        _ = try onThreads(2) { index in
            for number in 0..<60 where number % 2 == index { _ = try stores[index].enter(expected[number]) }
        }
        for store in stores + [try open()] { #expect(try store.catalogue.operations().map(\.record) == expected) }
    }
}

@Suite("Operations and crashes", .blocking)
struct OperationCrashTests {
    /// A segment with a snapshot, an operation, and another snapshot; and the catalogue before the operation.
    private struct Scene {
        let directory = try? TemporaryDirectory(inMemory: true)
        let path: FilePath
        let record = OperationRecord.sample(1)
        let before: Commit
        let after: Commit
        let segment: FilePath
        let bytes: [UInt8]
        /// The range of the operation's block.
        let block: Range<Int>
        private let catalogue: [UInt8]

        init() throws {
            path = try #require(directory).path
            before = try ArchiveStore.open(path, creating: true).commit(1, [Array("one".utf8)])
            catalogue = try path.appending("catalogue.sqlite").readFile()
            segment = try onlySegment(in: path)
            let start = try segment.readFile().count
            let store = try ArchiveStore.open(path, creating: false)
            _ = try store.enter(record)
            block = start..<(try segment.readFile().count)
            after = try store.commit(2, [Array("two".utf8)], parent: before)
            bytes = try segment.readFile()
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

    @Test("an operation whose block is cut off at any byte does not exist", arguments: [true, false])
    func cuts(isCatalogueKept: Bool) throws {
        let scene = try Scene()
        for length in (scene.block.lowerBound...scene.bytes.count).sampled {
            let store = try scene.crash(Array(scene.bytes.prefix(length)), isCatalogueKept: isCatalogueKept)
            let isWhole = length >= scene.block.upperBound
            #expect(try store.holds(scene.before), "cut at \(length)")
            #expect(
                try store.catalogue.operations().map(\.record) == (isWhole ? [scene.record] : []), "cut at \(length)")
            if isWhole { continue }
            #expect(try scene.segment.readFile().count == scene.block.lowerBound, "cut at \(length)")
            _ = try store.enter(scene.record)
            #expect(try store.catalogue.operations().map(\.record) == [scene.record], "after a cut at \(length)")
        }
    }

    @Test("a wrong byte anywhere in an operation's block loses the operation and no snapshot")
    func garbage() throws {
        let scene = try Scene()
        for offset in scene.block.sampled {
            var bytes = scene.bytes
            bytes[offset] ^= 0x01
            let store = try scene.crash(bytes, isCatalogueKept: false)
            #expect(try store.catalogue.operations().isEmpty, "flip at \(offset)")
            #expect(try store.holds(scene.before) && store.holds(scene.after), "flip at \(offset)")
        }
    }

    @Test("a rebuild of the catalogue moves an undecodable operation into salvage and lists the others")
    func nonsense() throws {
        let directory = try TemporaryDirectory()
        let nonsense = RawChunk(kind: .operation, bytes: Array("no operation".utf8))
        do {
            let store = try ArchiveStore.open(directory.path, creating: true)
            var encoder = try BlockEncoder(level: 1)
            let writer = try store.beginCommit()
            #expect(try writer.claim(nonsense.id))
            try writer.append(encoder.encode([nonsense]))
            try writer.commitChunks()
            _ = try store.enter(.sample(1))
        }
        let summary = try ArchiveStore.rebuildCatalogue(of: directory.path)
        #expect(summary.operations == 1 && summary.damage.isEmpty)
        #expect(summary.moved.count == 1 && summary.moved.first?.contains(nonsense.id.hex) == true)
        #expect(
            try ArchiveStore.open(directory.path, creating: false).catalogue.operations().map(\.record) == [.sample(1)])
    }
}
