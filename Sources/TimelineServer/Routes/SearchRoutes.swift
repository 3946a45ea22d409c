// Searches a whole history for names and for lines.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import Hummingbird
internal import NIOCore

struct SearchRoutes {
    let context: ServerContext

    /// The most results of one search.
    private static let limit = 5000

    func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("search") { request, _ in
            let query = try Query(request)
            let text = try query.required("q")
            let kind = query["kind"] ?? "names"
            guard kind == "names" || kind == "content" else { throw Refusal.bad("'kind' must be 'names' or 'content'") }
            guard kind == "names" || !text.isEmpty else { throw Refusal.bad("the search text is empty") }
            let root = try await Blocking.run { try context.root(query) }
            return Response(
                status: .ok, headers: [.contentType: "application/x-ndjson; charset=utf-8"],
                body: ResponseBody { writer in
                    do {
                        let lines = try await Blocking.run {
                            try kind == "names" ? names(text, root) : contents(text, root)
                        }
                        for line in lines { try await writer.write(ByteBuffer(bytes: line)) }
                    } catch let error as ArchiverError {
                        try await writer.write(
                            ByteBuffer(bytes: SearchRoutes.line(Failed(error: ErrorAnswer(error).error))))
                    }
                    try await writer.finish(nil)
                })
        }
    }

    private struct Ended: Encodable {
        var end = true
        let count: Int
        let isTruncated: Bool
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
        let last: SnapshotAnswer
        let isDeleted: Bool
    }

    private func names(_ text: String, _ root: ArchivedRoot) throws -> [[UInt8]] {
        let pins = try context.pins()
        // Text without wildcards matches anywhere in a name.
        let pattern = text.contains(where: { "*?[/".contains($0) }) ? text : text.isEmpty ? "*" : "*\(text)*"
        let found = try context.archive.names(matching: Array(pattern.utf8), in: root)
        let lines = try found.prefix(SearchRoutes.limit).map { found in
            let name = NameAnswer(found.path)
            return try SearchRoutes.line(
                Name(
                    path: name.path, pathBytes: name.pathBytes, kind: found.kind.answer, size: found.size,
                    versions: found.versionCount, first: SnapshotAnswer(found.first, pins),
                    last: SnapshotAnswer(found.last, pins), isDeleted: found.isDeleted))
        }
        return try lines + [SearchRoutes.line(Ended(count: lines.count, isTruncated: found.count > lines.count))]
    }

    private struct Line: Encodable {
        let path: String
        let pathBytes: String?
        let text: String
        let line: Int
        let first: SnapshotAnswer
        let last: SnapshotAnswer?
    }

    private func contents(_ text: String, _ root: ArchivedRoot) throws -> [[UInt8]] {
        let pins = try context.pins()
        let found = try context.archive.lines(
            matching: LineQuery(Array(text.utf8), isLiteral: true, ignoresCase: true), in: root)
        let lines = try found.lines.prefix(SearchRoutes.limit).map { found in
            let name = NameAnswer(found.path)
            return try SearchRoutes.line(
                Line(
                    path: name.path, pathBytes: name.pathBytes,
                    text: String(decoding: found.bytes, as: UTF8.self),
                    line: found.number, first: SnapshotAnswer(found.first, pins),
                    last: try found.gone.map { SnapshotAnswer(try context.lastWith($0), pins) }))
        }
        return try lines + [SearchRoutes.line(Ended(count: lines.count, isTruncated: found.lines.count > lines.count))]
    }

    private static func line(_ value: some Encodable) throws -> [UInt8] {
        try JSONAnswer.bytes(of: value) + [UInt8(ascii: "\n")]
    }
}

extension ServerContext {
    /// Returns the snapshot before `gone`, the last one with the line.
    fileprivate func lastWith(_ gone: ListedSnapshot) throws -> ListedSnapshot {
        try archive.neighbours(of: gone, isLater: false, limit: 1).first ?? gone
    }
}
