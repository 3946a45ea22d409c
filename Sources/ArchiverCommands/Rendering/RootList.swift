// Lists of roots.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import SystemPackage

/// Lists of roots for people and for programs.
enum RootList {
    /// - Parameter configured: the place in the configuration that sets how a root is watched.
    static func listing(configured: [FilePath: String]) -> Listing<RootSummary> {
        func place(_ summary: RootSummary) -> String? {
            summary.root.isHere ? configured[summary.root.path].map { Escaping.text(Array($0.utf8)) } : nil
        }
        return Listing(
            [
                .text("root", isElastic: true) { Escaping.text($0.root.path.bytes) },
                .text("host", dispensability: 3) { Escaping.text($0.root.host) }, .pipe { $0.root.machine.hex },
                .text("snapshots", alignment: .right, dispensability: 1) { "\($0.snapshotCount)" },
                .time("latest", dispensability: 2) { $0.latest?.time }, .text("state") { $0.state },
                .person("settings", isElastic: true) { summary in
                    [
                        ExclusionText.text(summary.exclusions), WatchSettingsText.text(summary.watchSettings),
                        place(summary).map { "set in \($0)" },
                    ]
                    .compactMap(\.self).joined(separator: "; ")
                },
                .pipe { ExclusionText.text($0.exclusions) ?? "" },
                .pipe { WatchSettingsText.text($0.watchSettings) ?? "" }, .pipe { place($0) ?? "" },
            ], emptiness: "The archive holds no snapshots yet; 'archiver watch DIR' makes them."
        ) { RootSummaryJSON($0, configured: place($0)) }
    }
}

extension RootSummary {
    /// Whether it is watched, in one word.
    var state: String {
        isWatched ? "watched" : retired != nil ? "retired" : root.isHere ? "not-watched" : "elsewhere"
    }
}
