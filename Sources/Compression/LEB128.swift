// Variable-length numbers.

/// Unsigned LEB128 (DWARF 5, 7.6): seven bits in each byte, the least significant first.
///
/// All bytes except the last have the highest bit set.
package enum LEB128 {
    /// Appends `number`, which must not be negative.
    package static func append(_ number: Int, to bytes: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// The encoded length in bytes of `number`, which must not be negative.
    package static func byteCount(of number: Int) -> Int {
        max(1, (Int.bitWidth - number.leadingZeroBitCount + 6) / 7)
    }

    /// Reads the number at `position`.
    ///
    /// - Returns: the number and the position after it; nil if it has more than five bytes, is not in its shortest
    ///   form, or is cut off.
    package static func number(in bytes: UnsafeRawBufferPointer, at position: Int) -> (value: Int, end: Int)? {
        var value = 0
        for (index, byte) in bytes[position...].prefix(5).enumerated() {
            value |= Int(byte & 0x7f) << (7 * index)
            if byte < 0x80 { return byte == 0 && index > 0 ? nil : (value, position + index + 1) }
        }
        return nil
    }
}
