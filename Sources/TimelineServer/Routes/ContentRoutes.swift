// The contents of files, complete or in part, and directories as tar files.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

struct ContentRoutes {
    let context: ServerContext

    /// The bytes read and sent per piece.
    private static let pieceBytes: UInt64 = 256 << 10

    func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("content/:snapshot") { request, route in
            let query = try Query(request)
            let id = try route.parameters.require("snapshot")
            return try await content(id, query, request)
        }
        api.get("archive/:snapshot") { request, route in
            let query = try Query(request)
            let id = try route.parameters.require("snapshot")
            return try await tar(id, query)
        }
    }

    private func content(_ id: String, _ query: Query, _ request: Request) async throws -> Response {
        let path = try query.path()
        let entry = try await context.run { try context.entry(path, in: context.snapshot(id)) }
        guard entry.kind == .file, let name = ContentName.of(entry) else { throw Refusal.bad("not a file: '\(path)'") }
        let tag = "\"\(name)\""
        var headers: HTTPFields = [
            .eTag: tag, .acceptRanges: "bytes", .cacheControl: "private, max-age=31536000, immutable",
            .contentType: MediaKind.of(entry.path),
            // A browser must not run anything from an archive.
            .contentSecurityPolicy: "sandbox; default-src 'none'",
        ]
        if query["download"] != nil { headers[.contentDisposition] = Disposition.attachment(entry.path) }
        if request.headers[.ifNoneMatch] == tag { return Response(status: .notModified, headers: headers) }
        var range = 0..<entry.size
        var status = HTTPResponse.Status.ok
        if let text = request.headers[.range], request.headers[.ifRange].map({ $0 == tag }) ?? true,
            let wanted = ByteRange.parse(text, size: entry.size)
        {
            guard !wanted.isEmpty else {
                return Response(status: .rangeNotSatisfiable, headers: [.contentRange: "bytes */\(entry.size)"])
            }
            (range, status) = (wanted, .partialContent)
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(entry.size)"
        }
        headers[.contentLength] = "\(range.count)"
        return Response(status: status, headers: headers, body: body(of: entry, range))
    }

    private func body(of entry: Entry, _ range: Range<UInt64>) -> ResponseBody {
        ResponseBody(contentLength: Int(range.count)) { [context] writer in
            var place = range.lowerBound
            while place < range.upperBound {
                let piece = place..<min(place + ContentRoutes.pieceBytes, range.upperBound)
                let bytes = try await context.run { try context.archive.read(entry, range: piece) }
                guard UInt64(bytes.count) == UInt64(piece.count) else {
                    throw Refusal.notFound("'\(entry.path)' ends early")
                }
                try await writer.write(ByteBuffer(bytes: bytes))
                place = piece.upperBound
            }
            try await writer.finish(nil)
        }
    }

    private func tar(_ id: String, _ query: Query) async throws -> Response {
        let path = try query.path()
        let (snapshot, top) = try await context.run {
            let snapshot = try context.snapshot(id)
            return (snapshot, try context.entry(path, in: snapshot))
        }
        let name = top.path.isRoot ? snapshot.id.short : String(decoding: top.path.name, as: UTF8.self)
        let headers: HTTPFields = [
            .contentType: "application/x-tar",
            .contentDisposition: Disposition.attachment(named: Array("\(name).tar".utf8)),
            .contentSecurityPolicy: "sandbox; default-src 'none'",
        ]
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { [context] writer in
                let pieces = TarPieces(context.archive, snapshot, top)
                while let bytes = try await context.run({ try pieces.next() }) {
                    try await writer.write(ByteBuffer(bytes: bytes))
                }
                try await writer.finish(nil)
            })
    }
}

/// A range of bytes in a request (RFC 9110, 14.2).
enum ByteRange {
    /// Parses a range.
    ///
    /// - Returns: nil if the header must be ignored, an empty range if no byte of the file is in it.
    static func parse(_ text: String, size: UInt64) -> Range<UInt64>? {
        guard text.hasPrefix("bytes="), !text.contains(",") else { return nil }
        let ends = text.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty {
            guard let count = UInt64(ends[1]) else { return nil }
            return (size - min(count, size))..<size
        }
        guard let first = UInt64(ends[0]) else { return nil }
        guard first < size else { return 0..<0 }
        if ends[1].isEmpty { return first..<size }
        guard let last = UInt64(ends[1]), last >= first else { return nil }
        return first..<min(last, size - 1) + 1
    }
}

/// The media type of a file, by the end of its name: only types that a browser shows and does not run.
enum MediaKind {
    private static let kinds = [
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
        "avif": "image/avif", "bmp": "image/bmp", "ico": "image/x-icon", "mp3": "audio/mpeg", "ogg": "audio/ogg",
        "oga": "audio/ogg", "opus": "audio/ogg", "flac": "audio/flac", "wav": "audio/wav", "m4a": "audio/mp4",
        "mp4": "video/mp4", "m4v": "video/mp4", "webm": "video/webm", "ogv": "video/ogg", "mov": "video/quicktime",
        "txt": "text/plain; charset=utf-8", "md": "text/plain; charset=utf-8", "log": "text/plain; charset=utf-8",
    ]

    static func of(_ path: RelativePath) -> String {
        let name = String(decoding: path.name, as: UTF8.self)
        let end = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
        return kinds[end] ?? "application/octet-stream"
    }
}

/// The name of a download (RFC 6266).
enum Disposition {
    static func attachment(_ path: RelativePath) -> String { attachment(named: Array(path.name)) }

    static func attachment(named name: [UInt8]) -> String {
        let text = name.map { byte -> String in
            let scalar = UnicodeScalar(byte)
            let isPlain =
                scalar.isASCII
                && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                    || ".-_".unicodeScalars.contains(scalar))
            if isPlain { return String(scalar) }
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.count == 1 ? "0" : "") + digits
        }.joined()
        return "attachment; filename*=UTF-8''\(text)"
    }
}
