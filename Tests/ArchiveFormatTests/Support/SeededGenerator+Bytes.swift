// Random bytes and numbers of all sizes.

import TestSupport

extension SeededGenerator {
    /// `least` to `count` random bytes.
    mutating func bytes(_ least: Int = 0, _ count: Int) -> [UInt8] {
        (0..<Int.random(in: least...count, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) }
    }

    /// A number of up to `bits` bits, small ones as often as large ones.
    mutating func number(bits: Int = 64) -> UInt64 {
        let width = Int.random(in: 0...bits, using: &self)
        return width == 0 ? 0 : next() >> UInt64(64 - width)
    }
}
