// The output forms of `diff`.

internal import ArchiveFormat
internal import ArchiverKit
internal import FileIO

/// Writes differences one by one, in walk order.
protocol DifferenceReport {
    mutating func add(_ difference: Difference) throws
    mutating func finish() throws
}

/// Names: `+ path`, `~ path (content, permissions)`, `- path`.
struct NameReport: DifferenceReport {
    let console: Console

    func add(_ difference: Difference) throws {
        try console.output.line(NameReport.line(difference, console.style))
    }

    func finish() {}

    static func line(_ difference: Difference, _ style: Style) -> String {
        let sign = difference.kind.sign
        let aspects = difference.aspects
        let rest = aspects.isEmpty ? "" : " (" + aspects.joined(separator: ", ") + ")"
        let slash = (difference.right ?? difference.left)?.kind == .directory && !difference.path.isRoot ? "/" : ""
        return style(sign.mark, "\(sign.rawValue) \(Escaping.text(difference.path))\(slash)") + rest
    }
}

/// Writes one line with the counts.
struct StatisticsReport: DifferenceReport {
    let console: Console
    private var statistics = DifferenceStatistics()

    init(_ console: Console) { self.console = console }

    mutating func add(_ difference: Difference) { statistics.count(difference) }

    func finish() throws {
        try console.output.line(console.isJSON ? JSONText.of(statistics) : statistics.text)
    }
}

/// The number of differences and the sizes before and after.
struct DifferenceStatistics: Encodable {
    var added = 0
    var modified = 0
    var removed = 0
    /// The sizes of the differing files or states, before and after.
    var leftBytes: UInt64 = 0
    var rightBytes: UInt64 = 0

    var text: String {
        "\(added) added, \(modified) modified, \(removed) removed: "
            + "\(ByteCount.text(leftBytes)) became \(ByteCount.text(rightBytes))"
    }

    mutating func count(_ difference: Difference) {
        switch difference.kind {
        case .added: added += 1
        case .modified: modified += 1
        case .removed: removed += 1
        }
        leftBytes = FormatLimits.sum(leftBytes, difference.left?.size ?? 0, .max)
        rightBytes = FormatLimits.sum(rightBytes, difference.right?.size ?? 0, .max)
    }
}

/// Writes a JSON array.
struct JSONDifferenceReport: DifferenceReport {
    private var writer: JSONArrayWriter

    init(_ console: Console) throws { writer = try JSONArrayWriter(console.output) }

    mutating func add(_ difference: Difference) throws { try writer.append(DifferenceJSON(difference)) }

    func finish() throws { try writer.finish() }
}
