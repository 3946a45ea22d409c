// Bech32: text with a checksum that finds misspelt keys (BIP 173, without its limit of 90 characters).

enum Bech32 {
    private static let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)

    /// The lower-case text of `bytes` under the lower-case prefix `prefix`.
    static func encode(prefix: String, _ bytes: [UInt8]) -> String {
        let values = regrouped(bytes, from: 8, to: 5, isPadding: true) ?? []
        let polynomial = polymod(expanded(prefix.utf8) + values + [UInt8](repeating: 0, count: 6)) ^ 1
        let checksum = (0..<6).map { UInt8(polynomial >> UInt32(5 * (5 - $0)) & 31) }
        return prefix + "1" + String(decoding: (values + checksum).map { alphabet[Int($0)] }, as: UTF8.self)
    }

    /// The prefix as it is written, and the bytes; nil if a character, the case, the padding or the checksum is wrong.
    static func decode(_ text: String) -> (prefix: String, bytes: [UInt8])? {
        let upper = text.utf8.contains { (0x41...0x5a).contains($0) }
        let lower = text.utf8.contains { (0x61...0x7a).contains($0) }
        guard !(upper && lower), text.utf8.allSatisfy({ (33...126).contains($0) }) else { return nil }
        let folded = text.utf8.map { (0x41...0x5a).contains($0) ? $0 + 0x20 : $0 }
        guard let separator = folded.lastIndex(of: UInt8(ascii: "1")), separator > 0, separator + 7 <= folded.count
        else { return nil }
        var values: [UInt8] = []
        for character in folded[(separator + 1)...] {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            values.append(UInt8(value))
        }
        guard polymod(expanded(folded[..<separator]) + values) == 1,
            let bytes = regrouped(Array(values.dropLast(6)), from: 5, to: 8, isPadding: false)
        else { return nil }
        return (String(decoding: text.utf8.prefix(separator), as: UTF8.self), bytes)
    }

    private static func expanded(_ prefix: some Collection<UInt8>) -> [UInt8] {
        prefix.map { $0 >> 5 } + [0] + prefix.map { $0 & 31 }
    }

    private static func polymod(_ values: [UInt8]) -> UInt32 {
        let generators: [UInt32] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3]
        var checksum: UInt32 = 1
        for value in values {
            let top = checksum >> 25
            checksum = (checksum & 0x1ff_ffff) << 5 ^ UInt32(value)
            for (bit, generator) in generators.enumerated() where top >> UInt32(bit) & 1 == 1 { checksum ^= generator }
        }
        return checksum
    }

    private static func regrouped(_ values: [UInt8], from: UInt32, to: UInt32, isPadding: Bool) -> [UInt8]? {
        var result: [UInt8] = []
        var bits: UInt32 = 0
        var count: UInt32 = 0
        for value in values {
            bits = (bits << from | UInt32(value)) & 0xfff
            count += from
            while count >= to {
                count -= to
                result.append(UInt8(truncatingIfNeeded: bits >> count & (1 << to - 1)))
            }
        }
        if isPadding {
            if count > 0 { result.append(UInt8(bits << (to - count) & (1 << to - 1))) }
        } else if count >= from || bits & (1 << count - 1) != 0 {
            return nil
        }
        return result
    }
}
