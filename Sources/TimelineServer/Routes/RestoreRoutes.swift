// Restoring by plans, undoing and redoing, and labels.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import Glibc
internal import Hummingbird
internal import SystemPackage

struct RestoreRoutes {
    let context: ServerContext
    private let plans = RestorePlans()

    init(context: ServerContext) { self.context = context }

    func add(to api: RouterGroup<BasicRequestContext>) {
        api.post("restore/plan") { request, _ in
            let wish = try await JSONAnswer.value(Wish.self, of: request)
            try context.requireWritable()
            return try await context.answer { context in
                let plan = try RestorePlan(wish.wish(context), in: context.archive)
                return try PlanAnswer(plan, named: plans.add(plan), context)
            }
        }
        api.post("restore/apply") { request, _ in
            let wish = try await JSONAnswer.value(Application.self, of: request)
            try context.requireWritable()
            return try await apply(wish.plan)
        }
        api.post("undo") { request, _ in
            try await reverse(request, as: "undid") { try $0.undo($1, ReversalOptions(steps: $2)) }
        }
        api.post("redo") { request, _ in
            try await reverse(request, as: "redid") { try $0.redo($1, ReversalOptions(steps: $2)) }
        }
        api.post("label") { request, _ in
            let wish = try await JSONAnswer.value(Labelling.self, of: request)
            try context.requireWritable()
            return try await context.answer { try RestoreRoutes.label(wish, $0) }
        }
    }

    // MARK: Plans

    /// One of the three kinds of restore.
    private struct Wish: Decodable, Sendable {
        struct Path: Decodable, Sendable {
            let path: String?
            let pathBytes: String?
            /// The path is restored from the first of these snapshots that has it.
            let snapshots: [String]
        }

        struct Lines: Decodable, Sendable {
            let path: String?
            let pathBytes: String?
            let older: String
            /// The id of a snapshot, or `disk`.
            let newer: String
            let hunks: [Int]
            let digest: String?
        }

        struct Copy: Decodable, Sendable {
            let path: String?
            let pathBytes: String?
            let snapshot: String
            let name: String
            /// nil for the directory in which the path is.
            let directory: String?
        }

        let paths: [Path]?
        let lines: Lines?
        let copy: Copy?

        func wish(_ context: ServerContext) throws -> RestoreWish {
            switch (paths, lines, copy) {
            case (let paths?, nil, nil):
                var known: [String: ListedSnapshot] = [:]
                return .paths(
                    try paths.map { path in
                        let snapshots = try path.snapshots.map { id in
                            let found = try known[id] ?? context.snapshot(id)
                            known[id] = found
                            return found
                        }
                        return (try Query.path(path.path, path.pathBytes), snapshots)
                    })
            case (nil, let lines?, nil):
                return .lines(
                    LineWish(
                        path: try Query.path(lines.path, lines.pathBytes), older: try context.snapshot(lines.older),
                        newer: lines.newer == "disk" ? nil : try context.snapshot(lines.newer),
                        hunks: Set(lines.hunks), digest: lines.digest))
            case (nil, nil, let copy?):
                let (path, snapshot) = (try Query.path(copy.path, copy.pathBytes), try context.snapshot(copy.snapshot))
                return .copy(
                    CopyWish(
                        path: path, snapshot: snapshot,
                        target: try Wish.target(copy.name, copy.directory, path, snapshot.root)))
            default: throw Refusal.bad("name either 'paths', 'lines' or 'copy'")
            }
        }

        /// Returns where a copy is written: beside the path, or in a directory that the user named.
        private static func target(
            _ name: String, _ directory: String?, _ path: RelativePath, _ root: ArchivedRoot
        ) throws -> FilePath {
            guard !name.isEmpty, name != ".", name != "..", !name.contains("/"), !name.contains("\0") else {
                throw Refusal.bad("'\(name.prefix(80))' is not a name for a file")
            }
            let slash = [UInt8(ascii: "/")]
            guard let directory, !directory.isEmpty else {
                guard root.isHere, !path.isRoot else {
                    throw Refusal.bad("name a directory for the copy")
                }
                let parent = path.parent.map { $0.isRoot ? [] : $0.bytes + slash } ?? []
                return FilePath(bytes: root.path.bytes + slash + parent + Array(name.utf8))
            }
            let whole = directory.hasPrefix("~/") ? Wish.home.map { $0 + directory.dropFirst() } : directory
            guard let whole, whole.hasPrefix("/"), !whole.contains("\0") else {
                throw Refusal.bad("'\(directory.prefix(200))' is not an absolute path of a directory")
            }
            return FilePath(bytes: Array(whole.utf8) + slash + Array(name.utf8))
        }

        private static var home: String? { getenv("HOME").map { String(cString: $0) } }
    }

    private struct Application: Decodable {
        let plan: String
    }

    private struct PlanAnswer: Encodable {
        struct Action: Encodable {
            let action: String
            let path: String
            let pathBytes: String?
            let bytes: UInt64
        }

        struct Counts: Encodable {
            var created = 0
            var replaced = 0
            var metadata = 0
            var deleted = 0
            var bytesWritten: UInt64 = 0

            init(_ actions: [RestorePlan.Action]) {
                for action in actions {
                    switch action.kind {
                    case .create: created += 1
                    case .replace: replaced += 1
                    case .metadata: metadata += 1
                    case .delete: deleted += 1
                    }
                    bytesWritten = bytesWritten.addingReportingOverflow(action.bytes).partialValue
                }
            }
        }

