// Undoes and redoes: restores in place the states that the log names.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Restoring
internal import Roots
internal import SnapshotTree
internal import SystemPackage

/// Undoes operations on one root, the last one first.
struct Reversing {
    private let archive: Archive
    private let rootPath: FilePath
    private let reversal: LoggedOperation.Reversal
    private let progress: OperationProgress?
    private let onAction: (@Sendable (RestoreAction) -> Void)?

    init(
        _ archive: Archive, _ root: FilePath, _ reversal: LoggedOperation.Reversal, _ progress: OperationProgress?,
        _ onAction: (@Sendable (RestoreAction) -> Void)?
    ) throws {
        self.archive = archive
        rootPath = try RootDirectory.resolvedAsFarAsItExists(root)
        self.reversal = reversal
        self.progress = progress
        self.onAction = onAction
    }

    func run(_ options: ReversalOptions) throws -> [OperationResult] {
        if options.isDryRun { return try report(steps(options.steps)) }
        // Held from reading the log to the end, so that two simultaneous undos go two steps back.
        let lock = try RootLock.capturing(rootPath, in: archive.store.layout)
        // All sources are checked before the first step is applied.
        let steps = try steps(options.steps)
        let sources = try steps.map(sources)
        var results: [OperationResult] = []
        for (step, sources) in zip(steps, sources) where results.last?.restore.isInterrupted != true {
            results.append(try apply(step, sources, options.interruption))
        }
        withExtendedLifetime(lock) {}
        return results
    }

    /// The root's operations.
    private func log() throws -> OperationLog {
        let root = try archive.store.catalogue.root(path: rootPath.bytes, machine: Machine.id)
        let records = try root.map { try archive.store.catalogue.operations(root: $0.number) } ?? []
        return OperationLog(replaying: records)
    }

    /// The next `count` steps.
    private func steps(_ count: Int) throws -> [OperationLog.Step] {
        let steps = try log().steps(reversal)
        guard steps.count >= count else { throw nothingLeft(steps.count) }
        return Array(steps.prefix(max(0, count)))
    }

    private func apply(
        _ step: OperationLog.Step, _ sources: [RestoreSource], _ interruption: RestoreInterruption?
    ) throws -> OperationResult {
        let unfinished = try log().unfinished
        let journal = OperationJournal(
            archive.store, rootPath, reversal.kind, of: step.target, isResumption: step.resumed != nil)
        return result(step, sources, unfinished, try restore(step, sources, interruption).run(journal))
    }

    private func restore(
        _ step: OperationLog.Step, _ sources: [RestoreSource], _ interruption: RestoreInterruption?
    ) -> RestoreInPlace {
        RestoreInPlace(
            sources, rootPath: rootPath, reversed: reversed(step),
            leavesRepositories: (step.resumed ?? step.operation?.record)?.leavesRepositories ?? false,
            interruption: interruption, progress: progress, onAction: onAction)
    }

    /// What `step` undoes; its tree is unknown if that snapshot is lost.
    private func reversed(_ step: OperationLog.Step) -> ReversedOperation {
        // With several parts, that snapshot need not be the one that each part was restored to.
        let operation = step.operation
        let snapshot = operation?.record.parts.isEmpty == true ? operation?.record.snapshot : nil
        let result = try? (snapshot ?? operation?.after).map { try archive.store.snapshot($0) }
        return ReversedOperation(tree: result?.tree, isRestore: snapshot != nil)
    }

    private func report(_ steps: [OperationLog.Step]) throws -> [OperationResult] {
        let sources = try steps.map(sources)
        let unfinished = try log().unfinished
        return try steps.indices.map { index in
            let restore = restore(steps[index], sources[index], nil)
            // This step need not restore paths that a later step decides about.
            let others = sources[(index + 1)...].flatMap { $0.map(\.path) }
            return result(
                steps[index], sources[index], index == 0 ? unfinished : nil, try restore.plan(besides: others))
        }
    }

    private func result(
        _ step: OperationLog.Step, _ sources: [RestoreSource], _ unfinished: LoggedOperation?, _ result: RestoreResult
    ) -> OperationResult {
        OperationResult(
            operation: step.operation, isResumed: step.resumed != nil, unfinished: unfinished,
            snapshot: sources.first?.snapshot, restore: result)
    }

    // MARK: What is restored

    /// The state before the operation that `step` undoes, in each part that it concerned.
    private func sources(of step: OperationLog.Step) throws -> [RestoreSource] {
        if let resumed = step.resumed {
            let wanted = try snapshot(resumed.snapshot)
            return try resumed.allParts.map { try RestoreSource(wanted, at: $0, in: archive.nodes) }
        }
        guard let record = step.operation?.record, let before = try snapshot(record.before) else {
            // The root did not exist, so the operation concerns everything in it.
            return [try RestoreSource(nil, at: .root, in: archive.nodes)]
        }
        return try record.allParts.map { part in
            try RestoreSource(before, at: try concerned(part, in: before), in: archive.nodes)
        }
    }

    /// `path`, or the first directory on the way to it that did not exist before, because the operation created it.
    private func concerned(_ path: RelativePath, in before: ListedSnapshot) throws -> RelativePath {
        let tree = Tree(before.tree, in: archive.nodes)
        var directory = RelativePath.root
        for component in path.components {
            directory = directory.appending(component)
            if try tree.entry(at: directory) == nil { return directory }
        }
        return path
    }

    private func snapshot(_ id: SnapshotID?) throws -> ListedSnapshot? {
        guard let id else { return nil }
        let filter = Catalogue.SnapshotFilter(idPrefix: id.hex, limit: 1)
        if let found = try archive.store.catalogue.snapshots(filter).first {
            try archive.checkListing(of: found)
            if found.isOf(ArchivedRoot(here: rootPath)) { return found }
            throw ArchiverError(
                .otherRoot,
                "the operation on \(rootPath) would bring back snapshot \(id.short), which belongs to \(found.root.path)",
                remedy: Advice.restoreCopy.text,
                path: rootPath)
        }
        throw ArchiverError(
            .noSuchSnapshot, "the archive no longer holds the state to restore, snapshot \(id.short)",
            remedy: Advice.restoreAnother.text, path: rootPath)
    }

    // MARK: Errors

    private func nothingLeft(_ count: Int) -> ArchiverError {
        let verb = reversal.rawValue
        let message =
            switch (count, reversal) {
            case (0, .undo): "there is nothing to undo in \(rootPath)"
            case (0, .redo): "there is nothing to redo in \(rootPath)"
            case (1, _): "there is only one operation to \(verb) in \(rootPath)"
            default: "there are only \(count) operations to \(verb) in \(rootPath)"
            }
        return ArchiverError(
            reversal == .undo ? .nothingToUndo : .nothingToRedo, message,
            remedy: Advice.listOperations.text, path: rootPath)
    }
}

extension LoggedOperation.Reversal {
    /// The operation kind that the log records for it.
    fileprivate var kind: OperationKind {
        switch self {
        case .undo: .undo
        case .redo: .redo
        }
    }
}
