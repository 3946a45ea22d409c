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
            let versions = found.prefix(limit).map { version in
                let name = NameAnswer(version.path)
                return Versions.Version(
                    snapshot: SnapshotAnswer(version.snapshot, pins), change: version.isFirst ? "added" : "changed",
                    size: 0,
                    kind: "directory", path: name.path, pathBytes: name.pathBytes, otherPath: nil, isPresent: true)
            }
            return Versions(versions: Array(versions), hasMore: found.count > limit)
        }
        let found = try context.archive.history(of: path, in: root, HistoryQuery(limit: limit + 1))
        let versions = found.prefix(limit).map { version in
            let name = NameAnswer(version.path)
            return Versions.Version(
                snapshot: SnapshotAnswer(version.snapshot, pins), change: version.change.answer, size: version.size,
                kind: version.kind.answer, path: name.path, pathBytes: name.pathBytes,
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
            let snapshot: Int

            func encode(to encoder: any Encoder) throws {
                var list = encoder.unkeyedContainer()
                try list.encode(text)
                try list.encode(snapshot)
            }
        }

        let lines: [Line]
        let snapshots: [SnapshotAnswer]
        let isTruncated: Bool
    }

    private static func blame(_ query: Query, _ context: ServerContext) throws -> BlamedLines {
        let snapshot = try context.snapshot(query.required("snapshot"))
        let path = try query.path()
        let entry = try context.entry(path, in: snapshot)
        guard entry.kind == .file, let text = try bytes(entry, context), !TextLines.isBinary(text) else {
            throw Refusal.bad("'\(path)' is not a text file, or is too large to follow its lines")
        }
        let versions = try context.archive.history(of: path, in: snapshot.root, HistoryQuery(through: snapshot))
        let lines = try Blame(context.archive).lines(versions)
        let pins = try context.pins()
        var numbers: [SnapshotID: Int] = [:]
        var snapshots: [SnapshotAnswer] = []
        let answers = lines.prefix(lineLimit).map { line in
            let version = line.version.snapshot
            let number = numbers[version.id] ?? snapshots.count
            if number == snapshots.count {
                numbers[version.id] = number
                snapshots.append(SnapshotAnswer(version, pins))
            }
            return BlamedLines.Line(text: String(decoding: line.bytes, as: UTF8.self), snapshot: number)
        }
        return BlamedLines(lines: answers, snapshots: snapshots, isTruncated: lines.count > lineLimit)
    }

    /// Returns the content of a file; nil if it is too large to compare lines.
    private static func bytes(_ entry: Entry, _ context: ServerContext) throws -> [UInt8]? {
        guard entry.size <= Blame.limit else { return nil }
        return try context.archive.read(entry, range: 0..<entry.size)
    }

    // MARK: Differences

    private struct Diff: Encodable {
        struct Side: Encodable {
            let size: UInt64
            let content: String?
            let kind: String

            init(_ entry: Entry) {
                (size, content, kind) = (entry.size, ContentName.of(entry), entry.kind.answer)
            }
        }

        struct Place: Encodable {
            let start: Int
            let count: Int
        }

        struct Hunk: Encodable {
            let left: Place
            let right: Place
            var lines: [[String]]
        }

        let kind: String
        let left: Side?
        let right: Side?
        var hunks: [Hunk] = []
        var isTruncated = false
    }

    private static func diff(_ query: Query, _ context: ServerContext) throws -> Diff {
        let path = try query.path()
        let sides = try [query.required("a"), query.required("b")].map { name -> Entry? in
            name == "none" ? nil : try context.archive.entry(at: path, in: context.snapshot(name))
        }
        let (left, right) = (sides[0], sides[1])
        if left == nil, right == nil { throw Refusal.notFound("neither snapshot holds anything at '\(path)'") }
        var answer = Diff(kind: "text", left: left.map(Diff.Side.init), right: right.map(Diff.Side.init))
        let isFile = sides.allSatisfy { $0.map { $0.kind == .file } ?? true }
        let texts = isFile ? try sides.map { try $0.map { try bytes($0, context) } ?? [] } : [nil]
        guard texts.count == 2, let old = texts[0], let new = texts[1] else {
            return Diff(kind: "binary", left: answer.left, right: answer.right)
        }
        if left != nil, right != nil, old == new { return Diff(kind: "same", left: answer.left, right: answer.right) }
        if TextLines.isBinary(old) || TextLines.isBinary(new) {
            return Diff(kind: "binary", left: answer.left, right: answer.right)
        }
        (answer.hunks, answer.isTruncated) = hunks(TextLines(old), TextLines(new))
        return answer
    }

    private static func hunks(_ old: TextLines, _ new: TextLines) -> (hunks: [Diff.Hunk], isTruncated: Bool) {
        let numbers = TextLines.numbers(old, new)
        let edits = LineDiff.edits(from: numbers.left, to: numbers.right)
        var (hunks, lines): ([Diff.Hunk], Int) = ([], 0)
        func texts(_ sign: String, _ text: TextLines, _ range: Range<Int>) -> [[String]] {
            text.lines[range].map { [sign, String(decoding: $0, as: UTF8.self)] }
        }
        for group in UnifiedDiff.hunks(edits) {
            guard let first = group.first, let last = group.last else { continue }
            let before = min(UnifiedDiff.contextLines, first.left.lowerBound)
            let after = min(UnifiedDiff.contextLines, old.lines.count - last.left.upperBound)
            let left = (first.left.lowerBound - before)..<(last.left.upperBound + after)
            let right = (first.right.lowerBound - before)..<(last.right.upperBound + after)
            var hunk = Diff.Hunk(
                left: .init(start: left.lowerBound + 1, count: left.count),
                right: .init(start: right.lowerBound + 1, count: right.count), lines: [])
            var next = left.lowerBound
            for edit in group {
                hunk.lines += texts(" ", old, next..<edit.left.lowerBound) + texts("-", old, edit.left)
                hunk.lines += texts("+", new, edit.right)
                next = edit.left.upperBound
            }
            hunk.lines += texts(" ", old, next..<left.upperBound)
            lines += hunk.lines.count
            hunks.append(hunk)
            if lines > lineLimit { return (hunks, true) }
        }
        return (hunks, false)
    }
}

extension PathVersion.Change {
    var answer: String {
        switch self {
        case .added: "added"
        case .removed: "removed"
        case .renamedAway: "renamedAway"
        case .renamed: "renamed"
        default: "changed"
        }
    }
}
