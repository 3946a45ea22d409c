// A command that changes a root, as an operation that can be undone.

public import ArchiveFormat
public import ArchiveStorage
internal import FileIO
internal import Restoring
public import Roots
public import SystemPackage

/// A command that runs on a root: the state before it is captured, and its run is in the operation log.
///
/// Where this ends without `end`, as a process that is killed does, the operation counts as interrupted and can be undone.
public final class CommandRun {
    /// The directory that the command is to change.
    public let root: FilePath
    /// The state before it.
    public let before: ListedSnapshot
    /// What the operation log calls it.
    public let id: OperationID

    private let archive: Archive
    private let journal: OperationJournal
    private let share: FileLock

    fileprivate init(_ archive: Archive, _ root: FilePath, name: String?, progress: OperationProgress?) throws {
        self.archive = archive
        self.root = root
        before = try archive.sync(root, progress: progress)
        share = try RootLock.running(root, in: archive.store.layout)
        journal = OperationJournal(archive.store, root, .run, name: name)
        let lock = try RootLock.capturing(root, in: archive.store.layout)
        id = try journal.begin(before: before.id, nil, at: .root)
        withExtendedLifetime(lock) {}
    }

    /// Captures what the command has left, and notes that it has ended; to be called once.
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

    /// Takes back what altered the root last: the command's work, where `isAlone` says that nothing else did.
    public func undo(progress: OperationProgress? = nil) throws(ArchiverError) -> [OperationResult] {
        try archive.undo(ArchivedRoot(here: root), progress: progress)
    }

    /// What else altered the root since the run began, or ended its work then.
    private func otherOperations() throws -> [StoredOperation] {
        guard let number = try archive.store.catalogue.root(path: root.bytes, machine: Machine.id)?.number else {
            return []
        }
        let records = try archive.store.catalogue.operations(root: number)
        guard let own = records.firstIndex(where: { $0.id == id }) else { return [] }
        return records[(own + 1)...].filter { $0.record.kind != .mark }
    }
}

/// What a command did to its root.
public struct CommandRunResult: Sendable {
    /// The state after it.
    public let after: ListedSnapshot
    /// How many paths differ from the state before; directories of which only the time differs do not count.
    public let changes: ChangeCounts
    /// Whether the state after it is another snapshot than the state before.
    public let hasChanged: Bool
    /// Whether nothing else is known to have altered the root meanwhile: then `Archive.undo` takes back the command's
    /// work alone, and what was edited by hand meanwhile.
    public let isAlone: Bool
}

extension Archive {
    /// Captures the state of a directory before a command changes it, and enters the command's run into the operation log.
    ///
    /// - Parameter name: what the user calls the run.
    /// - Throws: `ArchiverError` where the state cannot be captured; nothing is entered then.
    public func beginRun(
        on directory: FilePath, name: String? = nil, progress: OperationProgress? = nil
    ) throws(ArchiverError) -> CommandRun {
        try facing {
            if let name { try Mark.check(name) }
            return try CommandRun(
                self, RootDirectory.resolvedAsFarAsItExists(directory), name: name, progress: progress)
        }
    }
}
