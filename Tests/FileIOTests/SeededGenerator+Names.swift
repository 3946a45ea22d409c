// Random file names, hostile ones among them.

import TestSupport

extension SeededGenerator {
    /// A file name of 1 to 255 bytes: any bytes but NUL and `/`, often few of them so that names begin alike.
    mutating func name() -> [UInt8] {
        let alphabet = Array("ab.-_ \n\u{1}0".utf8) + [0xFF, 0x80]
        while true {
            let isShort = Int.random(in: 0..<10, using: &self) > 0
            let count = Int.random(in: 1...(isShort ? 3 : 255), using: &self)
            let name = (0..<count).map { _ in
                isShort ? alphabet[Int.random(in: 0..<alphabet.count, using: &self)] : anyNameByte()
            }
            if name != Array(".".utf8) && name != Array("..".utf8) { return name }
        }
    }

    private mutating func anyNameByte() -> UInt8 {
        let byte = UInt8.random(in: 1...255, using: &self)
        return byte == UInt8(ascii: "/") ? 1 : byte
    }
}
