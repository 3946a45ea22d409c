// Gaps and exclusions, and fields that later programs may add without making a record unreadable to this one.

import ArchiveFormat
import Exclusions
import FileIO
import TestSupport
import Testing

@Suite("Rules of gaps")
struct GapRuleTests {
    private let fields = ["00 412f", "02 686f766572666c6f77", "03 8105", "04 820501"]

    @Test("the bytes of a gap are those of the format document")
    func layout() throws {
        let plain = GapRecord(
            rootPath: [0x2f], host: "", cause: .overflow, start: Timestamp(seconds: 5),
            end: Timestamp(seconds: 5, nanoseconds: 1))
        #expect(plain.encoded() == hex("a4" + fields.joined()))
        let full = GapRecord(
            rootPath: [], host: "h", cause: .polling, start: plain.start, end: plain.start, detail: "")
        #expect(full.encoded() == hex("a6 00 40 01 6168 02 67706f6c6c696e67 03 8105 04 8105 05 60"))
        #expect(
            GapCause.allCases.map(\.rawValue) == ["overflow", "downtime", "suspend", "polling", "unavailable"])
    }

    @Test("a gap without its root, cause, start or end, or with a default written out, is refused")
    func required() throws {
        #expect(try GapRecord(decoding: hex("a4" + fields.joined())).cause == .overflow)
        for missing in fields.indices {
            var rest = fields
            rest.remove(at: missing)
            #expect(throws: FormatError.self) { try GapRecord(decoding: hex("a3" + rest.joined())) }
        }
        #expect(throws: FormatError.self) { try GapRecord(decoding: hex("a5 00 412f 01 60" + fields[1...].joined())) }
        #expect(throws: FormatError.self) { try GapRecord(decoding: hex("a4" + fields.joined() + "00")) }
    }

    @Test("a gap that ends before it starts is refused, and a clock that was set back makes a gap empty")
    func order() throws {
        let (early, late) = (Timestamp(seconds: 5), Timestamp(seconds: 5, nanoseconds: 1))
        let backward = GapRecord(rootPath: [], host: "", cause: .suspend, start: late, end: early)
        #expect(backward.start == late && backward.end == late)
        let bytes = hex("a4" + fields[..<2].joined() + "03 820501 04 8105")
        #expect(throws: FormatError.self) { try GapRecord(decoding: bytes) }
        #expect(throws: DecodingError.self) { try CBORDecoder().decode(GapRecord.self, from: bytes) }
    }

    @Test("an unknown cause of a gap is kept unchanged")
    func unknownCause() throws {
        let bytes = hex("a4" + fields.joined().replacing("686f766572666c6f77", with: "65717569 6574"))
        let gap = try GapRecord(decoding: bytes)
        #expect(gap.cause.rawValue == "quiet")
        #expect(gap.encoded() == bytes)
        #expect(try CBORDecoder().decode(GapRecord.self, from: bytes) == gap)
    }
}

@Suite("Rules of all records")
struct RecordRuleTests {
    /// A gap with one later field: a list of `count` empty lists.
    private func record(_ count: Int) -> [UInt8] {
        let fields = "00 412f 02 686f766572666c6f77 03 8105 04 820501"
        return hex("a5" + fields + "18 63 9a") + withUnsafeBytes(of: UInt32(count).bigEndian, Array.init)
            + [UInt8](repeating: 0x80, count: count)
    }

    @Test("a record of too many items is refused before memory for them is allocated")
    func items() throws {
        // The map, five keys and their values, and the three numbers in the two times.
        let others = 1 + 10 + 3
        #expect(try GapRecord(decoding: record(262_144 - others)).cause == .overflow)
        #expect(throws: FormatError.self) { try GapRecord(decoding: record(262_145 - others)) }
        #expect(throws: FormatError.self) { try GapRecord(decoding: record(16_000_000)) }
    }
}

