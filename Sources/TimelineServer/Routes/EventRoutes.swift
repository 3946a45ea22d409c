// Sends events as they happen: server-sent events (WHATWG HTML, 9.2).

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

struct EventRoutes {
    let context: ServerContext

    /// How often to poll the archive for news: watchers in other processes write to it.
    private static let interval: Duration = .milliseconds(300)
    /// Every so many polls, a comment shows that the stream is alive, and the set of watched roots is checked.
    private static let quietTurns = 50

    func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("events") { request, _ in
            let last = request.headers[.lastEventIdentifier]
            let context = context
            return Response(
                status: .ok, headers: [.contentType: "text/event-stream; charset=utf-8"],
                body: ResponseBody { writer in
                    // A closed connection cancels the wait for the next poll.
                    try await request.body.consumeWithCancellationOnInboundClose { _ in
                        var news = try await context.run { try News(context, since: last) }
                        var turn = 0
                        while true {
                            let text: String
                            (news, text) = try await EventRoutes.poll(news, turn, context)
                            if !text.isEmpty { try await writer.write(ByteBuffer(string: text)) }
                            turn += 1
                            try await Task.sleep(for: EventRoutes.interval)
                        }
                    }
                    try await writer.finish(nil)
                })
        }
    }

    private static func poll(_ news: News, _ turn: Int, _ context: ServerContext) async throws -> (News, String) {
        try await context.run {
            var news = news
            let text = try news.take(withStatus: turn % quietTurns == 0)
            return (news, text)
        }
    }
}

/// What a stream of events has sent, and what is new.
private struct News: Sendable {
    private let context: ServerContext
    /// The last snapshot of each root that was sent; nil if a root had none.
    private var latest: [ArchivedRoot: ListedSnapshot] = [:]
    private var operations: [ArchivedRoot: OperationID?] = [:]
    /// The roots that were watched at the last check; nil before the first.
    private var watched: Set<ArchivedRoot>?

    private static let limit = 200

    private struct SnapshotNews: Encodable {
        let root: String
        let snapshot: SnapshotAnswer
    }

    private struct RootNews: Encodable {
        let root: String
    }

    /// The news since an event.
    ///
    /// - Parameter last: the id of the last event that the page received, which is a snapshot's.
    init(_ context: ServerContext, since last: String?) throws {
        self.context = context
        let known = last.flatMap { try? context.snapshot($0) }
        for root in try context.archive.roots() {
            latest[root] = try context.archive.snapshots(SnapshotQuery(root: root, newestFirst: true, limit: 1)).first
            operations[root] = try context.archive.operations(of: root).last?.id
        }
        if let known { latest[known.root] = known }
    }

    mutating func take(withStatus isDue: Bool) throws -> String {
        var text = isDue ? ": \n\n" : ""
        var pins: Set<ChunkID>?
        for root in try context.archive.roots() {
            let news: [ListedSnapshot]
            if let last = latest[root] {
                news = try context.archive.neighbours(of: last, isLater: true, limit: News.limit)
            } else {
                news = try context.archive.snapshots(SnapshotQuery(root: root, limit: News.limit))
            }
            for snapshot in news {
                let known = try pins ?? context.pins()
                pins = known
                let value = SnapshotNews(root: RootAnswer.id(root), snapshot: SnapshotAnswer(snapshot, known))
                text += try "id: \(snapshot.id.hex)\n" + News.event("snapshot", value)
            }
            if let last = news.last { latest[root] = last }
            if !news.isEmpty || isDue {
                let operation = try context.archive.operations(of: root).last?.id
                if operations[root] != .some(operation) {
                    operations[root] = operation
                    text += try News.event("operations", RootNews(root: RootAnswer.id(root)))
                }
            }
        }
        if isDue { try addStatus(to: &text) }
        return text
    }

    /// Adds the status of each root whose watcher has started or stopped.
    ///
    /// Other watchers are not asked: a watcher captures before it answers.
    private mutating func addStatus(to text: inout String) throws {
        let present = Set(try context.archive.rootSummaries().filter(\.isWatched).map(\.root))
        for root in present.symmetricDifference(watched ?? present) {
            text += try News.event("status", StatusAnswer(root, context))
        }
        watched = present
    }

    private static func event(_ name: String, _ value: some Encodable) throws -> String {
        "event: \(name)\ndata: \(String(decoding: try JSONAnswer.bytes(of: value), as: UTF8.self))\n\n"
    }
}

extension HTTPField.Name {
    fileprivate static let lastEventIdentifier = HTTPField.Name("Last-Event-ID") ?? .server
}
