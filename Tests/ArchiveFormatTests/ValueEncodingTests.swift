// Nodes, snapshots and slice lists: a second codec agrees, each value has one encoding, and nothing else is read.

import ArchiveFormat
import FileIO
import Foundation
import TestSupport
import Testing

@Suite("Encoded values")
struct ValueEncodingTests {
    @Test("the reference codec agrees on bytes and values: nodes")
    func nodes() throws {
        var random = SeededGenerator()
        for _ in 0..<100 {
            let node = random.node()
            let bytes = node.encoded()
            #expect(try CBOREncoder().encode(ReferenceNode(node)) == bytes, "seed \(random.seed)")
            #expect(try Node(decoding: bytes) == node, "seed \(random.seed)")
            #expect(try CBORDecoder().decode(ReferenceNode.self, from: bytes).value == node, "seed \(random.seed)")
        }
    }

    @Test("the Codable form agrees on bytes and values: snapshots")
    func snapshots() throws {
        var random = SeededGenerator()
        for _ in 0..<200 {
            let snapshot = random.snapshot()
            let bytes = snapshot.encoded()
            #expect(try CBOREncoder().encode(snapshot) == bytes, "seed \(random.seed)")
            #expect(try Snapshot(decoding: bytes) == snapshot, "seed \(random.seed)")
            #expect(try CBORDecoder().decode(Snapshot.self, from: bytes) == snapshot, "seed \(random.seed)")
        }
    }

    @Test("the reference codec agrees on bytes and values: slice lists")
    func sliceLists() throws {
        var random = SeededGenerator()
        for _ in 0..<200 {
            let list = random.sliceList()
            let bytes = list.encoded()
            #expect(try CBOREncoder().encode(ReferenceSliceList(list)) == bytes, "seed \(random.seed)")
            #expect(try SliceList(decoding: bytes) == list, "seed \(random.seed)")
            #expect(try CBORDecoder().decode(ReferenceSliceList.self, from: bytes).value == list, "seed \(random.seed)")
        }
    }

    @Test("a record reads back as it was written: gaps")
    func gaps() throws {
        var random = SeededGenerator()
        for _ in 0..<200 {
            let gap = random.gap()
            let bytes = gap.encoded()
            #expect(try CBOREncoder().encode(gap) == bytes, "seed \(random.seed)")
            #expect(try GapRecord(decoding: bytes) == gap, "seed \(random.seed)")
            #expect(try CBORDecoder().decode(GapRecord.self, from: bytes) == gap, "seed \(random.seed)")
        }
    }

    @Test("a record reads back as it was written: operations")
    func operations() throws {
        var random = SeededGenerator()
        for _ in 0..<200 {
            let operation = random.operation()
            let bytes = operation.encoded()
            #expect(try CBOREncoder().encode(operation) == bytes, "seed \(random.seed)")
            #expect(try OperationRecord(decoding: bytes) == operation, "seed \(random.seed)")
            #expect(try CBORDecoder().decode(OperationRecord.self, from: bytes) == operation, "seed \(random.seed)")
        }
    }

    @Test("a record reads back as it was written: notices of roots")
    func rootNotices() throws {
        var random = SeededGenerator()
        for _ in 0..<200 {
            let notice = random.rootNotice()
            let bytes = notice.encoded()
            #expect(try CBOREncoder().encode(notice) == bytes, "seed \(random.seed)")
            #expect(try RootNotice(decoding: bytes) == notice, "seed \(random.seed)")
            #expect(try CBORDecoder().decode(RootNotice.self, from: bytes) == notice, "seed \(random.seed)")
        }
    }

