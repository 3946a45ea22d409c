// Directories of snapshots, and the differences of two snapshots.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import Hummingbird
internal import Timeline

struct TreeRoutes {
    let context: ServerContext

    private static let entryLimit = 500
    private static let changeLimit = 5000

    func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("tree") { request, _ in
            let query = try Query(request)
            return try await context.answer { try TreeRoutes.tree(query, $0) }
        }
        api.get("changes") { request, _ in
            let query = try Query(request)
            return try await context.answer { try TreeRoutes.changes(query, $0) }
        }
    }

    // MARK: A directory

    private struct Listing: Encodable {
        struct Item: Encodable {
            let name: String
            let path: String
            let pathBytes: String?
            let kind: String
            let size: UInt64
            let modified: Int64
            let permissions: String
            let content: String?
            let target: String?
            let change: String?

            init(_ entry: Entry, _ change: String?) {
                let answer = NameAnswer(entry.path)
                name = String(decoding: entry.path.name, as: UTF8.self)
                (path, pathBytes) = (answer.path, answer.pathBytes)
                kind = entry.kind.word
                size = entry.size
                modified = entry.modified.milliseconds
                permissions = "0" + String(entry.permissions, radix: 8)
                content = ContentName.of(entry)
                if case .linkTarget(let bytes) = entry.content {
                    target = String(decoding: bytes, as: UTF8.self)
                } else {
                    target = nil
                }
                self.change = change
            }
        }

        let entries: [Item]
        let cursor: String?
    }

    private static func tree(_ query: Query, _ context: ServerContext) throws -> Listing {
        let snapshot = try context.snapshot(query.required("snapshot"))
        let path = try query.path()
        let older = try query["against"].map(context.snapshot)
        let last = try query["cursor"].map { text throws(Refusal) in
            guard let bytes = Base64URL.decoded(text) else { throw Refusal.bad("'cursor' is invalid") }
            return try Query.path(bytes)
        }
        let present = try context.archive.entry(at: path, in: snapshot)
        guard present?.kind == .directory || older != nil else {
            throw Refusal.notFound("snapshot \(snapshot.id.short) has no directory '\(path)'")
        }
        var entries: [Entry] = []
        if present?.kind == .directory {
            entries = try context.archive.children(of: path, in: snapshot, after: last, limit: entryLimit)
        }
        let isWhole = entries.count < entryLimit
        guard let older else { return listing(entries.map { .init($0, nil) }, entries.last, isWhole: isWhole) }
        let (changes, gone) = try changes(at: path, from: older, to: snapshot, context)
        // Removed entries are shown where they were.
        let end = isWhole ? nil : entries.last?.path
        let between = gone.filter { entry in
            last.map { $0 < entry.path } ?? true && (end.map { entry.path < $0 } ?? true)
        }
        let all = (entries + between).sorted { $0.path < $1.path }
        let gonePaths = Set(between.map(\.path))
        return listing(
            all.map { .init($0, gonePaths.contains($0.path) ? "removed" : changes[$0.path]) }, entries.last,
            isWhole: isWhole)
    }

    private static func listing(_ items: [Listing.Item], _ last: Entry?, isWhole: Bool) -> Listing {
        Listing(entries: items, cursor: isWhole ? nil : last.map { Base64URL.encoded($0.path.bytes) })
    }

    /// Returns the changes of the entries directly in a directory, and the entries removed from it.
    private static func changes(
        at path: RelativePath, from older: ListedSnapshot, to snapshot: ListedSnapshot, _ context: ServerContext
    ) throws -> ([RelativePath: String], [Entry]) {
        var changes: [RelativePath: String] = [:]
        var gone: [Entry] = []
        try context.archive.differences(from: older, to: snapshot, at: path) { difference in
            guard !difference.isDirectoryTimeOnly, let rest = path.suffix(of: difference.path),
                let name = rest.components.first
            else { return true }
            let child = path.appending(Array(name))
            if child != difference.path {
                if changes[child] == nil { changes[child] = Difference.Kind.modified.rawValue }
            } else if let left = difference.left, difference.right == nil {
                gone.append(left)
            } else {
                changes[child] = difference.kind.rawValue
            }
            return true
        }
        return (changes, gone)
    }

    // MARK: Differences

    private struct Changes: Encodable {
        struct Side: Encodable {
            let size: UInt64
            let content: String?

            init(_ entry: Entry) { (size, content) = (entry.size, ContentName.of(entry)) }
        }

        struct Change: Encodable {
            let path: String
            let pathBytes: String?
            let kind: String
            let change: String
            let left: Side?
            let right: Side?

            init(_ entry: Entry, _ left: Entry?, _ right: Entry?) {
                let name = NameAnswer(entry.path)
                (path, pathBytes) = (name.path, name.pathBytes)
                kind = entry.kind.word
                change = (left == nil ? Difference.Kind.added : right == nil ? .removed : .modified).rawValue
                (self.left, self.right) = (left.map(Side.init), right.map(Side.init))
            }
        }

        struct Counts: Encodable {
            var added = 0
            var modified = 0
            var removed = 0
        }

        var changes: [Change] = []
        var isTruncated = false
        var counts = Counts()
    }

    private static func changes(_ query: Query, _ context: ServerContext) throws -> Changes {
        let limit = try query.number("limit", in: 1...changeLimit, usual: 1000)
        let path = try query.path()
        var answer = Changes()
        func add(_ left: Entry?, _ right: Entry?) {
            guard let entry = right ?? left, entry.path != path else { return }
            let change = Changes.Change(entry, left, right)
            if answer.changes.count < limit { answer.changes.append(change) } else { answer.isTruncated = true }
            switch (left, right) {
            case (nil, _): answer.counts.added += 1
            case (_, nil): answer.counts.removed += 1
            default: answer.counts.modified += 1
            }
        }
        let (name, end) = (try query.required("a"), try query.required("b"))
        if end == "disk" {
            let left = try context.snapshot(name)
            guard left.root.isHere else { throw Refusal.bad("'\(left.root.path)' is on another machine") }
            try context.archive.differences(from: left, toDirectory: left.root.path, at: path) { difference in
                if !difference.isDirectoryTimeOnly { add(difference.left, difference.right) }
                return true
            }
            return answer
        }
        let right = try context.snapshot(end)
        if name == "none" {
            try context.archive.forEachEntry(in: right, at: path) { entry in
                add(nil, entry)
                return true
            }
        } else {
            try context.archive.differences(from: context.snapshot(name), to: right, at: path) { difference in
                if !difference.isDirectoryTimeOnly { add(difference.left, difference.right) }
                return true
            }
        }
        return answer
    }
}