@Suite("Rules of exclusions")
struct ExclusionRuleTests {
    /// The plainest snapshot with `exclusions` as a field before the last one, the sequence.
    private func snapshot(_ exclusions: String) -> [UInt8] {
        let tree = "06 5820" + String(repeating: "00", count: 32)
        let field = exclusions.isEmpty ? "" : "0e" + exclusions
        return hex((exclusions.isEmpty ? "a5" : "a6") + "00 8101 01 412f 03 657761746368" + tree + field + "0f 01")
    }

    private func rules(_ exclusions: String) throws -> ExclusionRules {
        let bytes = snapshot(exclusions)
        let snapshot = try Snapshot(decoding: bytes)
        #expect(snapshot.encoded() == bytes)
        #expect(try CBORDecoder().decode(Snapshot.self, from: bytes) == snapshot)
        return snapshot.exclusions
    }

    @Test("missing exclusions, and missing fields of exclusions, have the default values")
    func defaults() throws {
        #expect(try rules("") == ExclusionRules())
        #expect(try rules("a1 00 81 412a") == ExclusionRules(patterns: [[0x2a]]))
        #expect(try rules("a1 01 80") == ExclusionRules(ignoreFileNames: []))
        #expect(try rules("a1 02 00") == ExclusionRules(largerThan: 0))
        #expect(try rules("a2 03 f5 04 f5") == ExclusionRules(excludesCaches: true, crossesMounts: true))
    }

    @Test("a default value of exclusions that is written out is refused")
    func superfluous() {
        let usualName = "01 81 4f" + Hex.string(ExclusionRules.ignoreFileName)
        for fields in ["a0", "a1 00 80", "a1" + usualName, "a1 03 f4", "a1 04 f4", "a2 02 05 03 f4"] {
            #expect(throws: FormatError.self, "\(fields)") { try Snapshot(decoding: snapshot(fields)) }
        }
    }

    @Test("the name of an ignore file is a single path component", arguments: ["", ".", "..", "a/b", "/", "a\u{0}"])
    func names(name: String) throws {
        let encoded = Hex.string(CBORValue.bytes(Array(name.utf8)).encoded())
        let bytes = snapshot("a1 01 81" + encoded)
        #expect(throws: FormatError.self) { try Snapshot(decoding: bytes) }
        #expect(throws: DecodingError.self) { try CBORDecoder().decode(Snapshot.self, from: bytes) }
        #expect(try rules("a1 01 81 4161").ignoreFileNames == [[0x61]])
    }
}

@Suite("Additions by later programs")
struct LaterAdditionTests {
    private func item(_ bytes: [UInt8]) throws -> CBORValue {
        try bytes.withUnsafeBytes { try CBORValue(decoding: $0) }
    }

    /// Some fields with keys that start at `first`.
    private func newFields(from first: UInt64, using random: inout SeededGenerator) -> [(CBORValue, CBORValue)] {
        let keys = Set((0..<(1 + random.below(3))).map { _ in max(first, random.number()) })
        return keys.map { key in
            let nested = CBORValue.map([(.text(random.text()), .array([.null, .float(0.5), .boolean(true)]))])
            return (.unsigned(key), random.oneIn(2) ? nested : .bytes(random.bytes(0, 9)))
        }
    }

    /// The map `item`, with added fields that version 1 does not know, also in the maps in its fields.
    private func extended(
        _ item: CBORValue, from first: UInt64, inner: [UInt64: UInt64] = [:], using random: inout SeededGenerator
    ) -> CBORValue {
        guard case .map(let pairs) = item else { return item }
        var fields: [(key: CBORValue, value: CBORValue)] = pairs.map { pair in
            guard case .unsigned(let key) = pair.key, let first = inner[key] else { return pair }
            switch pair.value {
            case .array(let items): return (pair.key, .array(items.map { extended($0, from: first, using: &random) }))
            default: return (pair.key, extended(pair.value, from: first, using: &random))
            }
        }
        fields += newFields(from: first, using: &random).map { (key: $0.0, value: $0.1) }
        return .map(fields)
    }

