// Figures in readable form: three significant digits and a unit.

/// Renders figures.
enum Figure {
    /// A duration: `1.23 s`, `45.6 ms`, `789 ns`.
    static func time(_ seconds: Double) -> String {
        let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")]
        let (unit, name) = units.first { seconds >= $0.0 } ?? (1e-9, "ns")
        return "\(number(seconds / unit)) \(name)"
    }

    /// A size: `512 B`, `1.23 KiB`, `4.56 GiB`.
    static func bytes(_ bytes: Int) -> String {
        let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        guard let (unit, name) = units.first(where: { bytes >= $0.0 }) else { return "\(bytes) B" }
        return "\(number(Double(bytes) / Double(unit))) \(name)"
    }

    /// A count with thousands separators: `1,234,567`.
    static func count(_ count: Int) -> String {
        var digits = Array(String(count.magnitude))
        for position in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: position) }
        return (count < 0 ? "-" : "") + String(digits)
    }

    /// A number with three significant digits, at most three of them after the point.
    static func number(_ value: Double) -> String {
        if value == 0 { return "0" }
        let size = value.magnitude
        let places = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.0995 ? 2 : 3
        let scale = [1.0, 10, 100, 1_000][places]
        let scaled = Int((value.magnitude * scale).rounded())
        let sign = value < 0 ? "-" : ""
        if places == 0 { return sign + String(scaled) }
        let (whole, rest) = scaled.quotientAndRemainder(dividingBy: Int(scale))
        let digits = String(rest)
        return "\(sign)\(whole).\(String(repeating: "0", count: places - digits.count))\(digits)"
    }
}
