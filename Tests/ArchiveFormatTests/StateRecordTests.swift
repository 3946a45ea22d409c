// Records of saved states and forgotten records: their bytes, and the values that are refused.

import ArchiveFormat
import FileIO
import TestSupport
import Testing

@Suite("Rules of saved states")
struct StateRecordTests {
    private let id = ChunkID(hashing: [])
    private let fields = ["00 6167", "02 8105", "06 a1 07 4100"]

    @Test("the bytes of a state's record are those of the format document")
    func layout() throws {
        let plain = StateRecord(title: "g", host: "", time: Timestamp(seconds: 5), type: "", content: .inline([0]))
        #expect(plain.encoded() == hex("a3" + fields.joined()))
        let full = StateRecord(
            title: "g", host: "h", time: plain.time, label: "", type: "T", version: 2,
            content: .slices([Slice(length: 100, chunk: id)]), storedBytes: 9)
        let third = StateRecord(
            title: "g", host: "", time: Timestamp(seconds: 5), sequence: 3, type: "", content: .inline([0]))
        #expect(third.encoded() == hex("a4" + fields.joined() + "08 03"))
        let slices = "06 a1 08 81 82 1864 5820" + id.hex
        #expect(full.encoded() == hex("a8 00 6167 01 6168 02 8105 03 60 04 6154 05 02" + slices + "07 09"))
    }

