// The versions of a path, the lines of a file, and the differences of two versions.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import Hummingbird
internal import TextDiff

struct TextRoutes {
    let context: ServerContext

    private static let versionLimit = 100_000
    /// The most changed paths that one version of a directory names.
    private static let changedPathLimit = 3
    private static let lineLimit = 20_000

    func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("log") { request, _ in
            let query = try Query(request)
            return try await context.answer { try TextRoutes.log(query, $0) }
        }
        api.get("blame") { request, _ in
            let query = try Query(request)
            return try await context.answer { try TextRoutes.blame(query, $0) }
        }
        api.get("diff") { request, _ in
            let query = try Query(request)
            return try await context.answer { try TextRoutes.diff(query, $0) }
        }
    }

    // MARK: Versions

    private struct Versions: Encodable {
        struct Version: Encodable {
            let snapshot: SnapshotAnswer
            let change: String
            let size: UInt64
            let kind: String
            let path: String
            let pathBytes: String?
            let otherPath: String?
            let isPresent: Bool
            /// For a directory: how many paths changed in it, and the first ones.
            var counts: Counts?
            var changedPaths: [String]?
        }

        struct Counts: Encodable {
            let added: UInt64
            let modified: UInt64
            let removed: UInt64
        }

        let versions: [Version]
        let hasMore: Bool
    }

    private static func log(_ query: Query, _ context: ServerContext) throws -> Versions {
        let (root, path) = (try context.root(query), try query.path())
        let limit = try query.number("limit", in: 1...versionLimit, usual: 500)
        let pins = try context.pins()
        let isDirectory = try isDirectory(path, root, context)
        if isDirectory {
            let found = try context.archive.history(ofDirectory: path, in: root, HistoryQuery(limit: limit + 1))
            let versions = try found.prefix(limit).map { version in
                let name = NameAnswer(version.path)
                let changes = try context.archive.changes(of: version, in: root, limit: changedPathLimit)
                let counts = version.isFirst ? version.snapshot.changes : version.counts
                return Versions.Version(
                    snapshot: SnapshotAnswer(version.snapshot, pins),
                    change: (version.isFirst ? PathVersion.Change.added : .modified).rawValue, size: 0,
                    kind: FileKind.directory.word, path: name.path, pathBytes: name.pathBytes, otherPath: nil,
                    isPresent: true,
                    counts: .init(added: counts.added, modified: counts.modified, removed: counts.removed),
                    changedPaths: changes.map { NameAnswer($0.path).path })
            }
            return Versions(versions: Array(versions), hasMore: found.count > limit)
        }
        let found = try context.archive.history(of: path, in: root, HistoryQuery(limit: limit + 1))
        let versions = found.prefix(limit).map { version in
            let name = NameAnswer(version.path)
            return Versions.Version(
                snapshot: SnapshotAnswer(version.snapshot, pins), change: version.change.rawValue, size: version.size,
                kind: version.kind.word, path: name.path, pathBytes: name.pathBytes,
                otherPath: version.otherPath.map { NameAnswer($0).path }, isPresent: version.isPresent)
        }
        return Versions(versions: Array(versions), hasMore: found.count > limit)
    }

    private static func isDirectory(_ path: RelativePath, _ root: ArchivedRoot, _ context: ServerContext) throws -> Bool
    {
        if path.isRoot { return true }
        guard let last = try context.archive.history(of: path, in: root, HistoryQuery(limit: 1)).first else {
            return false
        }
        return last.kind == .directory
    }

    // MARK: Lines

    private struct BlamedLines: Encodable {
        struct Line: Encodable {
            let text: String
            /// An index in `origins`.
            let origin: Int

            func encode(to encoder: any Encoder) throws {
                var list = encoder.unkeyedContainer()
                try list.encode(text)
                try list.encode(origin)
            }
        }

        /// The snapshot that introduced lines.
        struct Origin: Encodable {
            let snapshot: SnapshotAnswer
            /// The version that it changed; nil if the file was not there before.
            let before: Before?
        }

        struct Before: Encodable {
            let snapshot: SnapshotAnswer
            let path: String
            let pathBytes: String?

            init(_ version: PathVersion, _ pins: Set<ChunkID>) {
                let name = NameAnswer(version.path)
                snapshot = SnapshotAnswer(version.snapshot, pins)
                (path, pathBytes) = (name.path, name.pathBytes)
            }
        }

        let lines: [Line]
        let origins: [Origin]
        /// `UTF-16` or `Latin-1`; nil for UTF-8.
        let encoding: String?
        let isTruncated: Bool
    }

    private static func blame(_ query: Query, _ context: ServerContext) throws -> BlamedLines {
        let snapshot = try context.snapshot(query.required("snapshot"))
        let path = try query.path()
        let entry = try context.entry(path, in: snapshot)
        guard entry.kind == .file, entry.size <= Blame.limit else {
            throw Refusal.bad(
                "'\(path)' is not a file, or is larger than \(Blame.limit >> 20) MiB: its lines are not followed")
        }
        // Only the beginning: the text is read once more, and may be large.
        let head = try context.archive.read(entry, range: 0..<min(entry.size, LineText.sniffedBytes))
        let isWide = LineText.isUTF16(head)
        guard isWide || !TextLines.isBinary(head) else { throw Refusal.bad("'\(path)' is not a text file") }
        let versions = try context.archive.history(of: path, in: snapshot.root, HistoryQuery(through: snapshot))
        let lines = try Blame(context.archive) { LineText.utf8(of: $0) ?? $0 }.lines(versions)
        let pins = try context.pins()
        var numbers: [SnapshotID: Int] = [:]
        var origins: [BlamedLines.Origin] = []
        var isLatin = false
        let answers = lines.prefix(lineLimit).map { line in
            let version = line.version.snapshot
            let number = numbers[version.id] ?? origins.count
            if number == origins.count {
                numbers[version.id] = number
                let before = versions.drop { $0.snapshot.id != version.id }.dropFirst().first
                origins.append(
                    BlamedLines.Origin(
                        snapshot: SnapshotAnswer(version, pins),
                        before: before.flatMap { $0.isPresent ? BlamedLines.Before($0, pins) : nil }))
            }
            let (text, isUTF8) = LineText.text(line.bytes)
            if !isUTF8 { isLatin = true }
            return BlamedLines.Line(text: text, origin: number)
        }
        return BlamedLines(
            lines: answers, origins: origins, encoding: isWide ? "UTF-16" : isLatin ? "Latin-1" : nil,
            isTruncated: lines.count > lineLimit)
    }

    // MARK: Differences

    private static func diff(_ query: Query, _ context: ServerContext) throws -> DiffAnswer {
        let path = try query.path()
        let places = try [query.required("a"), query.required("b")].map { try place($0, query, context) }
        let sides = try places.map { try $0.flatMap { try ComparedFile(at: path, $0, context.archive) } }
        let (left, right) = (sides[0], sides[1])
        if left == nil, right == nil { throw Refusal.notFound("neither moment has anything at '\(path)'") }
        func answer(_ kind: String) -> DiffAnswer {
            let digest = [left, right].compactMap { $0 }.first { $0.isOnDisk }?.side.content
            return DiffAnswer(kind: kind, left: left?.side, right: right?.side, digest: digest)
        }
        let isFile = sides.allSatisfy { $0.map { $0.side.kind == FileKind.file.word } ?? true }
        guard isFile else { return answer("binary") }
        guard var old = left.map(\.bytes) ?? [], var new = right.map(\.bytes) ?? [] else {
            return answer(try haveSameContent(path, places, context) ? "same" : "binary")
        }
        if left != nil, right != nil, old == new { return answer("same") }
        let unicode = [old, new].map(LineText.utf8)
        (old, new) = (unicode[0] ?? old, unicode[1] ?? new)
        if TextLines.isBinary(old) || TextLines.isBinary(new) { return answer("binary") }
        var found = answer("text")
        if unicode.contains(where: { $0 != nil }) {
            found.encoding = "UTF-16"
        } else if [old, new].contains(where: { String(validating: $0, as: UTF8.self) == nil }) {
            found.encoding = "Latin-1"
        }
        (found.hunks, found.isTruncated) = DiffAnswer.hunks(TextLines(old), TextLines(new))
        return found
    }

    /// Returns what a side of a comparison is called: `none`, `disk` or the id of a snapshot.
    private static func place(
        _ name: String, _ query: Query, _ context: ServerContext
    ) throws -> ComparedFile.Place? {
        switch name {
        case "none": return nil
        case "disk": return .disk(try context.root(query))
        default: return .snapshot(try context.snapshot(name))
        }
    }

    /// Whether two large files have the same bytes; found without reading those that both share.
    private static func haveSameContent(
        _ path: RelativePath, _ places: [ComparedFile.Place?], _ context: ServerContext
    ) throws -> Bool {
        var isSame = true
        let compare = { (difference: Difference) in
            if difference.path == path { isSame = difference.left?.content == difference.right?.content }
            return isSame
        }
        switch (places[0], places[1]) {
        case (.snapshot(let left), .snapshot(let right)):
            try context.archive.differences(from: left, to: right, at: path, compare)
        case (.snapshot(let snapshot), .disk(let root)), (.disk(let root), .snapshot(let snapshot)):
            try context.archive.differences(from: snapshot, toDirectory: root.path, at: path, compare)
        default: return false
        }
        return isSame
    }
}
