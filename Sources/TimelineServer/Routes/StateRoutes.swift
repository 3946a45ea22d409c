// Saved states: titles, versions, values and differences.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import Hummingbird
internal import SavedStates
internal import Timeline

struct StateRoutes {
    let context: ServerContext

    private static let limit = 500
    /// The bytes of a value that are shown at most.
    private static let valueLimit = 1 << 20
    private static let fieldLimit = 2000

    func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("states") { _, _ in
            try await context.answer { context in
                let titles = try context.archive.stateTitles()
                return Titles(
                    titles: titles.map { .init(title: $0.title, count: $0.count, latest: $0.latest.milliseconds) })
            }
        }
        api.get("states/versions") { request, _ in
            let query = try Query(request)
            return try await context.answer { try StateRoutes.versions(query, $0) }
        }
        api.get("states/value") { request, _ in
            let query = try Query(request)
            return try await context.answer { try StateRoutes.value(query, $0) }
        }
        api.get("states/diff") { request, _ in
            let query = try Query(request)
            return try await context.answer { try StateRoutes.differences(query, $0) }
        }
    }

    private struct Titles: Encodable {
        struct Title: Encodable {
            let title: String
            let count: Int
            let latest: Int64
        }

        let titles: [Title]
    }

    private struct Versions: Encodable {
        struct Version: Encodable {
            let id: String
            let short: String
            let time: Int64
            let label: String?
            let storedBytes: UInt64
        }

        let versions: [Version]
    }

    private static func versions(_ query: Query, _ context: ServerContext) throws -> Versions {
        let limit = try query.number("limit", in: 1...limit, usual: limit)
        let states = try context.archive.states(
            StateQuery(title: query.required("title"), newestFirst: true, limit: limit))
        return Versions(
            versions: states.map {
                .init(
                    id: $0.id.hex, short: $0.id.short, time: $0.time.milliseconds, label: $0.label,
                    storedBytes: $0.storedBytes)
            })
    }

    private struct Value: Encodable {
        let text: String
        let isTruncated: Bool
    }

    private static func value(_ query: Query, _ context: ServerContext) throws -> Value {
        let content = try context.archive.content(of: state(query.required("id"), context))
        var bytes: [UInt8] = []
        try content.writeJSON(pretty: true) { piece in
            if bytes.count < valueLimit { bytes += piece }
        }
        return Value(
            text: String(decoding: bytes.prefix(valueLimit), as: UTF8.self), isTruncated: bytes.count > valueLimit)
    }

    private struct Differences: Encodable {
        struct Field: Encodable {
            let field: String
            let left: String?
            let right: String?
        }

        let fields: [Field]
        let isTruncated: Bool
    }

    private static func differences(_ query: Query, _ context: ServerContext) throws -> Differences {
        let sides = try ["a", "b"].map { try context.archive.content(of: state(query.required($0), context)).value() }
        guard let left = sides[0], let right = sides[1] else {
            throw Refusal.bad("these states are too large to compare field by field")
        }
        let all = try StateComparison.differences(from: left, to: right)
        let fields = try all.prefix(fieldLimit).map { difference in
            Differences.Field(
                field: difference.path, left: try difference.old?.compact(limit: 4096),
                right: try difference.new?.compact(limit: 4096))
        }
        return Differences(fields: fields, isTruncated: all.count > fields.count)
    }

    private static func state(_ id: String, _ context: ServerContext) throws -> ListedState {
        guard id.count >= 4, id.allSatisfy(\.isHexDigit) else { throw Refusal.bad("'\(id.prefix(80))' is not an id") }
        guard case .state(let state) = try context.archive.selected(SnapshotSelector(id), of: nil, orElsewhere: true)
        else { throw Refusal.notFound("there is no such state") }
        return state
    }
}
