// What was deleted and is still gone, page by page.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import Hummingbird

struct DeletedRoutes {
    let context: ServerContext

    /// The most paths of one answer.
    private static let limit = 500

    func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("deleted") { request, _ in
            let query = try Query(request)
            return try await context.answer { try DeletedRoutes.deleted(query, $0) }
        }
    }

    private struct Deleted: Encodable {
        struct Item: Encodable {
            let path: String
            let pathBytes: String?
            let kind: String
            let size: UInt64
            let contained: Int
            let deletedIn: SnapshotAnswer
            let lastIn: SnapshotAnswer

            init(_ deleted: DeletedPath, _ pins: Set<ChunkID>) {
                let name = NameAnswer(deleted.path)
                (path, pathBytes) = (name.path, name.pathBytes)
                (kind, size, contained) = (deleted.kind.word, deleted.size, deleted.contained)
                deletedIn = SnapshotAnswer(deleted.deletedIn, pins)
                lastIn = SnapshotAnswer(deleted.lastIn, pins)
            }
        }

        let deleted: [Item]
        /// How many there are in all.
        let count: Int
        /// Where the next answer continues; nil at the end.
        let cursor: String?
        /// How many snapshots are damaged, so that it is unknown what they deleted.
        let damagedCount: Int
    }

    private static func deleted(_ query: Query, _ context: ServerContext) throws -> Deleted {
        let root = try context.root(query)
        let limit = try query.number("limit", in: 1...limit, usual: limit)
        let last = try query["cursor"].map { text throws(Refusal) in try DeletedCursor(text) }
        let all = try context.archive.deletedPaths(in: root)
        let rest = last.map { last in all.drop { !last.isBefore($0) } } ?? all[...]
        let pins = try context.pins()
        return Deleted(
            deleted: rest.prefix(limit).map { Deleted.Item($0, pins) }, count: all.count,
            cursor: rest.count > limit ? rest.prefix(limit).last.map { DeletedCursor($0).text } : nil,
            damagedCount: try context.archive.damagedHistory(of: root).count)
    }
}

/// A place in the list of deleted paths, which stays the same when paths before it come or go.
struct DeletedCursor {
    private let place: HistoryPlace
    private let path: RelativePath

    init(_ deleted: DeletedPath) { (place, path) = (HistoryPlace(deleted.deletedIn), deleted.path) }

    init(_ text: String) throws(Refusal) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let sequence = Int64(parts[0]), let seconds = Int64(parts[1]),
            let bytes = Base64URL.decoded(String(parts[2]))
        else { throw Refusal.bad("'cursor' is invalid") }
        place = HistoryPlace(sequence: sequence, seconds: seconds)
        path = try Query.path(bytes)
    }

    var text: String { "\(place.sequence).\(place.seconds).\(Base64URL.encoded(path.bytes))" }

    /// Whether a path comes later in the list: the latest deletion is first, then the order is that of paths.
    func isBefore(_ other: DeletedPath) -> Bool {
        let otherPlace = HistoryPlace(other.deletedIn)
        return otherPlace == place ? path < other.path : otherPlace < place
    }
}
