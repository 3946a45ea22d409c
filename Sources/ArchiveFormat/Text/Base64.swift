// Bytes as base64 text and back (RFC 4648 §4, with padding).

/// Base64 with the standard alphabet and padding.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    package static func string(_ bytes: [UInt8]) -> String {
        var text = [UInt8]()
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for digit in 0..<4 {
                let isUsed = digit <= group.count
                text.append(isUsed ? alphabet[Int(bits >> UInt32(18 - 6 * digit) & 63)] : padding)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes `text`; nil for any text that `string` does not return.
    package static func bytes(_ text: String) -> [UInt8]? {
        let digits = text.utf8.prefix { $0 != padding }.map { alphabet.firstIndex(of: $0) }
        var bytes = [UInt8]()
        var bits: UInt32 = 0
        for (index, digit) in digits.enumerated() {
            guard let digit else { return nil }
            bits = bits << 6 | UInt32(digit)
            // Every digit but the first of four completes a byte.
            let spare = UInt32(6 - 2 * (index % 4))
            if index % 4 != 0 { bytes.append(UInt8(truncatingIfNeeded: bits >> spare)) }
        }
        return string(bytes) == text ? bytes : nil
    }
}
