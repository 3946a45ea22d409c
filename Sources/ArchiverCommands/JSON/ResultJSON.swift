// The results of captures, restores, checks and repairs, and errors, as JSON.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import SystemPackage

/// The result of capturing one root; `snapshot` is null if nothing had changed.
struct CaptureJSON: Encodable {
    let root: FilePath
    let result: CaptureResult

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: root.bytes, forKey: .root)
        try object.encode(result.snapshot.map(SnapshotJSON.init), forKey: .snapshot)
        try object.encode(result.latest.id.hex, forKey: .latest)
        try object.encode(result.laterPrevious?.id.hex, forKey: .laterPrevious)
        try object.encode(result.related.map(RelatedRootJSON.init), forKey: .related)
        try object.encode(result.changedPaths.map(ChangedPathJSON.init), forKey: .changedPaths)
        try object.encode(result.problems.map(ProblemJSON.init), forKey: .problemPaths)
        try object.encode(result.problemCount, forKey: .problems)
    }
}

/// One step of a restore.
struct RestoreActionJSON: Encodable {
    let action: RestoreAction

    init(_ action: RestoreAction) { self.action = action }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(action.kind.rawValue, forKey: .action)
        try object.encode(bytes: action.path.bytes, forKey: .path)
        try object.encode(action.entryKind.word, forKey: .kind)
        try object.encode(action.bytes, forKey: .bytes)
    }
}

/// The result of a restore, or the plan of a dry run.
struct RestoreJSON: Encodable {
    /// The restored snapshot; nil for a state before the root existed.
    let id: SnapshotID?
    let result: RestoreResult
    /// The steps; nil unless this was a dry run.
    let actions: [RestoreAction]?

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(id?.hex, forKey: .id)
        try object.encode(actions != nil, forKey: .dryRun)
        try object.encodeIfPresent(actions?.map(RestoreActionJSON.init), forKey: .actions)
        try object.encode(bytes: result.destination.bytes, forKey: .destination)
        try object.encode(result.created, forKey: .created)
        try object.encode(result.replaced, forKey: .replaced)
        try object.encode(result.metadataOnly, forKey: .metadata)
        try object.encode(result.deleted, forKey: .deleted)
        try object.encode(result.skipped, forKey: .skipped)
        try object.encode(result.excluded, forKey: .excluded)
        try object.encode(result.repositories, forKey: .repositories)
        try object.encode(result.bytesWritten, forKey: .bytesWritten)
        try object.encode(result.isComplete, forKey: .complete)
        try object.encode(result.isInterrupted, forKey: .interrupted)
        try object.encode(result.failed, forKey: .failed)
        try object.encode(result.problems.map(RestoreProblemJSON.init), forKey: .problemPaths)
        try object.encode(result.problemCount, forKey: .problems)
        try object.encode(result.warnings, forKey: .warnings)
        try object.encode(result.warningCount, forKey: .warningCount)
        try object.encode(result.before?.id.hex, forKey: .before)
        try object.encode(result.undo?.id.hex, forKey: .undo)
        try object.encode(result.operation?.hex, forKey: .operation)
    }
}

/// A path that could not be restored.
struct RestoreProblemJSON: Encodable {
    let problem: RestoreProblem

    init(_ problem: RestoreProblem) { self.problem = problem }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: problem.path.bytes, forKey: .path)
        try object.encode(problem.message, forKey: .message)
        try object.encode(CommandRemedy.text(problem.remedy), forKey: .remedy)
        try object.encode(problem.isDamage, forKey: .damage)
    }
}

/// The result of a check.
struct CheckJSON: Encodable {
    let segments: Int
    let blocks: Int
    let chunks: Int
    let snapshots: Int
    let goodSnapshots: Int
    let gaps: Int
    let operations: Int
    let states: Int
    let bytesRead: UInt64
    let findings: [CheckFindingJSON]
    let findingCount: Int
    let spareDamage: [String]
    let spareDamageCount: Int
    let warnings: [String]

    init(_ result: CheckResult) {
        segments = result.segments
        blocks = result.blocks
        chunks = result.chunks
        snapshots = result.snapshots
        goodSnapshots = result.goodSnapshots
        gaps = result.gaps
        operations = result.operations
        states = result.states
        bytesRead = result.bytesRead
        findings = result.findings.map(CheckFindingJSON.init)
        findingCount = result.findingCount
        spareDamage = result.spareDamage
        spareDamageCount = result.spareDamageCount
        warnings = result.warnings
    }
}

/// A finding of a check.
struct CheckFindingJSON: Encodable {
    private let finding: CheckFinding

    init(_ finding: CheckFinding) { self.finding = finding }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(finding.message, forKey: .message)
        try object.encodeIfPresent(finding.snapshot?.hex, forKey: .snapshot)
        if let path = finding.path { try object.encode(bytes: path.bytes, forKey: .path) }
        try object.encodeIfPresent(CommandRemedy.text(finding.remedy), forKey: .remedy)
    }
}

/// The contents of a rebuilt catalogue.
struct RepairJSON: Encodable {
    let segments: Int
    let chunks: Int
    let snapshots: Int
    let gaps: Int
    let operations: Int
    let states: Int
    let cutBytes: Int
    let findings: [String]
    let lost: [String]
    let moved: [String]

    init(_ repair: CatalogueRepair) {
        segments = repair.segments
        chunks = repair.chunks
        snapshots = repair.snapshots
        gaps = repair.gaps
        operations = repair.operations
        states = repair.states
        cutBytes = repair.cutBytes
        findings = repair.findings
        lost = repair.lost
        moved = repair.moved
    }
}

/// An error as `--json` shows it: `{"error": {"code": …, "message": …}}`.
struct FailureJSON: Encodable {
    let failure: Failure

    init(_ failure: Failure) { self.failure = failure }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        var error = object.nestedContainer(keyedBy: JSONKey.self, forKey: .error)
        try error.encode(failure.code, forKey: .code)
        try error.encode(failure.message, forKey: .message)
        try error.encode(failure.remedy, forKey: .remedy)
        if let path = failure.path { try error.encode(bytes: path, forKey: .path) }
        if !failure.candidates.isEmpty {
            try error.encode(failure.candidates.map(SelectionJSON.init), forKey: .candidates)
        }
    }
}
