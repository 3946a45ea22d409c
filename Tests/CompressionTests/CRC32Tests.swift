// CRC-32 against published check values.

import Compression
import Testing

@Suite struct CRC32Tests {
    /// Check values of "CRC-32/ISO-HDLC", as any zip program computes them.
    @Test(
        "the CRC-32 of a text is the published one",
        arguments: [
            ("", 0), ("a", 0xE8B7_BE43), ("abc", 0x3524_41C2), ("123456789", 0xCBF4_3926),
            ("The quick brown fox jumps over the lazy dog", 0x414F_A339),
        ] as [(String, UInt32)])
    func publishedVectors(text: String, expected: UInt32) {
        #expect(Array(text.utf8).withUnsafeBytes { crc32($0) } == expected)
    }

    @Test("a CRC-32 computed in two parts equals that of the whole run")
    func continuing() {
        let bytes = Array("123456789".utf8)
        for cut in 0...bytes.count {
            let first = bytes[..<cut].withUnsafeBytes { crc32($0) }
            #expect(bytes[cut...].withUnsafeBytes { crc32($0, continuing: first) } == 0xCBF4_3926)
        }
        #expect(crc32(UnsafeRawBufferPointer(start: nil, count: 0), continuing: 7) == 7)
    }
}
