// The operation log of roots, and taking operations back.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
public import Restoring
public import Roots
internal import SnapshotTree
internal import SystemPackage

extension Archive {
    /// What altered roots, by time, the oldest first.
    ///
    /// - Parameter root: of this root only; nil for all.
    public func operations(of root: ArchivedRoot? = nil) throws(ArchiverError) -> [LoggedOperation] {
        try facing {
            let number = try root.map { try self.number(of: $0) ?? -1 }
            let records = try store.catalogue.operations(root: number)
            let logs = Dictionary(grouping: records) { RootName(path: $0.record.rootPath, machine: $0.record.machine) }
                .values.map { OperationLog(replaying: $0).operations }
            return logs.flatMap(\.self).sorted { ($0.record.time, $0.id) < ($1.record.time, $1.id) }
        }
    }

    /// Takes back what altered `root` last: brings back the state before it, in the part that it concerned.
    ///
    /// Undoing again goes on to the operation before. The present state is captured first, so that nothing is lost, and
    /// `redo` brings it back. Only what differs is written. Interrupted, the same call finishes the job.
    ///
    /// - Parameters:
    ///   - root: a root on this machine; it is made anew where it does not exist.
    ///   - onAction: as for `restore`.
    /// - Returns: a result for each step.
    /// - Throws: `ArchiverError`, with the code `nothingToUndo` where `root` has fewer operations than are to be undone;
    ///   then nothing was touched. Another error may come after some steps are done: `operations` tells.
    public func undo(
        _ root: ArchivedRoot, _ options: ReversalOptions = ReversalOptions(), progress: OperationProgress? = nil,
        onAction: (@Sendable (RestoreAction) -> Void)? = nil
    ) throws(ArchiverError) -> [OperationResult] {
        try facing {
            try Reversing(self, root.path, .undo, progress, onAction).run(options)
        }
    }

    /// Takes back the last undo of `root`: brings back the state before it.
    ///
    /// As `undo` in everything else. What altered the root otherwise ends what can be redone.
    ///
    /// - Throws: `ArchiverError`, with the code `nothingToRedo` where fewer undos can be taken back than are to be.
    public func redo(
        _ root: ArchivedRoot, _ options: ReversalOptions = ReversalOptions(), progress: OperationProgress? = nil,
        onAction: (@Sendable (RestoreAction) -> Void)? = nil
    ) throws(ArchiverError) -> [OperationResult] {
        try facing {
            try Reversing(self, root.path, .redo, progress, onAction).run(options)
        }
    }
}

private struct RootName: Hashable {
    let path: [UInt8]
    let machine: MachineID
}
