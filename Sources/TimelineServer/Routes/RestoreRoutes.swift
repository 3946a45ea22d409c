// Restoring by plans, undoing and redoing, and labels.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
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
                let plan = try RestorePlan(context.snapshot(wish.snapshot), wish.relativePaths(), in: context.archive)
                return PlanAnswer(plan, named: plans.add(plan))
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

    private struct Wish: Decodable, Sendable {
        let snapshot: String
        let paths: [String]?
        let pathBytes: [String]?

        func relativePaths() throws -> [RelativePath] {
            let plain = try (paths ?? []).map { try Query.path(Array($0.utf8)) }
            let others = try (pathBytes ?? []).map { text in
                guard let bytes = Base64URL.decoded(text) else { throw Refusal.bad("'pathBytes' is not base64url") }
                return try Query.path(bytes)
            }
            return plain + others
        }
    }

    private struct Application: Decodable {
        let plan: String
    }

    private struct PlanAnswer: Encodable {
        struct Action: Encodable {
            let kind: String
            let path: String
            let pathBytes: String?
            let bytes: UInt64
        }

        struct Counts: Encodable {
            var written = 0
            var removed = 0
            var bytes: UInt64 = 0
        }

        let plan: String
        let actions: [Action]
        let counts: Counts
        /// How many paths are left alone because they are excluded from snapshots.
        let excluded: Int
        let remarks: [String]
        let isTruncated: Bool
        let nothingToDo: Bool
        let command: String

        private static let limit = 500

        init(_ plan: RestorePlan, named name: String) {
            self.plan = name
            actions = plan.actions.prefix(PlanAnswer.limit).map { action in
                let name = NameAnswer(action.path)
                return Action(
                    kind: action.kind.answer, path: name.path, pathBytes: name.pathBytes, bytes: action.bytes)
            }
            var counts = Counts()
            for action in plan.actions {
                if action.kind == .delete { counts.removed += 1 } else { counts.written += 1 }
                counts.bytes = counts.bytes.addingReportingOverflow(action.bytes).partialValue
            }
            self.counts = counts
            (excluded, remarks) = (plan.excluded, plan.remarks)
            isTruncated = plan.actions.count > PlanAnswer.limit
            nothingToDo = plan.actions.isEmpty
            let root = ShellText.quoted("\(plan.snapshot.root.path)")
            let commands = plan.paths.map { path in
                // Relative to the root, so that it works in any directory.
                let word = path.isRoot ? "" : "::/\(path)"
                return "archiver restore \(ShellText.quoted("\(plan.snapshot.id.short)\(word)")) --root \(root)"
            }
            command = commands.joined(separator: "; ")
        }
    }

    private struct Result: Encodable {
        struct Problem: Encodable {
            let path: String
            let message: String
        }

        var text = ""
        var operation: String?
        /// How many operations there are to undo.
        var steps = 0
        var written = 0
        var removed = 0
        var excluded = 0
        var problems: [Problem] = []

        mutating func add(_ result: RestoreResult) {
            if let operation = result.operation {
                self.operation = operation.short
                steps += 1
            }
            written += result.created + result.replaced + result.metadata
            removed += result.deleted
            excluded += result.excluded
            problems += result.problems.prefix(100).map { Problem(path: NameAnswer($0.path).path, message: $0.message) }
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
        let present = try await context.run { try RestorePlan(plan.snapshot, plan.paths, in: context.archive) }
        guard present.digest == plan.digest else {
            let refusal = Refusal(409, "changed", "the directory has changed since; here is a new plan")
            let conflict = Conflict(
                error: ErrorAnswer(refusal).error, plan: PlanAnswer(present, named: plans.add(present)))
            return JSONAnswer.response(conflict, status: .conflict)
        }
        return try await context.answer { context in
            var result = Result()
            result.add(try context.archive.restore(plan.wanted))
            result.text = "restored \(plan.paths.count == 1 ? "1 path" : "\(plan.paths.count) paths")"
            if result.excluded > 0 { result.text += "; \(result.excluded) excluded from snapshots were left alone" }
            return result
        }
    }

    // MARK: Undoing and redoing

    private struct Reversal: Decodable {
        let root: String
        let steps: Int?
    }

    private func reverse(
        _ request: Request, as verb: String,
        _ body: @escaping @Sendable (Archive, ArchivedRoot, Int) throws -> [OperationResult]
    ) async throws -> Response {
        let wish = try await JSONAnswer.value(Reversal.self, of: request)
        try context.requireWritable()
        return try await context.answer { context in
            let results = try body(context.archive, context.root(named: wish.root), max(1, wish.steps ?? 1))
            var answer = Result()
            for result in results { answer.add(result.restore) }
            let texts = results.map { result in
                result.operation?.record.reversalText ?? "\(verb) an operation whose record is lost"
            }
            answer.text = texts.joined(separator: "; ")
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

extension RestoreAction.Kind {
    fileprivate var answer: String {
        switch self {
        case .create: "create"
        case .replace: "overwrite"
        case .metadata: "metadata"
        case .delete: "remove"
        }
    }
}

/// Quotes words for a shell.
enum ShellText {
    static func quoted(_ word: String) -> String {
        let isPlain = word.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || ("0"..."9").contains($0) || "/.:_-+@,".unicodeScalars.contains($0)
        }
        return isPlain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }
}
