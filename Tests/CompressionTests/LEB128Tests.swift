// Variable-length numbers: each has one form, which reads back as the same number.

import Compression
import TestSupport
import Testing

@Suite struct LEB128Tests {
    private func bytes(_ number: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        LEB128.append(number, to: &bytes)
        return bytes
    }

    private func number(_ bytes: [UInt8], at position: Int = 0) -> (value: Int, end: Int)? {
        bytes.withUnsafeBytes { LEB128.number(in: $0, at: position) }
    }

    @Test("a number reads back as it was written")
    func roundTrip() throws {
        for exponent in 0..<35 {
            for number in [1 << exponent - 1, 1 << exponent, 1 << exponent + 1] where number < 1 << 35 {
                let bytes = bytes(number)
                #expect(bytes.count == LEB128.byteCount(of: number))
                let found = try #require(self.number([9] + bytes + [9], at: 1))
                #expect(found.value == number && found.end == 1 + bytes.count)
            }
        }
        #expect(bytes(0) == [0] && bytes(127) == [0x7f] && bytes(128) == [0x80, 1])
        #expect(bytes(624_485) == [0xe5, 0x8e, 0x26])
    }

    @Test("a number that is cut off, too long or not in its shortest form is refused")
    func refused() {
        for bytes in [[], [0x80], [0x80, 0], [0xff, 0xff, 0xff, 0xff, 0xff, 1], [0x81, 0x80, 0]] as [[UInt8]] {
            #expect(number(bytes) == nil, "\(bytes)")
        }
    }
}
