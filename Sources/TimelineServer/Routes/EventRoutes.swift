// Sends events as they happen: server-sent events (WHATWG HTML, 9.2).

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Timeline

struct EventRoutes {
    let context: ServerContext

    /// How often to poll the archive for news: watchers in other processes write to it.
    private static let interval: Duration = .milliseconds(300)

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
                        while true {
                            let text: String
                            (news, text) = try await EventRoutes.poll(news, context)
                            if !text.isEmpty { try await writer.write(ByteBuffer(string: text)) }
                            try await Task.sleep(for: EventRoutes.interval)
                        }
                    }
                    try await writer.finish(nil)
                })
        }
    }

    private static func poll(_ news: News, _ context: ServerContext) async throws -> (News, String) {
        try await context.run {
            var news = news
            let text = try news.take()
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
    /// What others may change besides: by forgetting, labelling, moving roots.
    private var marks: [ArchivedRoot: Marks] = [:]
    /// The roots that were watched at the last check.
    private var watched: Set<ArchivedRoot> = []
    /// Why the archive cannot be found at its place; nil if it can.
    private var absence: String?
    /// The archive's change number at the beginning, until it was sent; what happened before may not be among the news.
    private var beginning: ChangeNumber?
    /// The archive's change number at the last look at its snapshots, and at its marks.
    private var numbers: (snapshots: ChangeNumber?, marks: ChangeNumber?)
    /// When to look at the marks, at the watchers, and when to report how far they watched.
    private var due:
        (marks: ContinuousClock.Instant, watchers: ContinuousClock.Instant, report: ContinuousClock.Instant)

    private static let limit = 200
    private static let lookInterval: Duration = .milliseconds(1200)
    private static let reportInterval: Duration = .seconds(5)

    private struct Beginning: Encodable {
        let change: String
    }

    private struct SnapshotNews: Encodable {
        let root: String
        let snapshot: SnapshotAnswer
    }

    private struct RootNews: Encodable {
        let root: String
    }

    private struct WatchNews: Encodable {
        let root: String
        let lastWatched: Int64
    }

    private struct ArchiveNews: Encodable {
        /// nil if the archive is back.
        let message: String?
    }

    private struct Marks: Hashable {
        let count: Int
        let first: SnapshotID?
        let labels: [SnapshotID: String]
        let pins: Int

        init(_ root: ArchivedRoot, _ archive: Archive) throws {
            count = try archive.snapshotCount(SnapshotQuery(root: root))
            first = try archive.snapshots(SnapshotQuery(root: root, limit: 1)).first?.id
            let labelled = try archive.labelledSnapshots(
                of: root, since: Timestamp(seconds: .min), until: Timestamp(seconds: .max), limit: News.limit)
            labels = Dictionary(labelled.map { ($0.id, $0.label ?? "") }) { $1 }
            pins = try archive.pins().count
        }

        /// Whether the difference is more than `added` new snapshots.
        func differs(from other: Marks, added: Int) -> Bool {
            count != other.count + added || first != other.first || labels != other.labels || pins != other.pins
        }
    }

    /// How many snapshots of each root were sent since its marks were read.
    private var added: [ArchivedRoot: Int] = [:]

    /// The news since an event.
    ///
    /// - Parameter last: the id of the last event that the page received, which is a snapshot's.
    init(_ context: ServerContext, since last: String?) throws {
        self.context = context
        let now = ContinuousClock.now
        due = (now + News.lookInterval, now, now)
        let known = last.flatMap { try? context.snapshot($0) }
        numbers = (nil, try context.archive.changeNumber())
        context.options.onStream()
        for root in try context.archive.roots() {
            latest[root] = try context.archive.snapshots(SnapshotQuery(root: root, newestFirst: true, limit: 1)).first
            operations[root] = try context.archive.operations(of: root).last?.id
            marks[root] = try Marks(root, context.archive)
        }
        if let known { latest[known.root] = known }
        watched = try context.archive.watchedRoots()
        // What happened while all this was read may be in it, and is no news then. A page that has not seen it has an
        // older number, and reads its data again.
        beginning = try context.archive.changeNumber()
    }

    mutating func take() throws -> String {
        var text = ""
        if let number = beginning {
            beginning = nil
            text += try News.event("begun", Beginning(change: "\(number)"))
        }
        let absence = context.absence
        if absence != self.absence {
            self.absence = absence
            text += try News.event("archive", ArchiveNews(message: absence))
        }
        if absence != nil { return text }
        let (number, now) = (try context.archive.changeNumber(), ContinuousClock.now)
        if number != numbers.snapshots {
            numbers.snapshots = number
            try addSnapshots(to: &text)
        }
        if number != numbers.marks, now >= due.marks {
            (numbers.marks, due.marks) = (number, now + News.lookInterval)
            try addMarks(to: &text)
        }
        if now >= due.watchers {
            due.watchers = now + News.lookInterval
            try addWatchers(to: &text)
        }
        if now >= due.report {
            due.report = now + News.reportInterval
            text += ": \n\n"
            let until = Timestamp.now.milliseconds
            for root in watched {
                text += try News.event("watched", WatchNews(root: RootAnswer.id(root), lastWatched: until))
            }
        }
        return text
    }

    private mutating func addSnapshots(to text: inout String) throws {
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
            added[root, default: 0] += news.count
            let operation = try context.archive.operations(of: root).last?.id
            if operations[root] != .some(operation) {
                operations[root] = operation
                text += try News.event("operations", RootNews(root: RootAnswer.id(root)))
            }
        }
    }

    /// Adds what others have changed besides making snapshots.
    private mutating func addMarks(to text: inout String) throws {
        let roots = try context.archive.roots()
        if Set(roots) != Set(marks.keys) { text += try News.event("roots", RootNews(root: "")) }
        var now: [ArchivedRoot: Marks] = [:]
        for root in roots {
            let found = try Marks(root, context.archive)
            now[root] = found
            if let known = marks[root], found.differs(from: known, added: added[root] ?? 0) {
                context.timeline(of: root).recount()
                text += try News.event("changed", RootNews(root: RootAnswer.id(root)))
            }
        }
        (marks, added) = (now, [:])
    }

    /// Adds the status of each root whose watcher has started or stopped.
    ///
    /// Other watchers are not asked: a watcher captures before it answers.
    private mutating func addWatchers(to text: inout String) throws {
        let present = try context.archive.watchedRoots()
        for root in present.symmetricDifference(watched) {
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
