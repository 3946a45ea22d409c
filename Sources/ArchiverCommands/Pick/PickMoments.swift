// The moments of `archiver pick`, which are read on demand, and the changes of each.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import TextDiff
internal import Timeline

/// The moments of a path from its timeline, and the changes of each.
struct PickMoments {
    let history: HistoryContext
    let path: RelativePath
    /// The moments that have been read, the latest first.
    private(set) var all: [PathMoment] = []
    /// Whether all moments have been read.
    private(set) var isWhole = false
    /// Returns a page of moments before the given one, or the latest page for nil; the oldest first.
    private let earlier: (PathMoment?) throws -> [PathMoment]

    /// The number of moments of a page.
    private static let step = 1000
    private static let previewLimit = 200

    init(_ history: HistoryContext, _ path: RelativePath) throws {
        self.history = history
        self.path = path
        let (archive, root) = (history.archive, history.root)
        if path.isRoot {
            let timeline = ArchiveTimeline(archive, root: root)
            earlier = { moment in
                try timeline.moments(moment.map { .before($0.snapshot) } ?? .end, limit: PickMoments.step)
                    .map(PathMoment.init)
            }
        } else {
            let timeline = try history.indexing {
                try PathTimeline(archive, root: root, path: path, progress: $0)
            }
            earlier = { moment in
                try timeline.moments(moment.map { .before($0) } ?? .end, limit: PickMoments.step)
            }
        }
        try readMore()
        if all.isEmpty { throw try history.noSuchPath(path) }
    }

    /// Reads the next page of older moments.
    ///
    /// - Returns: the moments that were read, the latest first.
    @discardableResult
    mutating func readMore() throws -> [PathMoment] {
        let page = try earlier(all.last)
        isWhole = page.count < PickMoments.step
        all += page.reversed()
        return page.reversed()
    }

    func text(_ moment: PathMoment) -> String {
        let snapshot = moment.snapshot
        let what = moment.version.map(VersionList.words) ?? moment.changes.text
        let label = snapshot.label.map { "  " + Escaping.text($0) } ?? ""
        return "\(snapshot.id.short)  \(LocalTime.text(snapshot.time))  \(what)  \(snapshot.cause.rawValue)\(label)"
    }

    /// The changes of the moment, or the reason why they cannot be shown.
    func preview(_ moment: PathMoment) -> [String] {
        do {
            if let version = moment.version { return try patch(version) }
            let details = try history.archive.details(of: moment.snapshot)
            return details.changedPaths.filter { moment.path.contains($0.path) }
                .map { "\($0.change.sign.rawValue) \(Escaping.text($0.path))" }
        } catch {
            return ["cannot show the changes: " + Escaping.text("\(error)")]
        }
    }

    private func patch(_ version: PathVersion) throws -> [String] {
        guard let difference = try history.archive.difference(of: version, in: history.root) else { return [] }
        let sides = [difference.left, difference.right]
        guard sides.allSatisfy({ $0.map { $0.kind == .file && $0.size <= FileContents.limit } ?? true }) else {
            return ["large, or not a file: \(ByteCount.text(version.size))"]
        }
        let contents = FileContents.archive(history.archive)
        let bytes = try sides.map { try $0.map(contents.bytes) }
        if bytes.contains(where: { $0.map(TextLines.isBinary) ?? false }) {
            return ["binary: \(ByteCount.text(version.size))"]
        }
        return UnifiedDiff(difference.path, left: bytes[0], right: bytes[1]).lines.dropFirst(2)
            .prefix(PickMoments.previewLimit).map { Escaping.prose($0.bytes, keepingTabs: false) }
    }

    /// The argument for `archiver restore`.
    func argument(_ moment: PathMoment) -> [UInt8] {
        let id = Array(moment.snapshot.id.short.utf8)
        if path.isRoot { return id }
        return id + [UInt8(ascii: ":")] + history.context.paths(in: history.root).argument(for: moment.path)
    }
}
