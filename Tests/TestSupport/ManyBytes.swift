// Millions of equal or numbered items as bytes: made in this module, which is optimised.

extension [UInt8] {
    /// `item`, `count` times.
    package init(repeating item: [UInt8], times count: Int) {
        self.init(unsafeUninitializedCapacity: item.count * count) { bytes, initialized in
            for start in stride(from: 0, to: item.count * count, by: item.count) {
                for (offset, byte) in item.enumerated() { bytes[start + offset] = byte }
            }
            initialized = item.count * count
        }
    }

    /// `count` pairs of a CBOR number (RFC 8949) from `first` on, at least 65,536, and `value`.
    package init(numbering value: [UInt8], times count: Int, from first: UInt32) {
        self.init()
        reserveCapacity(count * (5 + value.count))
        for number in first..<first + UInt32(count) {
            append(0x1a)
            for shift in [24, 16, 8, 0] as [UInt32] { append(UInt8(truncatingIfNeeded: number >> shift)) }
            append(contentsOf: value)
        }
    }

    /// `first`, and these bytes without the last one.
    package func shifted(behind first: UInt8) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
            withUnsafeBufferPointer { own in
                bytes[0] = first
                for index in 1..<own.count { bytes[index] = own[index - 1] }
            }
            initialized = count
        }
    }
}
