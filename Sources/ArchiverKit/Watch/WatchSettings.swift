// How a root is watched, as far as its user said so.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Glibc
internal import SystemPackage

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// How changes of a root are gathered: remembered with the archive, as is what is left out of the root.
public struct WatchSettings: Sendable, Hashable {
    /// A capture starts when the root was quiet for this long; nil for the usual 100 ms.
    public var settle: Duration?
    /// A capture starts at the latest this long after the first change; nil for the usual 2 s.
    public var maxDelay: Duration?
    /// How often everything is compared with the latest snapshot, zero for never; nil for the usual hour.
    public var auditInterval: Duration?

    public init(settle: Duration? = nil, maxDelay: Duration? = nil, auditInterval: Duration? = nil) {
        self.settle = settle
        self.maxDelay = maxDelay
        self.auditInterval = auditInterval
    }

    /// How long a root must be quiet.
    public var usedSettle: Duration { settle ?? .milliseconds(100) }
    /// How long a capture may wait for that.
    public var usedMaxDelay: Duration { maxDelay ?? .seconds(2) }
    /// How often everything is compared, zero for never.
    public var usedAuditInterval: Duration { auditInterval ?? .seconds(3600) }

    /// These settings, and where they say nothing, those of `former`.
    func filled(from former: WatchSettings) -> WatchSettings {
        WatchSettings(
            settle: settle ?? former.settle, maxDelay: maxDelay ?? former.maxDelay,
            auditInterval: auditInterval ?? former.auditInterval)
    }

    /// - Throws: `ArchiverError` where a capture would be due before it may be.
    func check(_ root: FilePath) throws(ArchiverError) {
        guard usedSettle > usedMaxDelay else { return }
        throw ArchiverError(
            .unsuitableSettings,
            "\(root) would have to be quiet for \(usedSettle), but a capture may wait no longer than \(usedMaxDelay)",
            remedy: "give --settle and --max-delay together", path: root)
    }
}

/// The file that remembers a root's settings, in the archive's folder `settings`.
///
/// It says how this machine watches, not what was seen: it is no part of the segments. Where it is lost or damaged, the
/// root is watched as usual.
struct WatchSettingsFile {
    private struct Content: Codable {
        var root: String
        var settleSeconds: Double?
        var maxDelaySeconds: Double?
        var auditSeconds: Double?
    }

    private let root: FilePath
    private let folder: FilePath
    private let name: String

    init(of root: FilePath, in layout: ArchiveLayout) {
        self.root = root
        folder = layout.directory.appending("settings")
        name = "watch-\(ChunkID(hashing: Machine.id.bytes + root.bytes).hex.prefix(16)).json"
    }

    func read() -> WatchSettings {
        let path = folder.appending(name)
        guard let file = try? Descriptor.openFile(path, O_RDONLY),
            let bytes = try? file.readToEnd(limit: 1 << 16, path: path),
            let content = try? JSONDecoder().decode(Content.self, from: Data(bytes))
        else { return WatchSettings() }
        return WatchSettings(
            settle: Self.duration(content.settleSeconds), maxDelay: Self.duration(content.maxDelaySeconds),
            auditInterval: Self.duration(content.auditSeconds))
    }

    func write(_ settings: WatchSettings) throws {
        let content = Content(
            root: root.string, settleSeconds: settings.settle?.seconds, maxDelaySeconds: settings.maxDelay?.seconds,
            auditSeconds: settings.auditInterval?.seconds)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try Directory.create(folder, permissions: 0o700, durable: true)
        try DurableFile.replace(directory: folder, name: name, contents: Array(try encoder.encode(content)) + [0x0A])
    }

    func remove() {
        _ = folder.appending(name).withPlatformString { unlink($0) }
    }

    /// - Returns: nil where the file says something that is no span of time.
    private static func duration(_ seconds: Double?) -> Duration? {
        seconds.flatMap { (0...1e6).contains($0) ? .milliseconds(Int64(($0 * 1000).rounded())) : nil }
    }
}