    @Test("every value has exactly one encoding: damaged bytes are refused, or encode to the same bytes again")
    func oneEncoding() throws {
        var random = SeededGenerator()
        var accepted = 0
        func check(
            _ bytes: [UInt8], asRead known: (CBORValue) -> CBORValue = { $0 }, _ read: ([UInt8]) throws -> [UInt8]
        ) throws {
            guard let again = try? read(bytes) else { return }
            accepted += 1
            let item = try bytes.withUnsafeBytes { try CBORValue(decoding: $0) }
            #expect(again == known(item).encoded(), "seed \(random.seed)")
        }
        for _ in 0..<100 {
            let seeds = [
                random.node().encoded(), random.snapshot().encoded(), random.sliceList().encoded(),
                random.gap().encoded(), random.operation().encoded(), random.rootNotice().encoded(),
            ]
            for _ in 0..<10 {
                for seed in seeds {
                    let bytes = damaged(seed, using: &random)
                    try check(bytes) { try Node(decoding: $0).encoded() }
                    try check(bytes, asRead: KnownFields.snapshot) { try Snapshot(decoding: $0).encoded() }
                    try check(bytes) { try SliceList(decoding: $0).encoded() }
                    try check(bytes, asRead: KnownFields.gap) { try GapRecord(decoding: $0).encoded() }
                    try check(bytes, asRead: KnownFields.operation) { try OperationRecord(decoding: $0).encoded() }
                    try check(bytes, asRead: KnownFields.rootNotice) { try RootNotice(decoding: $0).encoded() }
                    _ = try? CBORDecoder().decode(ReferenceNode.self, from: bytes)
                    _ = try? CBORDecoder().decode(Snapshot.self, from: bytes)
                    _ = try? CBORDecoder().decode(GapRecord.self, from: bytes)
                    _ = try? CBORDecoder().decode(OperationRecord.self, from: bytes)
                }
            }
            try check(random.bytes(0, 40)) { try Node(decoding: $0).encoded() }
        }
        #expect(accepted > 100, "seed \(random.seed): the fuzzing hardly reached anything")
    }

    @Test("a value that is cut off anywhere is refused")
    func truncated() throws {
        var random = SeededGenerator()
        let node = random.node().encoded()
        let snapshot = random.snapshot().encoded()
        for count in 0..<node.count {
            #expect(throws: FormatError.self, "seed \(random.seed)") { try Node(decoding: Array(node[..<count])) }
        }
        for count in 0..<snapshot.count {
            #expect(throws: FormatError.self, "seed \(random.seed)") {
                try Snapshot(decoding: Array(snapshot[..<count]))
            }
        }
        let gap = random.gap().encoded()
        for count in 0..<gap.count {
            #expect(throws: FormatError.self, "seed \(random.seed)") { try GapRecord(decoding: Array(gap[..<count])) }
        }
        let operation = random.operation().encoded()
        for count in 0..<operation.count {
            #expect(throws: FormatError.self, "seed \(random.seed)") {
                try OperationRecord(decoding: Array(operation[..<count]))
            }
        }
    }

    @Test("values survive JSON, and records are readable there: ids as hex digits, times and paths as text")
    func json() throws {
        var random = SeededGenerator()
        for _ in 0..<50 {
            let node = random.node()
            let snapshot = random.snapshot()
            #expect(
                try JSONDecoder().decode(Node.self, from: JSONEncoder().encode(node)) == node, "seed \(random.seed)")
            #expect(
                try JSONDecoder().decode(Snapshot.self, from: JSONEncoder().encode(snapshot)) == snapshot,
                "seed \(random.seed)")
            let gap = random.gap()
            #expect(
                try JSONDecoder().decode(GapRecord.self, from: JSONEncoder().encode(gap)) == gap, "seed \(random.seed)")
            let operation = random.operation()
            #expect(
                try JSONDecoder().decode(OperationRecord.self, from: JSONEncoder().encode(operation)) == operation,
                "seed \(random.seed)")
        }
        let label = LabelRecord(
            target: ChunkID(hashing: []), time: Timestamp(seconds: 1, nanoseconds: 5), label: "x")
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(
            String(decoding: try encoder.encode(label), as: UTF8.self) == """
                {"label":"x","target":"\(ChunkID(hashing: []).hex)","time":"1970-01-01T00:00:01.000000005Z"}
                """)
        let snapshot = Snapshot(
            time: Timestamp(seconds: 1, nanoseconds: 5), rootPath: Array("/a".utf8), host: "h", cause: .watch,
            label: "x", tree: ChunkID(hashing: []), totals: Totals(files: 2), changes: ChangeCounts(added: 1),
            changedPaths: [ChangedPath(path: RelativePath(unchecked: [0x62]), change: .removed)], storedBytes: 7,
            sequence: 3)
        #expect(
            String(decoding: try encoder.encode(snapshot), as: UTF8.self) == """
                {"cause":"watch","changedPaths":[{"change":2,"path":"b"}],"changes":{"added":1},"host":"h","label":"x",\
                "rootPath":"/a","sequence":3,"storedBytes":7,"time":"1970-01-01T00:00:01.000000005Z",\
                "totals":{"files":2},"tree":"\(ChunkID(hashing: []).hex)"}
                """)
        let paths = [ByteString(Array("a".utf8)), ByteString([0x80])]
        #expect(String(decoding: try encoder.encode(paths), as: UTF8.self) == #"["a",{"base64":"gA=="}]"#)
    }
}

