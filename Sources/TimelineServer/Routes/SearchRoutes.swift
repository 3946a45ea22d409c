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
            let session = request.headers[.session] ?? ""
            return Response(
                // Waiting for the end of the connection takes what follows on it.
                status: .ok, headers: [.contentType: "application/x-ndjson; charset=utf-8", .connection: "close"],
                body: ResponseBody { writer in
                    let search = try searches.begin(for: session) { search in
                        do throws(ArchiverError) {
                            try kind == "names" ? names(text, root, search) : lines(text, root, search)
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

    private struct Ended: Encodable {
        var end = true
        let count: Int
        let isTruncated: Bool
        /// How many snapshots (for names) or files (for lines) are damaged, so that there may be more results.
        let damaged: Int
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
        let lastIn: SnapshotAnswer
        let deletedIn: SnapshotAnswer?

        init(_ found: FoundName, _ pins: Set<ChunkID>) {
            let name = NameAnswer(found.path)
            (path, pathBytes) = (name.path, name.pathBytes)
            (kind, size, versions) = (found.kind.answer, found.size, found.versionCount)
            first = SnapshotAnswer(found.first, pins)
            lastIn = SnapshotAnswer(found.lastIn, pins)
            deletedIn = found.deletedIn.map { SnapshotAnswer($0, pins) }
        }
    }

    private func names(_ text: String, _ root: ArchivedRoot, _ search: Search) throws(ArchiverError) {
        let pins = try context.pins()
        // Text without wildcards matches anywhere in a name.
        let pattern = text.contains(where: { "*?[/".contains($0) }) ? text : text.isEmpty ? "*" : "*\(text)*"
        var results = Results(search)
        try context.archive.forEachName(
            matching: Array(pattern.utf8), in: root, isCancelled: { search.ending != nil }
        ) { found in
            results.add(Name(found, pins))
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

        init(_ found: FoundLine, _ pins: Set<ChunkID>) {
            let name = NameAnswer(found.path)
            (path, pathBytes) = (name.path, name.pathBytes)
            (text, line) = (String(decoding: found.bytes, as: UTF8.self), found.number)
            first = SnapshotAnswer(found.first, pins)
            lastIn = SnapshotAnswer(found.lastIn, pins)
            goneIn = found.gone.map { SnapshotAnswer($0, pins) }
        }
    }

    private func lines(_ text: String, _ root: ArchivedRoot, _ search: Search) throws(ArchiverError) {
        let pins = try context.pins()
        var results = Results(search)
        let damaged = try context.archive.forEachLine(
            matching: LineQuery(Array(text.utf8), isLiteral: true, ignoresCase: true), in: root,
            isCancelled: { search.ending != nil }
        ) { found in
            results.add(Line(found, pins))
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
            search.send(Ended(count: count, isTruncated: isTruncated, damaged: damaged))
        }
    }
}
