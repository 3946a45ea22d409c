// The bytes of notices of roots, the notices that are refused, and the ids of machines.

import ArchiveFormat
import FileIO
import Testing

@Suite("Rules of notices of roots")
struct RootNoticeTests {
    private let fields = ["00 412f", "02 677265746972 6564", "03 8105"]

    @Test("the bytes of a notice are those of the format document")
    func layout() throws {
        let plain = RootNotice(
            rootPath: [0x2f], host: "", kind: .retired, time: Timestamp(seconds: 5), machine: .unknown)
        #expect(plain.encoded() == hex("a3" + fields.joined()))
        let digits = String(repeating: "ab", count: 16)
        let machine = try #require(MachineID(hex(digits)))
        let full = RootNotice(
            rootPath: [], host: "h", kind: .moved, time: plain.time, machine: machine, newPath: [0x2f],
            newMachine: machine)
        #expect(full.encoded() == hex("a7 00 40 01 6168 02 656d6f766564 03 8105 04 50\(digits) 05 412f 06 50\(digits)"))
        #expect(RootNoticeKind.allCases.map(\.rawValue) == ["moved", "retired"])
    }

    @Test("a notice with a missing root, kind, time or new path, or with a default written out, is refused")
    func required() throws {
        #expect(try RootNotice(decoding: hex("a3" + fields.joined())).kind == .retired)
        for missing in fields.indices {
            var rest = fields
            rest.remove(at: missing)
            #expect(throws: FormatError.self) { try RootNotice(decoding: hex("a2" + rest.joined())) }
        }
        let zeros = "50" + String(repeating: "00", count: 16)
        for extra in ["04 " + zeros, "06 " + zeros, "04 40", "05 00"] {
            #expect(throws: FormatError.self) { try RootNotice(decoding: hex("a4" + fields.joined() + extra)) }
        }
        #expect(throws: FormatError.self) { try RootNotice(decoding: hex("a3 00 412f 02 656d6f766564 03 8105")) }
    }

    @Test("a machine's id is derived from its secret and does not reveal it")
    func machine() {
        let digits = "0123456789abcdef0123456789abcdef"
        let id = MachineID(deriving: Array(digits.utf8))
        #expect(id == MachineID(deriving: Array(digits.utf8)) && id != .unknown)
        #expect(id.hex == String(ChunkID(hashing: Array("archiver machine\0\(digits)".utf8)).hex.prefix(32)))
        #expect(MachineID([1, 2]) == nil && MachineID(id.bytes) == id)
    }
}
