// What a moment changed, in the lines that fit below the list.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import TextDiff

/// A moment that can be chosen.
struct PickMoment {
    let snapshot: ListedSnapshot
    /// The version of the file; nil where all of a directory is meant.
    var version: PathVersion?
}

/// Finds the moments of a path, and what each changed.
struct PickMoments {
    let history: HistoryContext
    let path: RelativePath
    let all: [PickMoment]

    /// Nobody looks through more of them.
    private static let limit = 10_000
    private static let previewLimit = 200

    init(_ history: HistoryContext, _ path: RelativePath) throws {
        self.history = history
        self.path = path
        let (archive, root) = (history.archive, history.root)
        if path.isRoot {
            let query = SnapshotQuery(root: root, newestFirst: true, limit: PickMoments.limit)
            all = try archive.snapshots(query).map { PickMoment(snapshot: $0) }
            return
        }
        let query = HistoryQuery(limit: PickMoments.limit)
        let versions = try history.indexing { try archive.history(of: path, in: root, query, progress: $0) }
        if versions.first?.kind == .directory {
            all = try archive.history(ofDirectory: path, in: root, query).map { PickMoment(snapshot: $0.snapshot) }
        } else {
            all = versions.filter(\.isPresent).map { PickMoment(snapshot: $0.snapshot, version: $0) }
        }
        if all.isEmpty { throw try history.noSuchPath(path) }
    }

    func text(_ moment: PickMoment) -> String {
        let snapshot = moment.snapshot
        let what = moment.version.map(VersionList.words) ?? snapshot.changes.text
        let label = snapshot.label.map { "  " + Escaping.text($0) } ?? ""
        return "\(snapshot.id.short)  \(LocalTime.text(snapshot.time))  \(what)  \(snapshot.cause.rawValue)\(label)"
    }

    /// What the moment changed; where that cannot be told, why.
    func preview(_ moment: PickMoment) -> [String] {
        do {
            if let version = moment.version { return try patch(version) }
            let details = try history.archive.details(of: moment.snapshot)
            return details.changedPaths.filter { path.contains($0.path) }
                .map { "\($0.change.sign.rawValue) \(Escaping.text($0.path))" }
        } catch {
            return ["this cannot be shown: " + Escaping.text("\(error)")]
        }
    }

    private func patch(_ version: PathVersion) throws -> [String] {
        guard let difference = try history.archive.difference(of: version, in: history.root) else { return [] }
        let sides = [difference.left, difference.right]
        guard sides.allSatisfy({ $0.map { $0.kind == .file && $0.size <= FileContents.limit } ?? true }) else {
            return ["large, or no file: \(ByteCount.text(version.size))"]
        }
        let contents = FileContents.archive(history.archive)
        let bytes = try sides.map { try $0.map(contents.bytes) }
        if bytes.contains(where: { $0.map(TextLines.isBinary) ?? false }) {
            return ["binary: \(ByteCount.text(version.size))"]
        }
        return UnifiedDiff(difference.path, left: bytes[0], right: bytes[1]).lines.dropFirst(2)
            .prefix(PickMoments.previewLimit).map { Escaping.prose($0.bytes, keepingTabs: false) }
    }

    /// What `archiver restore` takes.
    func argument(_ moment: PickMoment) -> [UInt8] {
        let id = Array(moment.snapshot.id.short.utf8)
        if path.isRoot { return id }
        let path = moment.version?.path ?? path
        return id + [UInt8(ascii: ":")] + history.context.paths(in: history.root).argument(for: path)
    }
}