@Suite("Rules of entries and nodes")
struct NodeRuleTests {
    /// Whether a leaf of `entries` is refused; `CBOREncoder` writes even entries that break the rules.
    private func refuses(_ entries: [Entry]) throws -> Bool {
        let bytes = try CBOREncoder().encode(ReferenceNode(.leaf(entries)))
        let fast = (try? Node(decoding: bytes)) == nil
        let generic = (try? CBORDecoder().decode(ReferenceNode.self, from: bytes)) == nil
        #expect(fast == generic)
        return fast
    }

    private func entry(
        _ path: String, _ kind: FileKind = .file, _ content: Content = .none, _ change: (inout Entry) -> Void = { _ in }
    ) -> Entry {
        var entry = Entry(
            path: RelativePath(unchecked: Array(path.utf8)), kind: kind, permissions: 0o644,
            modified: Timestamp(seconds: 5), content: content)
        change(&entry)
        return entry
    }

    private let id = ChunkID(hashing: [])

    @Test("the plainest entry is accepted, so the refusals below are meaningful")
    func accepted() throws {
        #expect(try !refuses([entry("a"), entry("b")]))
    }

    @Test(
        "an invalid path is refused",
        arguments: ["/a", "a/", "a//b", ".", "..", "a/.", "a/../b", "a\u{0}", "./a", "a/..", "..a/."])
    func invalidPaths(path: String) throws {
        #expect(try refuses([entry(path)]))
        #expect(try refuses([entry(""), entry(path)]))
        if path.hasPrefix("a/") { #expect(try refuses([entry("a/!"), entry(path)])) }
    }

    @Test("names that contain dots but are not `.` or `..` are accepted")
    func dots() throws {
        #expect(try !refuses([entry("..."), entry(".../..a"), entry(".a"), entry("a.")]))
    }

    @Test("entries that are repeated or out of walk order are refused")
    func order() throws {
        #expect(try refuses([entry("b"), entry("a")]))
        #expect(try refuses([entry("a"), entry("a")]))
        #expect(try refuses([entry("a.b"), entry("a/b")]))
        #expect(try !refuses([entry("a"), entry("a/b"), entry("a.b")]))
        #expect(try refuses([entry("a"), entry("")]))
        #expect(try refuses([entry(""), entry("")]))
    }

    @Test("any two paths are accepted only in walk order")
    func orderOracle() throws {
        var random = SeededGenerator()
        for _ in 0..<2000 {
            let (first, second) = (random.path(), random.path())
            let entries = [first, second].map {
                Entry(path: $0, kind: .file, permissions: 0, modified: Timestamp(seconds: 0))
            }
            #expect(try refuses(entries) == !(first < second), "seed \(random.seed)")
        }
    }

    @Test("content must be within its limits and match the kind")
    func content() throws {
        #expect(try !refuses([entry("a", .file, .inline(.init(repeating: 1, count: 96)))]))
        #expect(try refuses([entry("a", .file, .inline(.init(repeating: 1, count: 97)))]))
        #expect(try refuses([entry("a", .file, .inline([]))]))
        let slice = Slice(length: 1, chunk: id)
        #expect(try !refuses([entry("a", .file, .slices(.init(repeating: slice, count: 16)))]))
        #expect(try refuses([entry("a", .file, .slices(.init(repeating: slice, count: 17)))]))
        #expect(try refuses([entry("a", .file, .slices([]))]))
        #expect(try refuses([entry("a", .file, .slices([Slice(length: 0, chunk: id)]))]))
        #expect(try refuses([entry("a", .file, .slices([Slice(length: 1 << 63, chunk: nil)]))]))
        let large = Slice(length: UInt64(Int64.max), chunk: nil)
        #expect(try !refuses([entry("a", .file, .slices([large]))]))
        #expect(try refuses([entry("a", .file, .slices([large, slice]))]))
        #expect(try refuses([entry("a", .file, .sliceLists([]))]))
        let list = ListedSlices(length: 1, list: id)
        #expect(try !refuses([entry("a", .file, .sliceLists(.init(repeating: list, count: 20_000)))]))
        #expect(try refuses([entry("a", .file, .sliceLists([list, ListedSlices(length: 0, list: id)]))]))
        let most = ListedSlices(length: UInt64(Int64.max), list: id)
        #expect(try !refuses([entry("a", .file, .sliceLists([most]))]))
        #expect(try refuses([entry("a", .file, .sliceLists([most, list]))]))
        #expect(try refuses([entry("a", .file, .linkTarget([1]))]))
        #expect(try refuses([entry("a", .symbolicLink, .linkTarget([]))]))
        #expect(try refuses([entry("a", .symbolicLink, .linkTarget([1, 0]))]))
        for kind in FileKind.allCases where kind != .file {
            #expect(try refuses([entry("a", kind, .inline([1]))]))
            #expect(try refuses([entry("a", kind, .slices([slice]))]))
            #expect(try refuses([entry("a", kind, .sliceLists([list]))]))
            #expect(try refuses([entry("a", kind, .linkTarget([1]))]) == (kind != .symbolicLink))
        }
    }

    @Test("numbers must be in their ranges")
    func ranges() throws {
        #expect(try refuses([entry("a") { $0.permissions = 0o10000 }]))
        #expect(try refuses([entry("a") { $0.modified.nanoseconds = 1_000_000_000 }]))
        #expect(
            try refuses([
                entry("a") {
                    $0.signature = Signature(inode: 1, changed: Timestamp(seconds: 0, nanoseconds: 1_000_000_000))
                }
            ]))
        #expect(try refuses([entry("a") { $0.device = 1 }]))
        #expect(try !refuses([entry("a", .blockDevice) { $0.device = 1 }]))
    }

