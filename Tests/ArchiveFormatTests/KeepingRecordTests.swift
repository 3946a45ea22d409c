// Labels, pins, notes, policies, unforgotten records and deletions: their bytes, and the values that are refused.

import FileIO
import TestSupport
import Testing

@testable import ArchiveFormat

@Suite("Rules of labels, pins, notes and policies")
struct KeepingRecordTests {
    private static let id = "5820" + String(repeating: "11", count: 32)
    private static let target = [UInt8](repeating: 0x11, count: 32).withUnsafeBytes { ChunkID(exactly: $0) }
    private static let time = Timestamp(seconds: 5)

    private func quick<Record: ArchiveRecord>(_ bytes: [UInt8], as type: Record.Type) -> Record? {
        bytes.withUnsafeBytes { bytes in
            var reader = CBORReader(bytes)
            guard let record = try? Record.read(quickly: &reader), (try? reader.finish()) != nil else { return nil }
            return record
        }
    }

    /// Expects that the quick reading of bytes reads what any other reading does, if it reads them.
    private func expectAgreement<Record: ArchiveRecord>(_ bytes: [UInt8], as type: Record.Type, _ seed: UInt64) {
        guard let record = quick(bytes, as: Record.self) else { return }
        #expect((try? Record(decodingAny: bytes)) == record, "seed \(seed): \(bytes)")
    }

    @Test("labels and gaps are read quickly, and exactly as by any other reading, also from damaged bytes")
    func quickly() throws {
        var random = SeededGenerator("quick reading")
        for _ in 0..<500 {
            let gap = random.gap()
            let label = LabelRecord(
                target: random.chunkID(), time: random.recordTime(), label: random.oneIn(3) ? nil : "a" + random.text(),
                sequence: random.oneIn(2) ? 1 : 1 + UInt64(random.below(1 << 40)))
            #expect(quick(gap.encoded(), as: GapRecord.self) == gap, "seed \(random.seed)")
            #expect(quick(label.encoded(), as: LabelRecord.self) == label, "seed \(random.seed)")
            for _ in 0..<20 {
                expectAgreement(damaged(gap.encoded(), using: &random), as: GapRecord.self, random.seed)
                expectAgreement(damaged(label.encoded(), using: &random), as: LabelRecord.self, random.seed)
            }
        }
    }

