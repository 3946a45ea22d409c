// Roots, the timeline, snapshots, sessions, operations, status and usage.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import Hummingbird
internal import SystemPackage
internal import Timeline

struct HistoryRoutes {
    let context: ServerContext

    /// The most snapshots, sessions and buckets of one answer.
    private static let listLimit = 500
    private static let bucketLimit = 400

    func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("roots") { _, _ in try await context.answer(HistoryRoutes.roots) }
        api.get("timeline") { request, _ in
            let query = try Query(request)
            return try await context.answer { try HistoryRoutes.timeline(query, $0) }
        }
        api.get("snapshots") { request, _ in
            let query = try Query(request)
            return try await context.answer { try HistoryRoutes.snapshots(query, $0) }
        }
        api.get("sessions") { request, _ in
            let query = try Query(request)
            return try await context.answer { try HistoryRoutes.sessions(query, $0) }
        }
        api.get("operations") { request, _ in
            let query = try Query(request)
            return try await context.answer { try OperationsAnswer($0.root(query), $0) }
        }
        api.get("status") { request, _ in
            let query = try Query(request)
            return try await context.answer { try StatusAnswer($0.root(query), $0) }
        }
        api.get("usage") { request, _ in
            let query = try Query(request)
            return try await context.answer { try UsageAnswer($0.root(query), $0) }
        }
    }

    // MARK: Roots

    private struct Roots: Encodable {
        let roots: [RootAnswer]
        /// The root that the page shows first.
        let initial: String?
        /// The state of the archive before these were read, for comparison with the one in which events begin.
        let change: String
    }

    private static func roots(_ context: ServerContext) throws -> Roots {
        let change = try context.archive.changeNumber()
        let pins = try context.pins()
        let roots = try context.archive.rootSummaries().map { summary in
            let name = NameAnswer(summary.root.path.bytes)
            let first = try context.archive.snapshots(SnapshotQuery(root: summary.root, limit: 1)).first
            return RootAnswer(
                id: RootAnswer.id(summary.root), path: name.path, pathBytes: name.pathBytes, host: summary.root.host,
                here: summary.root.isHere, watched: summary.isWatched, snapshots: summary.snapshotCount,
                first: first.map { SnapshotAnswer($0, pins) }, latest: summary.latest.map { SnapshotAnswer($0, pins) })
        }
        return Roots(roots: roots, initial: context.options.root.map(RootAnswer.id), change: "\(change)")
    }

    // MARK: The timeline

    private struct TimelineAnswer: Encodable {
        struct Bucket: Encodable {
            let start: Int64
            let snapshots: Int
            let added: UInt64
            let modified: UInt64
            let removed: UInt64
            let storedBytes: UInt64
        }

        struct Label: Encodable {
            let snapshot: String
            let time: Int64
            let label: String
        }

        struct Restore: Encodable {
            let snapshot: String?
            let time: Int64
            let kind: String
        }

        struct Gap: Encodable {
            let start: Int64
            let end: Int64
            let cause: String
            let detail: String?
        }

        struct Work: Encodable {
            let start: Int64
            var end: Int64
        }

        let start: Int64
        let end: Int64
        let first: Int64
        let last: Int64
        let snapshots: Int
        let bucketMilliseconds: Int64
        let buckets: [Bucket]
        let labels: [Label]
        let restores: [Restore]
        let gaps: [Gap]
        let work: [Work]
    }

    private static func timeline(_ query: Query, _ context: ServerContext) throws -> TimelineAnswer {
        let root = try context.root(query)
        let limit = try query.number("buckets", in: 1...bucketLimit, usual: bucketLimit)
        let timeline = context.timeline(of: root)
        let span = try timeline.span() ?? TimelineSpan(first: .now, last: .now, count: 0)
        let (from, to) = (try query.time("from") ?? span.first, try query.time("to") ?? span.last)
        guard from <= to else { throw Refusal.bad("'from' is later than 'to'") }
        let found = try timeline.buckets(from: from, to: to, limit: limit)
        let gaps = try context.archive.gaps(of: root, since: from, until: to).suffix(listLimit)
        let operations = try context.archive.operations(of: root).filter {
            from <= $0.record.time && $0.record.time <= to
        }
        return TimelineAnswer(
            start: from.milliseconds, end: to.milliseconds,
            first: span.first.milliseconds, last: span.last.milliseconds,
            snapshots: span.count, bucketMilliseconds: found.milliseconds,
            buckets: found.buckets.map {
                TimelineAnswer.Bucket(
                    start: $0.start.milliseconds, snapshots: $0.moments, added: $0.changes.added,
                    modified: $0.changes.modified, removed: $0.changes.removed, storedBytes: $0.storedBytes)
            },
            labels: try labels(of: root, from: from, to: to, context),
            restores: operations.suffix(listLimit).map {
                TimelineAnswer.Restore(
                    snapshot: $0.after?.hex, time: $0.record.time.milliseconds, kind: $0.record.kind.rawValue)
            },
            gaps: gaps.map {
                TimelineAnswer.Gap(
                    start: $0.start.milliseconds, end: $0.end.milliseconds, cause: $0.cause.rawValue,
                    detail: $0.detail)
            }, work: HistoryRoutes.work(try timeline.sessions(from: from, to: to), apart: found.milliseconds))
    }

    /// Returns the spans of work; sessions closer together than a bucket are merged, which bounds their number.
    private static func work(_ sessions: [WorkSession], apart: Int64) -> [TimelineAnswer.Work] {
        var found: [TimelineAnswer.Work] = []
        for session in sessions {
            let (start, end) = (session.first.time.milliseconds, session.last.time.milliseconds)
            if let last = found.last, start < last.end.addingReportingOverflow(apart).partialValue {
                found[found.count - 1].end = max(last.end, end)
            } else {
                found.append(TimelineAnswer.Work(start: start, end: end))
            }
        }
        return found
    }

    private static func labels(
        of root: ArchivedRoot, from: Timestamp, to: Timestamp, _ context: ServerContext
    ) throws -> [TimelineAnswer.Label] {
        let labelled = try context.archive.labelledSnapshots(of: root, since: from, until: to, limit: listLimit)
        return labelled.reversed().map { snapshot in
            TimelineAnswer.Label(
                snapshot: snapshot.id.hex, time: snapshot.time.milliseconds, label: snapshot.label ?? "")
        }
    }

    // MARK: Snapshots and sessions

    private struct Snapshots: Encodable {
        let snapshots: [SnapshotAnswer]
        let hasMore: Bool
    }

    private static func snapshots(_ query: Query, _ context: ServerContext) throws -> Snapshots {
        let pins = try context.pins()
        func answer(_ found: [ListedSnapshot], hasMore: Bool = false) -> Snapshots {
            Snapshots(snapshots: found.map { SnapshotAnswer($0, pins) }, hasMore: hasMore)
        }
        if let id = query["id"] { return answer([try context.snapshot(id)]) }
        let root = try context.root(query)
        let timeline = context.timeline(of: root)
        if let time = try query.time("at") { return answer(try timeline.moment(at: time).map { [$0] } ?? []) }
        let limit = try query.number("limit", in: 1...listLimit, usual: listLimit)
        let place: TimelinePlace<ListedSnapshot>
        if let id = query["after"] {
            place = .after(try context.snapshot(id))
        } else if let id = query["before"] {
            place = .before(try context.snapshot(id))
        } else {
            place = .end
        }
        // Request one more to know whether there are more.
        let found = try timeline.moments(place, limit: limit + 1)
        guard found.count > limit else { return answer(found) }
        if case .after = place { return answer(Array(found.prefix(limit)), hasMore: true) }
        return answer(Array(found.suffix(limit)), hasMore: true)
    }

    private struct Sessions: Encodable {
        struct Session: Encodable {
            let first: SnapshotAnswer
            let last: SnapshotAnswer
            let start: Int64
            let end: Int64
            let snapshots: Int
            let added: UInt64
            let modified: UInt64
            let removed: UInt64
            let storedBytes: UInt64
        }

        let sessions: [Session]
        let hasMore: Bool
    }

    private static func sessions(_ query: Query, _ context: ServerContext) throws -> Sessions {
        let pins = try context.pins()
        let limit = try query.number("limit", in: 1...listLimit, usual: listLimit)
        let timeline = context.timeline(of: try context.root(query))
        let found = try timeline.sessions(
            from: query.time("from") ?? Timestamp(milliseconds: .min),
            to: query.time("to") ?? Timestamp(milliseconds: .max))
        let listed: [WorkSession]
        switch query["order"] ?? "newest" {
        case "newest": listed = found.suffix(limit).reversed()
        case "oldest": listed = Array(found.prefix(limit))
        default: throw Refusal.bad("'order' must be 'newest' or 'oldest'")
        }
        let answers = listed.map { session in
            Sessions.Session(
                first: SnapshotAnswer(session.first, pins), last: SnapshotAnswer(session.last, pins),
                start: session.first.time.milliseconds, end: session.last.time.milliseconds,
                snapshots: session.snapshots, added: session.changes.added, modified: session.changes.modified,
                removed: session.changes.removed, storedBytes: session.storedBytes)
        }
        return Sessions(sessions: answers, hasMore: found.count > limit)
    }
}
