// Sizes, durations and limits as values of options.

internal import ArchiverKit
internal import ArgumentParser

/// A number of bytes such as `512`, `500K`, `100M`, `2G`, `1T`, in binary units; `KiB` and `kB` mean `K`.
struct SizeArgument: ExpressibleByArgument, Sendable, Hashable {
    let bytes: UInt64

    private static let units: [Character: UInt64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]

    init?(argument: String) {
        var text = argument.uppercased()[...]
        for ending in ["IB", "B"] where text.hasSuffix(ending) {
            text = text.dropLast(ending.count)
            break
        }
        var unit: UInt64 = 1
        if let last = text.last, let named = SizeArgument.units[last] {
            unit = named
            text = text.dropLast()
        }
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt64(text) else {
            return nil
        }
        let (bytes, isTooMuch) = number.multipliedReportingOverflow(by: unit)
        if isTooMuch { return nil }
        self.bytes = bytes
    }

    var defaultValueDescription: String { ByteCount.text(bytes) }
}

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

/// A size such as `20G`, or `none`.
struct LimitArgument: ExpressibleByArgument, Sendable, Hashable {
    /// Nil for `none`.
    let bytes: UInt64?

    init?(argument: String) {
        if argument == "none" {
            bytes = nil
            return
        }
        guard let size = SizeArgument(argument: argument), size.bytes > 0 else { return nil }
        bytes = size.bytes
    }
}

/// A percentage such as `10%`, or a size such as `5G`.
struct FreeArgument: ExpressibleByArgument, Sendable, Hashable {
    let bytes: UInt64?
    let percent: UInt64?

    init?(argument: String) {
        guard argument.hasSuffix("%") else {
            guard let size = SizeArgument(argument: argument) else { return nil }
            (bytes, percent) = (size.bytes, nil)
            return
        }
        let digits = argument.dropLast()
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let percent = UInt64(digits),
            percent <= 100
        else { return nil }
        (bytes, self.percent) = (nil, percent)
    }
}
