// Long spans of time on the command line, such as how long snapshots are kept.

internal import ArgumentParser
internal import FileIO

/// A span such as `90m`, `2h`, `30d`, `4w`, `1y`, or `forever`.
struct SpanArgument: ExpressibleByArgument, Sendable, Hashable {
    /// Nil for `forever`.
    let seconds: UInt64?

    private static let units: [(name: Character, seconds: UInt64)] = [
        ("s", 1), ("m", 60), ("h", 3600), ("d", 86_400), ("w", 604_800), ("y", 31_557_600),
    ]
    /// Ten thousand years, the longest span accepted.
    private static let most: UInt64 = 10_000 * 31_557_600

    init(days: UInt64) { seconds = days * 86_400 }

    init?(argument: String) {
        if argument == "forever" {
            seconds = nil
            return
        }
        guard let unit = SpanArgument.units.first(where: { argument.last == $0.name }) else { return nil }
        let digits = argument.dropLast()
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt64(digits),
            case let (seconds, isTooMuch) = number.multipliedReportingOverflow(by: unit.seconds), !isTooMuch,
            seconds <= SpanArgument.most
        else { return nil }
        self.seconds = seconds
    }

    init(seconds: UInt64?) { self.seconds = seconds }

    var defaultValueDescription: String { SpanArgument.text(seconds) }

    /// The span as it can be typed, in the largest unit that fits: "90m", "2h", "14d", "forever".
    static func text(_ seconds: UInt64?) -> String {
        guard let seconds else { return "forever" }
        guard let unit = units.last(where: { seconds > 0 && seconds.isMultiple(of: $0.seconds) && $0.name != "w" })
        else {
            return "\(seconds)s"
        }
        return "\(seconds / unit.seconds)\(unit.name)"
    }
}
