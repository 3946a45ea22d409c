// Roots as lines of text.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// Lists of roots for people and for programs.
enum RootList {
    private static let columns = [
        TextTable.Column(title: "root", isElastic: true), TextTable.Column(title: "host", dispensability: 3),
        TextTable.Column(title: "snapshots", alignment: .right, dispensability: 1),
        TextTable.Column(title: "latest", dispensability: 2),
        TextTable.Column(title: "state"), TextTable.Column(title: "settings", isElastic: true),
    ]

    /// A table for a person, plain lines for a program.
    static func lines(_ roots: [RootSummary], _ console: Console) -> [String] {
        guard console.isForPerson else { return roots.map(plain) }
        var table = TextTable(columns)
        for summary in roots {
            table.add([
                Escaping.text(summary.root.path.bytes), Escaping.text(summary.root.host), "\(summary.snapshotCount)",
                summary.latest.map { LocalTime.text($0.time) } ?? "", summary.state,
                [ExclusionText.text(summary.exclusions), WatchSettingsText.text(summary.watchSettings)]
                    .compactMap(\.self).joined(separator: "; "),
            ])
        }
        return table.aligned(console.style, width: console.output.columns)
    }

    /// One line with tabs.
    static func plain(_ summary: RootSummary) -> String {
        TextTable.plain([
            Escaping.text(summary.root.path.bytes), Escaping.text(summary.root.host), summary.root.machine.hex,
            "\(summary.snapshotCount)", summary.latest?.time.rfc3339 ?? "", summary.state,
            ExclusionText.text(summary.exclusions) ?? "", WatchSettingsText.text(summary.watchSettings) ?? "",
        ])
    }
}

extension RootSummary {
    /// Whether it is watched, in one word.
    var state: String {
        isWatched ? "watched" : retired != nil ? "retired" : root.isHere ? "not-watched" : "elsewhere"
    }
}
