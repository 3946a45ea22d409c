// A command that changes a root, as an operation that can be undone.

public import ArchiveFormat
public import ArchiveStorage
public import Exclusions
internal import FileIO
internal import Restoring
public import Roots
public import SystemPackage

/// A command that runs on a root: the state before it is captured, and its run is recorded as an operation.
///
/// If `end` is never called, for example because the process was killed, the operation counts as interrupted and can be
/// undone.
public final class CommandRun {
    /// The directory that the command changes.
    public let root: FilePath
    /// The state before the command.
    public let before: ListedSnapshot
    /// The id of the operation.
    public let id: OperationID

    private let archive: Archive
    private let journal: OperationJournal
    private let share: FileLock

    fileprivate init(
        _ archive: Archive, _ root: FilePath, name: String?, _ newRootExclusions: ExclusionRules,
        progress: OperationProgress?
    ) throws {
        self.archive = archive
        self.root = root
        before = try archive.sync(root, newRootExclusions: newRootExclusions, progress: progress)
        share = try RootLock.running(root, in: archive.store.layout)
        journal = OperationJournal(archive.store, root, .run, name: name)
        let lock = try RootLock.capturing(root, in: archive.store.layout)
        id = try journal.begin(before: before.id, nil, at: .all)
        withExtendedLifetime(lock) {}
    }

    /// Captures the state after the command and records that the run has ended; call it once.
    ///
    /// - Throws: `ArchiverError`, as for a capture and for writing to the archive.
    public func end(progress: OperationProgress? = nil) throws(ArchiverError) -> CommandRunResult {
        try facing {
            let after = try archive.sync(root, progress: progress)
            let lock = try RootLock.capturing(root, in: archive.store.layout)
            let others = try otherOperations()
            try journal.complete(after: after.id)
            withExtendedLifetime(lock) {}
            return CommandRunResult(
                after: after, changes: try archive.changeCounts(from: before, to: after),
                hasChanged: after.id != before.id,
                isAlone: others.isEmpty && share.isTheOnlyShare())
        }
    }

    /// Undoes the last operation on the root: this run, if `isAlone` was true.
    ///
    /// - Throws: `ArchiverError`, as `Archive.undo`.
    public func undo(progress: OperationProgress? = nil) throws(ArchiverError) -> [OperationResult] {
        try archive.undo(ArchivedRoot(here: root), progress: progress)
    }

    /// The other operations on the root that began or completed since this run began.
    private func otherOperations() throws -> [StoredOperation] {
        guard let number = try archive.store.catalogue.root(path: root.bytes, machine: Machine.id)?.number else {
            return []
        }
        let records = try archive.store.catalogue.operations(root: number)
        guard let own = records.firstIndex(where: { $0.id == id }) else { return [] }
        return records[(own + 1)...].filter { $0.record.kind != .mark }
    }
}

/// The result of a command's run.
public struct CommandRunResult: Sendable {
    /// The state after the command.
    public let after: ListedSnapshot
    /// The number of paths that differ from the state before, without directories of which only the time differs.
    public let changes: ChangeCounts
    /// Whether the state after the command is another snapshot than the state before.
    public let hasChanged: Bool
    /// Whether no other operation or run changed the root during the run, as far as is known.
    ///
    /// Then `Archive.undo` undoes only the command's work, and edits made by hand during the run.
    public let isAlone: Bool
}

extension Archive {
    /// Captures a directory before a command changes it, and records the command's run as an operation.
    ///
    /// - Parameters:
    ///   - name: the user's name for the run.
    ///   - newRootExclusions: the exclusions of a directory that has no snapshot yet.
    /// - Throws: `ArchiverError` if the state cannot be captured; then nothing is recorded.
    public func beginRun(
        on directory: FilePath, name: String? = nil, newRootExclusions: ExclusionRules = ExclusionRules(),
        progress: OperationProgress? = nil
    ) throws(ArchiverError) -> CommandRun {
        try facing {
            if let name { try Mark.check(name) }
            return try CommandRun(
                self, RootDirectory.resolvedAsFarAsItExists(directory), name: name, newRootExclusions,
                progress: progress)
        }
    }
}