    @Test("extended attributes must have distinct names in sorted order, none empty")
    func attributes() throws {
        func refuses(_ names: [String]) throws -> Bool {
            try self.refuses([
                entry("a") { $0.attributes = names.map { EntryAttribute(name: Array($0.utf8), value: []) } }
            ])
        }
        #expect(try !refuses(["user.a", "user.b"]))
        #expect(try refuses(["user.b", "user.a"]))
        #expect(try refuses(["user.a", "user.a"]))
        #expect(try refuses([""]))
        #expect(try refuses(["user.\u{0}"]))
    }

    @Test("a value of at most 512 bytes is in its entry, a longer one in 1 to 16 chunks")
    func attributeValues() throws {
        func refuses(_ value: Content) throws -> Bool {
            try self.refuses([entry("a") { $0.attributes = [EntryAttribute(name: [0x61], value: value)] }])
        }
        func slices(_ count: Int, of length: UInt64) -> Content {
            .slices([Slice](repeating: Slice(length: length, chunk: ChunkID(hashing: [])), count: count))
        }
        #expect(try !refuses(.none))
        #expect(try !refuses(.inline([UInt8](repeating: 1, count: 512))))
        #expect(try refuses(.inline([UInt8](repeating: 1, count: 513))))
        #expect(try refuses(.inline([])))
        #expect(try !refuses(slices(1, of: 513)))
        #expect(try !refuses(slices(16, of: 4096)))
        #expect(try refuses(slices(17, of: 4096)))
        #expect(try refuses(slices(1, of: 512)))
        #expect(try refuses(.slices([])))
        #expect(try refuses(.slices([Slice(length: 513, chunk: nil)])))
    }

