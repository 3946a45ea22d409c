// Sizes for people, in binary units with one decimal.

/// Numbers of bytes as people read them.
package enum ByteCount {
    private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    /// "0 B", "1023 B", "1.0 KiB", "85.3 MiB".
    package static func text(_ bytes: UInt64) -> String {
        if bytes < 1024 { return "\(bytes) B" }
        var tenths = rounded(bytes, toTenthsOf: 1024)
        var unit = 0
        var divisor: UInt64 = 1024
        while tenths >= 10_240 && unit < units.count - 1 {
            divisor <<= 10
            unit += 1
            tenths = rounded(bytes, toTenthsOf: divisor)
        }
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    private static func rounded(_ bytes: UInt64, toTenthsOf unit: UInt64) -> UInt64 {
        let (whole, rest) = bytes.quotientAndRemainder(dividingBy: unit)
        return whole * 10 + (rest * 10 + unit / 2) / unit
    }
}
