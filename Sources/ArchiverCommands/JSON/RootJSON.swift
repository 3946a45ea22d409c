// Roots as JSON.

internal import ArchiveFormat
internal import ArchiverKit
internal import Exclusions
internal import FileIO

/// A root as `roots --json` shows it.
struct RootSummaryJSON: Encodable {
    let summary: RootSummary
    /// The place in the configuration that sets how it is watched.
    let configured: String?

    init(_ summary: RootSummary, configured: String?) {
        self.summary = summary
        self.configured = configured
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: summary.root.path.bytes, forKey: .root)
        try object.encode(summary.root.host, forKey: .host)
        try object.encode(summary.root.machine.hex, forKey: .machine)
        try object.encode(summary.root.isHere, forKey: .here)
        try object.encode(summary.isWatched, forKey: .watched)
        try object.encode(summary.retired?.rfc3339, forKey: .retired)
        try object.encode(summary.snapshotCount, forKey: .snapshots)
        try object.encode(summary.latest.map(SnapshotJSON.init), forKey: .latest)
        try object.encode(configured, forKey: .configured)
        var rules = object.nestedContainer(keyedBy: JSONKey.self, forKey: .exclusions)
        try rules.encode(summary.exclusions.patterns.map { Escaping.text($0) }, forKey: .patterns)
        try rules.encode(summary.exclusions.excludesEditorHelpers, forKey: .editorHelpers)
        try rules.encode(summary.exclusions.ignoreFileNames.map { Escaping.text($0) }, forKey: .ignoreFiles)
        try rules.encode(summary.exclusions.largerThan, forKey: .largerThan)
        try rules.encode(summary.exclusions.excludesCaches, forKey: .caches)
        try rules.encode(summary.exclusions.crossesMounts, forKey: .crossesFileSystems)
        var settings = object.nestedContainer(keyedBy: JSONKey.self, forKey: .settings)
        try settings.encode(JSONSeconds.of(summary.watchSettings.usedSettle), forKey: .settleSeconds)
        try settings.encode(JSONSeconds.of(summary.watchSettings.usedMaxDelay), forKey: .maxDelaySeconds)
        try settings.encode(JSONSeconds.of(summary.watchSettings.usedAuditInterval), forKey: .auditSeconds)
        try settings.encode(summary.watchSettings.usedLargeFile, forKey: .largeFileBytes)
        try settings.encode(
            JSONSeconds.of(summary.watchSettings.usedLargeFileDelay), forKey: .largeFileDelaySeconds)
    }
}

/// Durations as a number of seconds.
private enum JSONSeconds {
    static func of(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }
}