    @Test("a node has at most 512 entries")
    func size() throws {
        let entries = (1000..<1513).map { entry("\($0)") }
        #expect(try !refuses(Array(entries.dropLast())))
        #expect(try refuses(entries))
    }

    @Test("an inner node must have a level and children")
    func inner() throws {
        func refuses(_ level: Int, _ children: [Node.Child]) throws -> Bool {
            let bytes = try CBOREncoder().encode(ReferenceNode(.inner(level: level, children: children)))
            let fast = (try? Node(decoding: bytes)) == nil
            #expect(fast == ((try? CBORDecoder().decode(ReferenceNode.self, from: bytes)) == nil))
            return fast
        }
        let child = Node.Child(firstPath: .root, id: id, entries: 1, bytes: 0)
        #expect(try !refuses(1, [child]))
        #expect(try refuses(0, [child]))
        #expect(try refuses(256, [child]))
        #expect(try refuses(1, []))
        #expect(try refuses(1, [child, child]))
    }

    @Test("a default value that is written out is refused")
    func defaults() throws {
        // Each is an encoding of a leaf with one entry, `a`, and a superfluous field.
        func leaf(_ fields: String, count: Int) -> [UInt8] { hex("a1 01 81 a\(count) 00 4161 " + fields) }
        #expect(
            try Node(decoding: leaf("", count: 1))
                == .leaf([
                    Entry(
                        path: RelativePath("a"), kind: .file, permissions: 0, modified: Timestamp(seconds: 0))
                ]))
        let superfluous = [
            "0100", "0200", "0300", "0400", "0500", "06 81 00", "0c00", "0e80", "0f01 10 8100", "11f4", "06 82 01 00",
        ]
        for fields in superfluous {
            let count = fields.hasPrefix("0f") ? 3 : 2
            #expect(throws: FormatError.self, "\(fields)") { try Node(decoding: leaf(fields, count: count)) }
        }
        #expect(throws: FormatError.self) { try Node(decoding: hex("a1 01 80")) }
        #expect(throws: FormatError.self) { try Node(decoding: hex("a2 00 00 01 81 a1 00 4161")) }
        // A second entry that repeats the permissions of the first, and one that shares fewer bytes than are equal.
        #expect(throws: FormatError.self) { try Node(decoding: hex("a1 01 82 a2 00 4161 0301 a2 00 4162 0301")) }
        #expect(throws: FormatError.self) { try Node(decoding: hex("a1 01 82 a1 00 4161 a1 00 426162")) }
        #expect(throws: FormatError.self) { try Node(decoding: hex("a1 01 82 a1 00 4161 a2 00 4162 0102")) }
        // A change time without an inode, and two unknown fields; below, an entry with two contents.
        for fields in ["10 8101", "0a01", "1205"] {
            #expect(throws: FormatError.self, "\(fields)") { try Node(decoding: leaf(fields, count: 2)) }
        }
        #expect(throws: FormatError.self) { try Node(decoding: leaf("07 4101 0b 4101", count: 3)) }
    }

    @Test("the entry of a typical file takes at most 45 bytes besides its chunk's id")
    func compactness() throws {
        let entries = (10..<74).map { number in
            let time = Timestamp(seconds: 1_790_000_000 + Int64(number), nanoseconds: 123_456_789)
            return Entry(
                path: RelativePath(unchecked: Array("Documents/letters/2026/letter-\(number).odt".utf8)), kind: .file,
                permissions: 0o644, owner: 1000, group: 1000, modified: time,
                content: .slices([Slice(length: 40_000, chunk: id)]),
                signature: Signature(inode: 12_345_678, changed: time))
        }
        #expect(Node.leaf(entries).encoded().count <= entries.count * (ChunkID.byteCount + 45))
    }
}

