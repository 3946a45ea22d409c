// The bytes of records of dropped segments, and the records that are refused.

import ArchiveFormat
import FileIO
import Testing

@Suite("Rules of dropped segments")
struct DroppedSegmentsTests {
    private let first = "50" + String(repeating: "11", count: 16)
    private let second = "50" + String(repeating: "22", count: 16)

    @Test("the bytes of dropped segments are those of the format document")
    func layout() throws {
        let ids = try ["11", "22"].map { try #require(SegmentID(hex: String(repeating: $0, count: 16))) }
        let record = DroppedSegments(time: Timestamp(seconds: 5), segments: Set(ids))
        #expect(record.encoded() == hex("a2 00 8105 01 82" + first + second))
        #expect(try DroppedSegments(decoding: record.encoded()) == record)
        #expect(DroppedSegments.kind.rawValue == 9)
    }

    @Test("a record of dropped segments without time or segments, out of order, or in another encoding is refused")
    func refused() {
        for bytes in [
            "a1 00 8105", "a1 01 81" + first, "a2 00 8105 01 80", "a2 00 8105 01 82" + second + first,
            "a2 00 8105 01 82" + first + first, "a2 00 820500 01 81" + first, "a2 00 8105 01 81 41 11",
            "a3 00 8105 01 81" + first + "60 00", "81 05",
        ] {
            #expect(throws: FormatError.self, "\(bytes)") { try DroppedSegments(decoding: hex(bytes)) }
        }
    }

    @Test("later fields of dropped segments are skipped")
    func later() throws {
        let plain = try DroppedSegments(decoding: hex("a2 00 8105 01 81" + first))
        #expect(try DroppedSegments(decoding: hex("a4 00 8105 01 81" + first + "02 6161 1863 a0")) == plain)
    }
}
