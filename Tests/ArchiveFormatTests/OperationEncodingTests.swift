// The bytes of operations, and the operations that are refused.

import ArchiveFormat
import FileIO
import Testing

@Suite("Rules of operations")
struct OperationRuleTests {
    private let fields = ["00 412f", "02 67726573746f7265", "03 8105"]
    private let id = "5820" + String(repeating: "ab", count: 32)

    @Test("the bytes of an operation are those of the format document")
    func layout() throws {
        let plain = OperationRecord(rootPath: [0x2f], host: "", kind: .restore, time: Timestamp(seconds: 5))
        #expect(plain.encoded() == hex("a3" + fields.joined()))
        let chunk = try #require(ChunkID(hex: String(repeating: "ab", count: 32)))
        let full = OperationRecord(
            rootPath: [], host: "h", kind: .redo, time: plain.time, before: SnapshotID(chunk),
            snapshot: SnapshotID(chunk), path: RelativePath(unchecked: [0x61]), target: OperationID(chunk))
        let bytes = "a8 00 40 01 6168 02 647265646f 03 8105 04 \(id) 05 \(id) 06 4161 07 \(id)"
        #expect(full.encoded() == hex(bytes))
        #expect(OperationKind.allCases.map(\.rawValue) == ["restore", "undo", "redo", "run", "mark", "completion"])
    }

    @Test("an operation without its root, kind or time, or with a default written out, is refused")
    func required() throws {
        #expect(try OperationRecord(decoding: hex("a3" + fields.joined())).kind == .restore)
        for missing in fields.indices {
            var rest = fields
            rest.remove(at: missing)
            #expect(throws: FormatError.self) { try OperationRecord(decoding: hex("a2" + rest.joined())) }
        }
        for extra in ["06 40", "06 422f61", "04 40", "07 4100"] {
            #expect(throws: FormatError.self) { try OperationRecord(decoding: hex("a4" + fields.joined() + extra)) }
        }
        #expect(throws: FormatError.self) {
            try OperationRecord(decoding: hex("a4 00 412f 01 60" + fields[1...].joined()))
        }
        #expect(throws: FormatError.self) { try OperationRecord(decoding: hex("a3" + fields.joined() + "00")) }
    }

    @Test(
        "an undo, a redo or a completion must name its target",
        arguments: ["64756e646f", "647265646f", "6a636f6d706c6574696f6e"])
    func target(kind: String) throws {
        let start = " 00 412f 02 \(kind) 03 8105"
        #expect(throws: FormatError.self) { try OperationRecord(decoding: hex("a3" + start)) }
        #expect(throws: DecodingError.self) { try CBORDecoder().decode(OperationRecord.self, from: hex("a3" + start)) }
        let named = try OperationRecord(decoding: hex("a4" + start + "07" + id))
        #expect(named.target?.hex == String(repeating: "ab", count: 32))
    }

    @Test("a mark must name a snapshot and may have a name")
    func mark() throws {
        let start = " 00 412f 02 646d61726b 03 8105"
        #expect(throws: FormatError.self) { try OperationRecord(decoding: hex("a3" + start)) }
        let bytes = hex("a5" + start + "04" + id + "09 6161")
        let mark = try OperationRecord(decoding: bytes)
        #expect(mark.kind == .mark && mark.name == "a" && mark.before?.hex == String(repeating: "ab", count: 32))
        #expect(mark.encoded() == bytes)
    }

    @Test("an operation of several parts names each, in order, below its path")
    func parts() throws {
        let start = " 00 412f 02 67726573746f7265 03 8105"
        let bytes = hex("a6" + start + "0a 82 4161 4162 0b 02 0c f5")
        let operation = try OperationRecord(decoding: bytes)
        #expect(operation.allParts.map(\.description) == ["a", "b"])
        #expect(operation.failed == 2 && operation.leavesRepositories && operation.encoded() == bytes)
        // One part, none, in the wrong order, one below another, and one that is not below the path.
        for wrong in ["0a 81 4161", "0a 80", "0a 82 4162 4161", "0a 82 4161 43612f62", "06 4163 0a 82 4161 4162"] {
            let count = wrong.hasPrefix("06") ? "a5" : "a4"
            #expect(throws: FormatError.self) { try OperationRecord(decoding: hex(count + start + wrong)) }
        }
    }

    @Test("an unknown kind of operation is kept unchanged")
    func unknownKind() throws {
        let bytes = hex("a3 00 412f 02 65717569 6574 03 8105")
        let operation = try OperationRecord(decoding: bytes)
        #expect(operation.kind.rawValue == "quiet")
        #expect(operation.encoded() == bytes)
        #expect(try CBORDecoder().decode(OperationRecord.self, from: bytes) == operation)
    }
}