@Suite("Rules of snapshots")
struct SnapshotRuleTests {
    private func refuses(_ change: (inout Snapshot) -> Void) throws -> Bool {
        var snapshot = Snapshot(
            time: Timestamp(seconds: 1), rootPath: Array("/a".utf8), host: "h", cause: .watch,
            tree: ChunkID(hashing: []), totals: Totals(), changes: ChangeCounts(), storedBytes: 0)
        change(&snapshot)
        let bytes = try CBOREncoder().encode(snapshot)
        let fast = (try? Snapshot(decoding: bytes)) == nil
        #expect(fast == ((try? CBORDecoder().decode(Snapshot.self, from: bytes)) == nil))
        return fast
    }

    private func path(_ name: String) -> RelativePath { RelativePath(unchecked: Array(name.utf8)) }

    @Test("lists must be within their limits and in walk order")
    func lists() throws {
        #expect(try !refuses { _ in })
        let changed = (100..<133).map { ChangedPath(path: path("\($0)"), change: .added) }
        #expect(try !refuses { $0.changedPaths = Array(changed.dropLast()) })
        #expect(try refuses { $0.changedPaths = changed })
        #expect(try refuses { $0.changedPaths = changed[..<2].reversed() })
        #expect(try refuses { $0.changedPaths = [changed[0], changed[0]] })
        let problems = (100..<165).map { Problem(path: path("\($0)"), reason: .unstable, detail: "") }
        #expect(try !refuses { $0.problems = Array(problems.dropLast()) })
        #expect(try refuses { $0.problems = problems })
        #expect(try refuses { $0.problems = problems[..<2].reversed() })
        #expect(try refuses { $0.problems = [Problem(path: path("../x"), reason: .unstable, detail: "")] })
        #expect(try refuses { $0.time.nanoseconds = 1_000_000_000 })
    }

    @Test("a sequence number is at least 1 and less than 2^62")
    func sequence() throws {
        #expect(try !refuses { $0.sequence = 1 << 62 - 1 })
        #expect(try refuses { $0.sequence = 0 })
        #expect(try refuses { $0.sequence = 1 << 62 })
    }

    @Test("a record's time is in the years 0 to 9999, and its texts have limits")
    func recordLimits() throws {
        #expect(try refuses { $0.time = Timestamp(seconds: -62_167_219_201, nanoseconds: 999_999_999) })
        #expect(try !refuses { $0.time = Timestamp(seconds: -62_167_219_200) })
        #expect(try !refuses { $0.time = Timestamp(seconds: 253_402_300_799, nanoseconds: 999_999_999) })
        #expect(try refuses { $0.time = Timestamp(seconds: 253_402_300_800) })
        #expect(try !refuses { $0.label = String(repeating: "x", count: 4_096) })
        #expect(try refuses { $0.label = String(repeating: "x", count: 4_097) })
        #expect(try refuses { $0.host = String(repeating: "x", count: 1_025) })
        for seconds in [Int64.min, 253_402_300_800] {
            let pin = PinRecord(target: ChunkID(hashing: []), time: Timestamp(seconds: seconds))
            #expect(throws: FormatError.self) { try PinRecord(decoding: pin.encoded()) }
            let until = PinRecord(
                target: ChunkID(hashing: []), time: Timestamp(seconds: 1), until: Timestamp(seconds: seconds))
            #expect(throws: FormatError.self) { try PinRecord(decoding: until.encoded()) }
        }
    }

    @Test("fields of an entry with keys from 64 on are kept, and are no part of its state")
    func laterFields() throws {
        let plain = Entry(path: .root, kind: .directory, permissions: 0o755, modified: Timestamp(seconds: 1))
        let id = ChunkID(hashing: [1])
        let bytes = Node.leaf([plain]).encoded()
        // The entry is the last item: a map of the fields 2, 3 and 6.
        let start = try #require(bytes.firstIndex(of: 0xa3))
        func with(_ fields: [UInt8], count: UInt8) -> [UInt8] {
            bytes[..<start] + [0xa3 + count] + bytes[(start + 1)...] + fields
        }
        let field: [UInt8] = [0x18, 64, 0x82, 1, 0x58, 0x20] + id.bytes
        let node = try Node(decoding: with(field + [0x18, 255, 0xf5], count: 2))
        guard case .leaf(let entries) = node, let entry = entries.first else {
            Issue.record("no leaf")
            return
        }
        #expect(node.encoded() == with(field + [0x18, 255, 0xf5], count: 2))
        #expect(entry.laterReferences == [id] && entry.hasSameState(as: plain) && entry != plain)
        #expect(entry.weight == plain.weight + entry.later.count)
        let nine: [UInt8] = (64..<73).flatMap { [UInt8(0x18), UInt8($0), UInt8(0)] }
        for refused in [
            with([0x18, 63, 0], count: 1), with([0x18, 65, 0, 0x18, 64, 0], count: 2),
            with([0x18, 64, 0xff], count: 1), with([0x19, 1, 0, 0], count: 1), with(nine, count: 9),
        ] {
            #expect(throws: FormatError.self) { try Node(decoding: refused) }
        }
    }

