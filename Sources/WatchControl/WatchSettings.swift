// The settings by which a root is watched.

internal import ArchiveFormat
package import ArchiveStorage
internal import Capturing
internal import FileIO
package import Roots
package import SystemPackage

/// How changes of a root are gathered; remembered in the archive, as the root's exclusion rules are.
public struct WatchSettings: Sendable, Hashable {
    /// A capture starts when the root has been quiet for this long; nil for the default of 100 ms.
    public var settle: Duration?
    /// A capture starts at the latest this long after the first change; nil for the default of 2 s.
    public var maxDelay: Duration?
    /// How often everything is compared with the latest snapshot, zero for never; nil for the default of one hour.
    public var auditInterval: Duration?
    /// Files of at least this many bytes are captured on their own, and less often if they change constantly; zero for
    /// none, nil for the default of 512 MiB.
    public var largeFile: UInt64?
    /// A large file is captured at the latest this long after a change; nil for the default of 5 minutes.
    public var largeFileDelay: Duration?

    /// Settings; nil ones are left as they are.
    public init(
        settle: Duration? = nil, maxDelay: Duration? = nil, auditInterval: Duration? = nil, largeFile: UInt64? = nil,
        largeFileDelay: Duration? = nil
    ) {
        self.settle = settle
        self.maxDelay = maxDelay
        self.auditInterval = auditInterval
        self.largeFile = largeFile
        self.largeFileDelay = largeFileDelay
    }

    /// The effective `settle`.
    public var usedSettle: Duration { settle ?? .milliseconds(100) }
    /// The effective `maxDelay`.
    public var usedMaxDelay: Duration { maxDelay ?? .seconds(2) }
    /// The effective `auditInterval`, zero for never.
    public var usedAuditInterval: Duration { auditInterval ?? .seconds(3600) }
    /// The effective `largeFile`, zero for none.
    public var usedLargeFile: UInt64 { largeFile ?? 512 << 20 }
    /// The effective `largeFileDelay`, at least `usedMaxDelay`.
    public var usedLargeFileDelay: Duration { max(largeFileDelay ?? .seconds(300), usedMaxDelay) }

    /// Returns these settings, with nil values taken from `former`.
    package func filled(from former: WatchSettings) -> WatchSettings {
        WatchSettings(
            settle: settle ?? former.settle, maxDelay: maxDelay ?? former.maxDelay,
            auditInterval: auditInterval ?? former.auditInterval, largeFile: largeFile ?? former.largeFile,
            largeFileDelay: largeFileDelay ?? former.largeFileDelay)
    }

    /// Checks that the settings are consistent.
    ///
    /// - Throws: `ArchiverError` if `settle` is longer than `maxDelay`.
    package func check(_ root: FilePath) throws(ArchiverError) {
        guard usedSettle > usedMaxDelay else { return }
        throw ArchiverError(
            .unsuitableSettings,
            "\(root) would have to be quiet for \(usedSettle.words), but a capture may wait no longer than "
                + usedMaxDelay.words,
            remedy: Advice.giveBothTimes.text, path: root)
    }
}

extension Duration {
    /// The duration in seconds.
    package var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }

    /// "1 second", "120 seconds", "0.25 seconds".
    var words: String {
        let milliseconds = (seconds * 1000).rounded() / 1000
        if milliseconds == 1 { return "1 second" }
        return milliseconds == milliseconds.rounded() && milliseconds < 1e15
            ? "\(Int64(milliseconds)) seconds" : "\(milliseconds) seconds"
    }
}

/// The file that remembers a root's settings, in the archive's folder `settings`.
///
/// It describes how this machine watches, and is not a part of the history, so it is not in the segments. If it is lost
/// or damaged, the defaults apply.
package struct WatchSettingsFile {
    private struct Content: Codable {
        var root: String
        var settleSeconds: Double?
        var maxDelaySeconds: Double?
        var auditSeconds: Double?
        var largeFileBytes: UInt64?
        var largeFileDelaySeconds: Double?
    }

    private let root: FilePath
    private let file: JSONFile<Content>

    package init(of root: FilePath, in layout: ArchiveLayout) {
        self.root = root
        let name = "watch-\(ChunkID(hashing: Machine.id.bytes + root.bytes).hex.prefix(16)).json"
        file = JSONFile(
            layout.settings.appending(name), "it says how \(root) is watched", byteLimit: 1 << 16)
    }

    package func read() -> WatchSettings {
        guard let content = try? file.read() else { return WatchSettings() }
        return WatchSettings(
            settle: Self.duration(content.settleSeconds), maxDelay: Self.duration(content.maxDelaySeconds),
            auditInterval: Self.duration(content.auditSeconds), largeFile: content.largeFileBytes,
            largeFileDelay: Self.duration(content.largeFileDelaySeconds))
    }

    package func write(_ settings: WatchSettings) throws {
        let content = Content(
            root: root.string, settleSeconds: settings.settle?.seconds, maxDelaySeconds: settings.maxDelay?.seconds,
            auditSeconds: settings.auditInterval?.seconds, largeFileBytes: settings.largeFile,
            largeFileDelaySeconds: settings.largeFileDelay?.seconds)
        try file.write(content)
    }

    package func remove() {
        _ = try? file.place.remove()
    }

    /// - Returns: nil if the file's value is not a valid duration.
    private static func duration(_ seconds: Double?) -> Duration? {
        seconds.flatMap { (0...1e6).contains($0) ? .milliseconds(Int64(($0 * 1000).rounded())) : nil }
    }
}

extension LargeFileRule {
    /// The rule that follows from `settings`.
    package init(_ settings: WatchSettings) {
        self.init(
            smallest: settings.usedLargeFile == 0 ? nil : settings.usedLargeFile,
            longestDelay: settings.usedLargeFileDelay)
    }
}