    @Test("unknown fields of a snapshot are skipped in all its maps")
    func snapshots() throws {
        var random = SeededGenerator()
        for _ in 0..<200 {
            let snapshot = random.snapshot()
            let later = extended(
                try item(snapshot.encoded()), from: 19, inner: [7: 4, 8: 3, 9: 2, 10: 3, 14: 5], using: &random
            ).encoded()
            #expect(later != snapshot.encoded())
            #expect(try Snapshot(decoding: later) == snapshot, "seed \(random.seed)")
            #expect(try CBORDecoder().decode(Snapshot.self, from: later) == snapshot, "seed \(random.seed)")
            #expect(KnownFields.snapshot(try item(later)).encoded() == snapshot.encoded(), "seed \(random.seed)")
        }
    }

    @Test("a map in a snapshot with only unknown fields is skipped")
    func parts() throws {
        let snapshot = Snapshot(
            time: Timestamp(seconds: 1), rootPath: [0x2f], host: "", cause: .watch, tree: ChunkID(hashing: []),
            totals: Totals(), changes: ChangeCounts(), storedBytes: 0)
        guard case .map(let pairs) = try item(snapshot.encoded()) else { return }
        for key: UInt64 in [7, 8, 14] {
            let part = CBORValue.map([(.unsigned(20), .null)])
            // The last field is the sequence, which comes after all of these.
            let later = CBORValue.map(pairs.dropLast() + [(.unsigned(key), part)] + pairs.suffix(1)).encoded()
            #expect(try Snapshot(decoding: later) == snapshot)
            #expect(try CBORDecoder().decode(Snapshot.self, from: later) == snapshot)
        }
    }

    @Test("unknown fields of a gap are skipped")
    func gaps() throws {
        var random = SeededGenerator()
        for _ in 0..<200 {
            let gap = random.gap()
            let later = extended(try item(gap.encoded()), from: 7, using: &random).encoded()
            #expect(try GapRecord(decoding: later) == gap, "seed \(random.seed)")
            #expect(try CBORDecoder().decode(GapRecord.self, from: later) == gap, "seed \(random.seed)")
        }
    }

    @Test("unknown fields of an operation are skipped")
    func operations() throws {
        var random = SeededGenerator()
        for _ in 0..<200 {
            let operation = random.operation()
            let later = extended(try item(operation.encoded()), from: 14, using: &random).encoded()
            #expect(try OperationRecord(decoding: later) == operation, "seed \(random.seed)")
            #expect(try CBORDecoder().decode(OperationRecord.self, from: later) == operation, "seed \(random.seed)")
        }
    }

    @Test("skipped fields must still be deterministic CBOR and not nested too deeply")
    func strictness() {
        let gap = "00 412f 02 686f766572666c6f77 03 8105 04 8105"
        func isRead(_ field: String) -> Bool {
            let bytes = hex("a5" + gap + field)
            let fast = (try? GapRecord(decoding: bytes)) != nil
            #expect(fast == ((try? CBORDecoder().decode(GapRecord.self, from: bytes)) != nil))
            return fast
        }
        #expect(isRead("07 00"))
        // Not the shortest form, indefinite, a tag, keys out of order, missing bytes, a repeated key.
        for field in ["07 1800", "07 9fff", "07 c100", "07 a2 0100 0000", "07 4261", "04 8105"] {
            #expect(!isRead(field), "\(field)")
        }
        #expect(throws: FormatError.self, "a key that is a text") {
            try GapRecord(decoding: hex("a5" + gap + "6161 00"))
        }
        #expect(isRead("07" + String(repeating: "81", count: 127) + "00"))
        #expect(!isRead("07" + String(repeating: "81", count: 128) + "00"))
    }

    @Test("a node with an unknown field is refused, because the field could change the tree's meaning")
    func nodes() throws {
        var random = SeededGenerator()
        for _ in 0..<20 {
            let node = extended(try item(random.node().encoded()), from: 3, using: &random).encoded()
            #expect(throws: FormatError.self, "seed \(random.seed)") { try Node(decoding: node) }
        }
    }
}