    @Test("a snapshot without its time, root, cause, tree or sequence is refused")
    func required() throws {
        #expect(try Snapshot(decoding: hex("a5" + fields.joined())).cause == .watch)
        for missing in fields.indices {
            var rest = fields
            rest.remove(at: missing)
            #expect(throws: FormatError.self) { try Snapshot(decoding: hex("a4" + rest.joined())) }
        }
        for extra in [
            "10 5000000000000000000000000000000000", "10 4f" + String(repeating: "01", count: 15), "11 f4", "11 f6",
        ] {
            #expect(throws: FormatError.self) { try Snapshot(decoding: hex("a6" + fields.joined() + extra)) }
        }
        let aside = try Snapshot(
            decoding: hex("a7" + fields.joined() + "10 50" + String(repeating: "01", count: 16) + "11 f5"))
        #expect(aside.isAside && aside.machine.hex == String(repeating: "01", count: 16) && aside.sequence == 1)
    }

    /// The encoded fields of the plainest snapshot; its cause is `watch`.
    private let fields = [
        "00 8101", "01 412f", "03 657761746368", "06 5820" + String(repeating: "00", count: 32), "0f 01",
    ]

    @Test("an unknown cause is kept unchanged; anything but 1 to 32 letters and hyphens is refused")
    func causes() throws {
        func cause(_ text: String) throws -> Cause {
            let encoded = Hex.string(CBORValue.text(text).encoded())
            let bytes = hex("a5" + fields.joined().replacing("657761746368", with: encoded))
            let snapshot = try Snapshot(decoding: bytes)
            #expect(snapshot.encoded() == bytes)
            #expect(try CBORDecoder().decode(Snapshot.self, from: bytes) == snapshot)
            return snapshot.cause
        }
        #expect(try cause("audit") == .audit)
        for word in ["a", "on-demand", String(repeating: "z", count: 32)] {
            #expect(try cause(word).rawValue == word)
            #expect(try !Cause.allCases.contains(cause(word)))
        }
        for text in ["", "Watch", "two words", "a1", "\u{1b}[2J", "é", String(repeating: "z", count: 33)] {
            #expect(throws: FormatError.self, "\(text)") { try cause(text) }
            #expect(Cause(rawValue: text) == nil && GapCause(rawValue: text) == nil)
            #expect(OperationKind(rawValue: text) == nil)
        }
    }

    @Test("an unknown kind of change is read as modified, an unknown reason of a problem as unreadable")
    func unknownNumbers() throws {
        func encoded(reason: String) -> [UInt8] {
            let lists = "09 81 a2 00 4161 01 03" + "0a 81 a2 00 4161 01 " + reason
            return hex("a7" + fields[..<4].joined() + lists + fields[4])
        }
        #expect(try Snapshot(decoding: encoded(reason: "02")).problems.map(\.reason) == [.postponed])
        let bytes = encoded(reason: "03")
        let snapshot = try Snapshot(decoding: bytes)
        #expect(snapshot.changedPaths == [ChangedPath(path: path("a"), change: .modified)])
        #expect(snapshot.problems == [Problem(path: path("a"), reason: .unreadable, detail: "")])
        #expect(try CBORDecoder().decode(Snapshot.self, from: bytes) == snapshot)
    }
}