    @Test("the bytes of each record are those of the format document")
    func layout() throws {
        let (id, target, time) = (Self.id, Self.target, Self.time)
        #expect(
            LabelRecord(target: target, time: time, label: "a").encoded() == hex("a3 00" + id + "01 8105 02 6161"))
        #expect(LabelRecord(target: target, time: time, label: nil).encoded() == hex("a2 00" + id + "01 8105"))
        #expect(PinRecord(target: target, time: time).encoded() == hex("a2 00" + id + "01 8105"))
        #expect(
            PinRecord(target: target, time: time, until: Timestamp(seconds: 6), reason: "a").encoded()
                == hex("a4 00" + id + "01 8105 02 8106 03 6161"))
        #expect(PinRecord(removedFrom: target, time: time).encoded() == hex("a3 00" + id + "01 8105 04 f5"))
        #expect(
            NoteRecord(rootPath: [0x2f], host: "", time: time, text: "a").encoded() == hex("a3 00 412f 02 8105 03 6161")
        )
        #expect(
            NoteRecord(rootPath: [0x2f], host: "h", time: time, text: "a", snapshot: SnapshotID(target)).encoded()
                == hex("a5 00 412f 01 6168 02 8105 03 6161 04" + id))
        #expect(
            NoteRecord(removing: target, rootPath: [0x2f], time: time, machine: .unknown).encoded()
                == hex("a3 00 412f 02 8105 06" + id))
        #expect(
            PolicyRecord(time: time, tiers: [.init(width: 60, age: 3600), .init(width: 86_400, age: nil)]).encoded()
                == hex("a2 03 8105 04 82 82 183c 190e10 81 1a00015180"))
        #expect(PolicyRecord(time: time).encoded() == hex("a1 03 8105"))
        #expect(
            PolicyRecord(rootPath: [0x2f], host: "h", time: time, isRemoved: true).encoded()
                == hex("a4 00 412f 01 6168 03 8105 08 f5"))
        #expect(
            PolicyRecord(time: time, maxSize: 1, minFreeBytes: 0, minFreePercent: 100).encoded()
                == hex("a4 03 8105 05 01 06 00 07 1864"))
        #expect(UnforgottenRecords(time: time, records: [target]).encoded() == hex("a2 00 8105 01 81" + id))
        // With sequences.
        #expect(
            LabelRecord(target: target, time: time, label: "a", sequence: 2).encoded()
                == hex("a4 00" + id + "01 8105 02 6161 03 02"))
        #expect(PinRecord(target: target, time: time, sequence: 2).encoded() == hex("a3 00" + id + "01 8105 05 02"))
        #expect(PolicyRecord(time: time, sequence: 2).encoded() == hex("a2 03 8105 09 02"))
        #expect(
            ForgottenRecords(time: time, records: [target], sequence: 2).encoded()
                == hex("a3 00 8105 01 81" + id + "03 02"))
        #expect(
            UnforgottenRecords(time: time, records: [target], sequence: 2).encoded()
                == hex("a3 00 8105 01 81" + id + "02 02"))
        #expect(
            OperationRecord(rootPath: [0x2f], host: "", kind: .restore, time: time, sequence: 2).encoded()
                == hex("a4 00 412f 02 67726573746f7265 03 8105 0d 02"))
        #expect(
            DeletionRecord.splitting([SnapshotID(target): 3600], at: time).map { $0.encoded() }
                == [hex("a3 00 8105 01 81" + id + "02 81 190e10")])
        let kinds = [
            LabelRecord.kind, PinRecord.kind, NoteRecord.kind, PolicyRecord.kind, UnforgottenRecords.kind,
            DeletionRecord.kind,
        ]
        #expect(kinds.map(\.rawValue) == [10, 11, 12, 13, 14, 15])
    }

    @Test("a record that breaks a rule is refused")
    func refused() {
        let id = Self.id
        let long = "7a00001001" + String(repeating: "61", count: 4097)
        for text in [
            "a1 00" + id, "a1 01 8105", "a3 00" + id + "01 8105 02 60", "a3 00" + id + "01 8105 02" + long,
            "a3 00" + id + "01 820500 02 6161", "a3 00" + id + "01 8105 02 f6", "80",
        ] {
            #expect(throws: FormatError.self, "\(text.prefix(90))") { try LabelRecord(decoding: hex(text)) }
        }
        // A sequence of 0, of 1 written out, and of 2^62.
        for number in ["00", "01", "1b4000000000000000"] {
            #expect(throws: FormatError.self) { try LabelRecord(decoding: hex("a3 00" + id + "01 8105 03" + number)) }
            #expect(throws: FormatError.self) { try PinRecord(decoding: hex("a3 00" + id + "01 8105 05" + number)) }
            #expect(throws: FormatError.self) { try PolicyRecord(decoding: hex("a2 03 8105 09" + number)) }
            #expect(throws: FormatError.self) {
                try ForgottenRecords(decoding: hex("a3 00 8105 01 81" + id + "03" + number))
            }
            #expect(throws: FormatError.self) {
                try UnforgottenRecords(decoding: hex("a3 00 8105 01 81" + id + "02" + number))
            }
            #expect(throws: FormatError.self) {
                try OperationRecord(decoding: hex("a4 00 412f 02 67726573746f7265 03 8105 0d" + number))
            }
        }
        for text in [
            "a1 00" + id, "a3 00" + id + "01 8105 04 f4", "a4 00" + id + "01 8105 02 8106 04 f5",
            "a4 00" + id + "01 8105 03 6161 04 f5", "a3 00" + id + "01 8105 03 60", "a3 00" + id + "01 8105 04 01",
        ] {
            #expect(throws: FormatError.self, "\(text.prefix(90))") { try PinRecord(decoding: hex(text)) }
        }
        for text in [
            "a2 00 412f 02 8105", "a3 00 412f 02 8105 03 60", "a4 00 412f 01 60 02 8105 03 6161",
            "a3 00 612f 02 8105 03 6161", "a4 00 412f 02 8105 03 6161 06" + id,
        ] {
            #expect(throws: FormatError.self, "\(text)") { try NoteRecord(decoding: hex(text)) }
        }
        for text in ["a2 00 8105 01 80", "a2 00 8105 01 82" + id + id, "a1 00 8105"] {
            #expect(throws: FormatError.self, "\(text.prefix(40))") { try UnforgottenRecords(decoding: hex(text)) }
        }
        for text in [
            "a3 00 8105 01 80 02 80", "a3 00 8105 01 81" + id + "02 80", "a2 00 8105 01 81" + id,
            "a3 00 8105 01 82" + id + id + "02 82 01 02",
        ] {
            #expect(throws: FormatError.self, "\(text.prefix(40))") { try DeletionRecord(decoding: hex(text)) }
        }
        let segment = "50" + String(repeating: "11", count: 16)
        for text in [
            "a2 00 8105 01 80", "a1 00 8105", "a1 01 81" + segment, "a2 00 8105 01 82" + segment + segment,
            "a3 00 8105 01 81" + segment + "02 60", "a3 00 8105 01 81" + segment + "02 4161",
            "a2 00 8105 01 81" + id, "a2 00 82" + "05 00" + "01 81" + segment,
        ] {
            #expect(throws: FormatError.self, "\(text.prefix(40))") { try LostSegments(decoding: hex(text)) }
        }
    }

    @Test("an invalid policy is refused")
    func policies() {
        for text in [
            // No time; empty tiers written out; a tier with age 0; one with three numbers; one after an unlimited tier.
            "a0", "a2 03 8105 04 80", "a2 03 8105 04 81 82 183c 00", "a2 03 8105 04 81 83 00 01 02",
            "a2 03 8105 04 82 81 00 81 183c",
            // Widths that do not ascend or do not nest; ages that do not ascend.
            "a2 03 8105 04 82 82 183c 01 82 183c 02", "a2 03 8105 04 82 82 183c 01 82 185a 02",
            "a2 03 8105 04 82 82 00 02 82 183c 02", "a2 03 8105 04 82 82 00 03 82 183c 02",
            // A size limit for one root; a size limit of 0; more than 100 percent; a removed policy with other fields.
            "a3 00 412f 03 8105 05 01", "a2 03 8105 05 00", "a2 03 8105 07 1865", "a3 03 8105 05 01 08 f5",
            "a3 03 8105 04 81 81 00 08 f5", "a2 03 8105 08 f4", "a2 01 6168 03 8105",
            // More than 2^63 - 1 bytes, or 2^48 seconds.
            "a2 03 8105 05 1b8000000000000000", "a2 03 8105 04 81 81 1b0001000000000001",
            "a2 03 8105 04 91" + (0..<17).map { "82" + Hex.string([UInt8($0 == 0 ? 0 : 1)]) + "01" }.joined(),
        ] {
            #expect(throws: FormatError.self, "\(text)") { try PolicyRecord(decoding: hex(text)) }
        }
    }

    @Test(
        "a record reads back as it was written: labels, pins, notes, policies, unforgotten records, deletions, lost segments"
    )
    func codable() throws {
        var random = SeededGenerator()
        for _ in 0..<200 {
            try check(LabelRecord(target: random.chunkID(), time: random.recordTime(), label: random.words()), &random)
            try check(PinRecord(removedFrom: random.chunkID(), time: random.recordTime()), &random)
            try check(
                PinRecord(
                    target: random.chunkID(), time: random.recordTime(),
                    until: random.oneIn(2) ? random.recordTime() : nil, reason: random.words()), &random)
            try check(
                NoteRecord(
                    rootPath: random.bytes(0, 20), host: random.text(), time: random.recordTime(),
                    text: random.words() ?? "text", snapshot: random.oneIn(2) ? SnapshotID(random.chunkID()) : nil,
                    machine: random.machine()), &random)
            try check(
                UnforgottenRecords(
                    time: random.recordTime(), records: Set((0...random.below(4)).map { _ in random.chunkID() })),
                &random)
            let lifetimes = (0...random.below(4)).map { _ in (SnapshotID(random.chunkID()), random.number(bits: 40)) }
            for record in DeletionRecord.splitting(
                Dictionary(lifetimes) { first, _ in first }, at: random.recordTime())
            { try check(record, &random) }
            try check(random.policy(), &random)
            let segments = Set((0...random.below(4)).map { _ in SegmentID.random() })
            try check(LostSegments(time: random.recordTime(), segments: segments, reason: random.words()), &random)
        }
    }

    private func check<Record: ArchiveRecord>(_ record: Record, _ random: inout SeededGenerator) throws {
        let bytes = record.encoded()
        #expect(try Record(decoding: bytes) == record, "seed \(random.seed)")
        guard case .map(let pairs) = try CBORValue(decoding: bytes) else { return }
        let later = CBORValue.map(pairs + [(.unsigned(10 + random.number(bits: 20)), .array([.null]))]).encoded()
        #expect(try Record(decoding: later) == record, "seed \(random.seed)")
        for count in 0..<bytes.count {
            #expect(throws: FormatError.self, "seed \(random.seed)") { try Record(decoding: Array(bytes[..<count])) }
        }
        var damaged = bytes
        damaged[random.below(bytes.count)] ^= UInt8(1 << random.below(8))
        if let read = try? Record(decoding: damaged) {
            #expect(try Record(decoding: read.encoded()) == read, "seed \(random.seed)")
        }
    }
}

extension SeededGenerator {
    fileprivate mutating func words() -> String? {
        let text = self.text()
        return text.isEmpty ? nil : text
    }

    fileprivate mutating func policy() -> PolicyRecord {
        var tiers: [PolicyRecord.Tier] = []
        var (width, age): (UInt64, UInt64) = (0, 0)
        for _ in 0..<below(4) {
            age += 1 + number(bits: 20)
            tiers.append(PolicyRecord.Tier(width: width, age: age))
            width = width == 0 ? 1 + number(bits: 10) : width * UInt64(2 + below(5))
        }
        if oneIn(2) { tiers.append(PolicyRecord.Tier(width: width, age: nil)) }
        let isOfRoot = oneIn(2)
        return PolicyRecord(
            rootPath: isOfRoot ? bytes(0, 20) : nil, host: isOfRoot ? text() : "",
            machine: isOfRoot ? machine() : .unknown, time: recordTime(), tiers: tiers,
            maxSize: isOfRoot || oneIn(2) ? nil : 1 + number(bits: 40),
            minFreeBytes: isOfRoot || oneIn(2) ? nil : number(bits: 40),
            minFreePercent: isOfRoot || oneIn(2) ? nil : UInt64(below(101)))
    }
}
