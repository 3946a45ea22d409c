// Short durations on the command line.

internal import ArgumentParser

/// A duration such as `100ms`, `2s`, `1.5s`, `3m` or `1h`.
struct DurationArgument: ExpressibleByArgument, Sendable, Hashable {
    let duration: Duration

    private static let unitNanoseconds: [(name: String, nanoseconds: Double)] = [
        ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9),
    ]
    /// One day in nanoseconds, the longest duration accepted.
    private static let most = 86_400e9

    init?(argument: String) {
        guard let unit = DurationArgument.unitNanoseconds.first(where: { argument.hasSuffix($0.name) }) else {
            return nil
        }
        let digits = argument.dropLast(unit.name.count)
        guard let first = digits.utf8.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first),
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".") }),
            let number = Double(digits), number * unit.nanoseconds <= DurationArgument.most
        else { return nil }
        duration = .nanoseconds(Int64((number * unit.nanoseconds).rounded()))
    }

    init(_ duration: Duration) { self.duration = duration }

    var defaultValueDescription: String { DurationArgument.text(duration) }

    /// The duration as it can be typed, in the largest unit that fits: "100ms", "2s", "3m", "1h".
    static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        if attoseconds != 0 { return "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)ms" }
        if seconds > 0, seconds % 3600 == 0 { return "\(seconds / 3600)h" }
        return seconds > 0 && seconds % 60 == 0 ? "\(seconds / 60)m" : "\(seconds)s"
    }
}