        /// A snapshot from which paths are restored.
        struct Source: Encodable {
            let snapshot: SnapshotAnswer
            let paths: Int
        }

        let plan: String
        let sources: [Source]
        let actions: [Action]
        /// For lines: what changes in the file on disk.
        let hunks: [DiffAnswer.Hunk]
        let counts: Counts
        /// How many paths are left alone because they are excluded from snapshots.
        let excluded: Int
        let warnings: [String]
        let isTruncated: Bool
        let nothingToDo: Bool
        /// The command that does the same; nil if there is none.
        let command: String?

        private static let limit = 500

        init(_ plan: RestorePlan, named name: String, _ context: ServerContext) throws {
            self.plan = name
            let pins = try context.pins()
            sources = Dictionary(grouping: plan.wanted, by: \.snapshot).map {
                Source(snapshot: SnapshotAnswer($0, pins), paths: $1.count)
            }.sorted { $0.snapshot.time < $1.snapshot.time }
            hunks = plan.hunks
            actions = plan.actions.prefix(PlanAnswer.limit).map { action in
                let name = NameAnswer(action.path)
                return Action(
                    action: action.kind.rawValue, path: name.path, pathBytes: name.pathBytes, bytes: action.bytes)
            }
            counts = Counts(plan.actions)
            (excluded, warnings) = (plan.excluded, plan.warnings)
            isTruncated = plan.actions.count > PlanAnswer.limit
            nothingToDo = plan.actions.isEmpty
            command = PlanAnswer.command(plan)
        }

        private static func command(_ plan: RestorePlan) -> String? {
            if case .lines = plan.wish { return nil }
            var place = "--root \(ShellWord.text(plan.root.path.bytes))"
            if case .copy(let copy) = plan.wish { place = "--target \(ShellWord.text(copy.target.bytes)) " + place }
            let commands = plan.wanted.map { wanted in
                // Relative to the root, so that it works in any directory.
                let word = wanted.path.isRoot ? [] : Array("::/".utf8) + wanted.path.bytes
                return "archiver restore \(ShellWord.text(Array(wanted.snapshot.id.short.utf8) + word)) \(place)"
            }
            return commands.joined(separator: "; ")
        }
    }

    private struct Result: Encodable {
        struct Problem: Encodable {
            let path: String
            let message: String
        }

        var message = ""
        var operation: String?
        /// How many operations there are to undo.
        var count = 0
        var created = 0
        var replaced = 0
        var metadata = 0
        var deleted = 0
        var excluded = 0
        var problemPaths: [Problem] = []

        mutating func add(_ result: RestoreResult) {
            if let operation = result.operation {
                self.operation = operation.hex
                count += 1
            }
            created += result.created
            replaced += result.replaced
            metadata += result.metadataOnly
            deleted += result.deleted
            excluded += result.excluded
            problemPaths += result.problems.prefix(100).map {
                Problem(path: NameAnswer($0.path).path, message: $0.message)
            }
        }
    }

    private struct Conflict: Encodable {
        let error: ErrorAnswer.Detail
        let plan: PlanAnswer
    }

    private func apply(_ name: String) async throws -> Response {
        guard let plan = plans.remove(name) else {
            throw Refusal.notFound("the plan has expired; plan again")
        }
        let present = try await context.run { try RestorePlan(plan.wish, in: context.archive) }
        guard present.digest == plan.digest else {
            let refusal = Refusal(409, "changed", "the directory has changed since; here is a new plan")
            let conflict = Conflict(
                error: ErrorAnswer(refusal).error, plan: try PlanAnswer(present, named: plans.add(present), context))
            return JSONAnswer.response(conflict, status: .conflict)
        }
        return try await context.answer { context in
            var result = Result()
            result.add(try plan.apply(in: context.archive))
            result.message = plan.text
            if result.excluded > 0 { result.message += "; \(result.excluded) excluded from snapshots were left alone" }
            return result
        }
    }

    // MARK: Undoing and redoing

    private struct Reversal: Decodable {
        let root: String
        let count: Int?
    }

    private func reverse(
        _ request: Request, as verb: String,
        _ body: @escaping @Sendable (Archive, ArchivedRoot, Int) throws -> [OperationResult]
    ) async throws -> Response {
        let wish = try await JSONAnswer.value(Reversal.self, of: request)
        try context.requireWritable()
        return try await context.answer { context in
            let results = try body(context.archive, context.root(named: wish.root), max(1, wish.count ?? 1))
            var answer = Result()
            for result in results { answer.add(result.restore) }
            let messages = results.map { result in
                result.operation?.record.reversalText ?? "\(verb) an operation whose record is lost"
            }
            answer.message = messages.joined(separator: "; ")
            return answer
        }
    }

    // MARK: Labels

    private struct Labelling: Decodable, Sendable {
        let snapshot: String
        let label: String
    }

    private struct Labelled: Encodable {
        let snapshot: SnapshotAnswer?
    }

    private static func label(_ wish: Labelling, _ context: ServerContext) throws -> Labelled {
        let snapshot = try context.snapshot(wish.snapshot)
        if wish.label.isEmpty {
            try context.archive.removeLabel(of: .snapshot(snapshot))
        } else {
            try context.archive.label(.snapshot(snapshot), as: wish.label)
        }
        return Labelled(snapshot: try context.answer(context.snapshot(snapshot.id.hex)))
    }
}
