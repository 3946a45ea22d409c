// Searches a whole history for names and for lines.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import Hummingbird
internal import NIOCore

struct SearchRoutes {
    let context: ServerContext
    private let searches: Searches

    init(context: ServerContext) {
        self.context = context
        searches = Searches(context.options.searchHooks)
    }

    /// The most results of one search.
    private static let limit = 5000

    func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("search") { request, _ in
            let query = try Query(request)
            let text = try query.required("q")
            let kind = query["kind"] ?? "names"
            guard kind == "names" || kind == "content" else { throw Refusal.bad("'kind' must be 'names' or 'content'") }
            guard kind == "names" || !text.isEmpty else { throw Refusal.bad("the search text is empty") }
            let root = try await context.run { try context.root(query) }
            let scope = try Scope(query)
            let session = request.headers[.session] ?? ""
            return Response(
                // Waiting for the end of the connection takes what follows on it.
                status: .ok, headers: [.contentType: "application/x-ndjson; charset=utf-8", .connection: "close"],
                body: ResponseBody { writer in
                    let search = try searches.begin(for: session, waits: kind == "content") { search in
                        do throws(ArchiverError) {
                            try kind == "names" ? names(text, root, scope, search) : lines(text, root, scope, search)
                        } catch {
                            search.send(Failed(error: ErrorAnswer(error).error))
                        }
                    }
                    defer { search.end(.closed) }
                    try await request.body.consumeWithInboundCloseHandler { _ in
                        for await line in search.lines {
                            try await writer.write(ByteBuffer(bytes: line))
                            search.makeRoom()
                        }
                        if search.ending == .replaced {
                            let error = Refusal(409, "replaced", "a newer search of this page has ended this one")
                            try await writer.write(
                                ByteBuffer(bytes: Search.line(Failed(error: ErrorAnswer(error).error))))
                        }
                    } onInboundClosed: {
                        search.end(.closed)
                    }
                    try await writer.finish(nil)
                })
        }
    }

    /// Where to search, and which results are wanted.
    private struct Scope: Sendable {
        /// The file or directory.
        let path: RelativePath
        /// Only what was added, changed or deleted at this time or later.
        let since: Timestamp?
        let isDeletedOnly: Bool

        init(_ query: Query) throws(Refusal) {
            (path, since, isDeletedOnly) = (try query.path(), try query.time("since"), query["deleted"] == "1")
        }

        func includes(_ name: FoundName) -> Bool {
            guard path.contains(name.path), !isDeletedOnly || name.isDeleted else { return false }
            return since.map { name.lastChange.time >= $0 } ?? true
        }

        func includes(_ line: FoundLine) -> Bool {
            guard !isDeletedOnly || line.gone != nil else { return false }
            guard let since else { return true }
            return line.first.time >= since || line.gone.map { $0.time >= since } ?? false
        }
    }

    private struct Ended: Encodable {
        var end = true
        let count: Int
        let isTruncated: Bool
        /// How many snapshots (for names) or files (for lines) are damaged, so that there may be more results.
        let damagedCount: Int
    }

    private struct Failed: Encodable {
        var end = true
        let error: ErrorAnswer.Detail
    }

    private struct Name: Encodable {
        let path: String
        let pathBytes: String?
        let kind: String
        let size: UInt64
        let versions: Int
        let first: SnapshotAnswer
        let lastChangedIn: SnapshotAnswer
        let lastIn: SnapshotAnswer
        let deletedIn: SnapshotAnswer?

        init(_ found: FoundName, _ pins: Set<ChunkID>) {
            let name = NameAnswer(found.path)
            (path, pathBytes) = (name.path, name.pathBytes)
            (kind, size, versions) = (found.kind.word, found.size, found.versionCount)
            first = SnapshotAnswer(found.first, pins)
            lastChangedIn = SnapshotAnswer(found.lastChange, pins)
            lastIn = SnapshotAnswer(found.lastIn, pins)
            deletedIn = found.deletedIn.map { SnapshotAnswer($0, pins) }
        }
    }

    private func names(
        _ text: String, _ root: ArchivedRoot, _ scope: Scope, _ search: Search
    ) throws(ArchiverError) {
        let pins = try context.pins()
        let pattern = text.isEmpty ? Array("*".utf8) : NameWords.pattern(Array(text.utf8))
        var results = Results(search)
        try context.archive.forEachName(matching: pattern, in: root, isCancelled: { search.ending != nil }) { found in
            scope.includes(found) ? results.add(Name(found, pins)) : search.ending == nil
        }
        results.finish(damaged: try context.archive.damagedHistory(of: root).count)
    }

    private struct Line: Encodable {
        let path: String
        let pathBytes: String?
        let text: String
        let line: Int
        let first: SnapshotAnswer
        let lastIn: SnapshotAnswer
        let goneIn: SnapshotAnswer?
        /// Whether it is gone because the file was deleted.
        let deleted: Bool

        init(_ found: FoundLine, _ pins: Set<ChunkID>) {
            let name = NameAnswer(found.path)
            (path, pathBytes) = (name.path, name.pathBytes)
            (text, line) = (LineText.found(found), found.number)
            first = SnapshotAnswer(found.first, pins)
            lastIn = SnapshotAnswer(found.lastIn, pins)
            goneIn = found.gone.map { SnapshotAnswer($0, pins) }
            deleted = found.wasDeleted
        }
    }

    private func lines(
        _ text: String, _ root: ArchivedRoot, _ scope: Scope, _ search: Search
    ) throws(ArchiverError) {
        let pins = try context.pins()
        var results = Results(search)
        let progress = OperationProgress()
        let query = LineQuery(Array(text.utf8), isLiteral: true, ignoresCase: true, path: scope.path)
        let damaged = try context.archive.forEachLine(
            matching: query, in: root, progress: progress, isCancelled: { search.report(progress) != nil }
        ) { found in
            scope.includes(found) ? results.add(Line(found, pins)) : search.ending == nil
        }
        results.finish(damaged: damaged.count)
    }

    /// Counts the results of a search and sends them.
    private struct Results {
        private let search: Search
        private var count = 0
        private var isTruncated = false

        init(_ search: Search) {
            self.search = search
            search.count(0)
        }

        /// Sends the next result.
        ///
        /// - Returns: whether more are wanted.
        mutating func add(_ result: some Encodable) -> Bool {
            isTruncated = count == SearchRoutes.limit
            if isTruncated { return false }
            count += 1
            search.send(result)
            search.count(count)
            return search.ending == nil
        }

        func finish(damaged: Int) {
            search.send(Ended(count: count, isTruncated: isTruncated, damagedCount: damaged))
        }
    }
}
