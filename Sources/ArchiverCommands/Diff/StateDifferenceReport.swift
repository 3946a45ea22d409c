// The differences between two saved states: lines for people, an array for programs.

internal import ArchiveStorage
internal import ArchiverKit
internal import SavedStates

/// Writes the differences of two states.
struct StateDifferenceReport {
    private let console: Console
    /// The maximum width in columns of a value on a terminal.
    private static let widest = 60
    /// The maximum number of bytes of a value in text output; JSON output does not cut values.
    private static let longest = 1 << 20

    init(_ console: Console) { self.console = console }

    func write(_ differences: [StateDifference]) throws {
        if console.isJSON {
            var writer = try JSONArrayWriter(console.output)
            for difference in differences { try writer.append(StateDifferenceJSON(difference: difference)) }
            return try writer.finish()
        }
        let widest = console.isForPerson ? StateDifferenceReport.widest : nil
        for difference in differences {
            try console.output.line(StateDifferenceReport.line(difference, console.style, widest: widest))
        }
    }

    /// "~ score: 9001 → 9002", "+ items.3: {…}", "- old: 5".
    ///
    /// - Parameter widest: the maximum width of a value in columns; nil for no limit.
    static func line(_ difference: StateDifference, _ style: Style, widest: Int?) throws -> String {
        let values = try [difference.old, difference.new].compactMap { value in
            let text = try value.map { Escaping.text(try $0.compact(limit: longest)) }
            return widest.flatMap { width in text.map { DisplayWidth.cut($0, to: width) } } ?? text
        }
        let path = difference.path.isEmpty ? "." : Escaping.text(difference.path)
        let change = difference.change.sign
        return style(change.mark, "\(change.rawValue) \(path)") + ": " + values.joined(separator: " → ")
    }
}

extension DifferenceStatistics {
    /// Counts the differences between the states `left` and `right`.
    init(_ differences: [StateDifference], _ left: ListedState, _ right: ListedState) {
        for difference in differences {
            switch difference.change {
            case .added: added += 1
            case .modified: modified += 1
            case .removed: removed += 1
            }
        }
        leftBytes = left.bytes
        rightBytes = right.bytes
    }
}