    @Test("a record without title, time or content, or with a default written out, is refused")
    func required() throws {
        #expect(try StateRecord(decoding: hex("a3" + fields.joined())).title == "g")
        for missing in fields.indices {
            var rest = fields
            rest.remove(at: missing)
            #expect(throws: FormatError.self) { try StateRecord(decoding: hex("a2" + rest.joined())) }
        }
        let wrong = [
            "a3 00 60" + fields[1] + fields[2], "a4 00 6167 01 60" + fields[1] + fields[2],
            "a4 00 6167 02 8105 05 01" + fields[2], "a4 00 6167 02 8105 05 00" + fields[2],
            "a4" + fields.joined() + "07 00", "a4" + fields.joined() + "08 00", "a4" + fields.joined() + "08 01",
            "a4" + fields.joined() + "08 1b 4000000000000000", "a3 00 6167 02 8105 06 a0",
            "a3 00 6167 02 8105 06 a1 0b 4100",
            "a3 00 6167 02 8105 06 a1 08 81 81 05",
        ]
        for text in wrong {
            #expect(throws: FormatError.self, "\(text)") { try StateRecord(decoding: hex(text)) }
        }
        for text in wrong.suffix(3) {
            #expect(throws: DecodingError.self, "\(text)") {
                try CBORDecoder().decode(StateRecord.self, from: hex(text))
            }
        }
    }

    @Test("the bytes of forgotten records are those of the format document, and ids out of order are refused")
    func forgotten() throws {
        let (low, high) = (ChunkID(hashing: [1]), ChunkID(hashing: [2]))
        let ids = [low, high].sorted()
        let record = ForgottenRecords(time: Timestamp(seconds: 5), records: [high, low])
        let fields = "00 8105 01 82 5820" + ids[0].hex + "5820" + ids[1].hex
        #expect(record.encoded() == hex("a2" + fields))
        for (number, reason) in [(1, ForgettingReason.policy), (2, .room), (9, ForgettingReason(rawValue: 9))] {
            let record = ForgottenRecords(time: Timestamp(seconds: 5), records: [high, low], reason: reason)
            #expect(record.encoded() == hex("a3" + fields + "02 0\(number)"))
            #expect(try ForgottenRecords(decoding: record.encoded()) == record)
        }
        for text in [
            "a2 00 8105 01 80", "a2 00 8105 01 82 5820" + ids[1].hex + "5820" + ids[0].hex,
            "a2 00 8105 01 82 5820" + ids[0].hex + "5820" + ids[0].hex, "a1 00 8105", "a1 01 81 5820" + ids[0].hex,
            "a3" + fields + "02 00",
        ] {
            #expect(throws: FormatError.self, "\(text)") { try ForgottenRecords(decoding: hex(text)) }
            #expect(throws: DecodingError.self, "\(text)") {
                try CBORDecoder().decode(ForgottenRecords.self, from: hex(text))
            }
        }
    }

    @Test("a record reads back as it was written: states and forgotten records")
    func codable() throws {
        var random = SeededGenerator()
        for _ in 0..<200 {
            let state = random.stateRecord()
            let bytes = state.encoded()
            #expect(try CBOREncoder().encode(state) == bytes, "seed \(random.seed)")
            #expect(try StateRecord(decoding: bytes) == state, "seed \(random.seed)")
            #expect(try CBORDecoder().decode(StateRecord.self, from: bytes) == state, "seed \(random.seed)")
            let forgotten = random.forgottenRecords()
            let listed = forgotten.encoded()
            #expect(try CBOREncoder().encode(forgotten) == listed, "seed \(random.seed)")
            #expect(try ForgottenRecords(decoding: listed) == forgotten, "seed \(random.seed)")
            #expect(try CBORDecoder().decode(ForgottenRecords.self, from: listed) == forgotten, "seed \(random.seed)")
        }
    }

    @Test("unknown fields are skipped")
    func laterFields() throws {
        var random = SeededGenerator()
        for _ in 0..<100 {
            let (state, forgotten) = (random.stateRecord(), random.forgottenRecords())
            let laterState = try extended(state.encoded(), with: 9 + random.number(bits: 20))
            #expect(try StateRecord(decoding: laterState) == state, "seed \(random.seed)")
            #expect(try CBORDecoder().decode(StateRecord.self, from: laterState) == state, "seed \(random.seed)")
            let laterForgotten = try extended(forgotten.encoded(), with: 4 + random.number(bits: 20))
            #expect(try ForgottenRecords(decoding: laterForgotten) == forgotten, "seed \(random.seed)")
        }
    }

    @Test("a record that is cut off is refused, and a damaged one is refused or encodes to the same bytes again")
    func damage() throws {
        var random = SeededGenerator()
        let state = random.stateRecord().encoded()
        for count in 0..<state.count {
            #expect(throws: FormatError.self, "seed \(random.seed)") {
                try StateRecord(decoding: Array(state[..<count]))
            }
        }
        for _ in 0..<2_000 {
            var bytes = random.oneIn(2) ? random.stateRecord().encoded() : random.forgottenRecords().encoded()
            bytes[random.below(bytes.count)] ^= UInt8(1 << random.below(8))
            let item = try? CBORValue(decoding: bytes)
            if let read = try? StateRecord(decoding: bytes) {
                #expect(read.encoded() == item.map { known(0...8, of: $0).encoded() }, "seed \(random.seed)")
            }
            if let read = try? ForgottenRecords(decoding: bytes) {
                #expect(read.encoded() == item.map { known(0...3, of: $0).encoded() }, "seed \(random.seed)")
            }
            _ = try? CBORDecoder().decode(StateRecord.self, from: bytes)
        }
    }

    private func extended(_ bytes: [UInt8], with key: UInt64) throws -> [UInt8] {
        guard case .map(let pairs) = try CBORValue(decoding: bytes) else { return bytes }
        return CBORValue.map(pairs + [(.unsigned(key), .array([.null, .text("later")]))]).encoded()
    }

    private func known(_ keys: ClosedRange<UInt64>, of item: CBORValue) -> CBORValue {
        guard case .map(let pairs) = item else { return item }
        return .map(
            pairs.filter { pair in
                guard case .unsigned(let key) = pair.key else { return false }
                return keys.contains(key)
            })
    }
}

extension SeededGenerator {
    fileprivate mutating func stateRecord() -> StateRecord {
        var content = Content.none
        while content.size == 0 {
            content = self.content(of: .file)
            if case .slices(let slices) = content, slices.contains(where: { $0.chunk == nil }) { content = .none }
        }
        let title = text()
        return StateRecord(
            title: title.isEmpty ? "title" : title, host: text(), time: recordTime(),
            sequence: oneIn(2) ? 1 : 2 + number(bits: 61), label: oneIn(2) ? text() : nil, type: text(),
            version: UInt32(1 + below(3)), content: content, storedBytes: oneIn(2) ? 0 : number() >> 1)
    }

    fileprivate mutating func forgottenRecords() -> ForgottenRecords {
        ForgottenRecords(
            time: recordTime(), records: Set((0...below(4)).map { _ in chunkID() }),
            reason: ForgettingReason(rawValue: UInt64(below(4))))
    }
}
