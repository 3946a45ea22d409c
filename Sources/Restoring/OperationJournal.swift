// Records one operation in its root's log: before its first change, and when it is complete.

package import ArchiveFormat
package import ArchiveStorage
package import FileIO
internal import Roots
package import SystemPackage

/// Records one operation on a root; the caller must hold the root's capture lock.
package final class OperationJournal {
    private let store: ArchiveStore
    private let rootPath: [UInt8]
    private let kind: OperationKind
    private let target: OperationID?
    private let name: String?
    /// The operation's id; nil before it has begun.
    private(set) var id: OperationID?

    /// - Parameters:
    ///   - target: the operation to undo or redo.
    ///   - name: the user's name for the operation.
    package init(
        _ store: ArchiveStore, _ root: FilePath, _ kind: OperationKind, of target: OperationID? = nil,
        name: String? = nil
    ) {
        self.store = store
        rootPath = root.bytes
        self.kind = kind
        self.target = target
        self.name = name
    }

    /// Whether to record the operation even if it changes nothing: an undo or redo moves on in the log in any case.
    var isForced: Bool { target != nil }

    /// Records the start of the operation before its first change; further calls do nothing.
    ///
    /// - Parameters:
    ///   - before: the snapshot with the state before the operation; nil if the root does not exist.
    ///   - snapshot: the snapshot to restore.
    ///   - path: the part of the root to restore.
    @discardableResult
    package func begin(
        before: SnapshotID?, _ snapshot: SnapshotID?, at path: RelativePath
    ) throws(StorageError) -> OperationID {
        if let id { return id }
        let id = try enter(kind, before: before, snapshot, at: path, target: target, name: name)
        self.id = id
        return id
    }

    /// Runs `body`; if it fails after the operation has begun, the error says so.
    func explaining<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch {
            guard id != nil else { throw error }
            let reason = ArchiverError(any: error)
            let mend = reason.remedy.map { "\($0), then " } ?? ""
            throw ArchiverError(
                reason.code, "\(reason.message); the \(kind.rawValue) stopped half-way",
                remedy: mend + "run it again to finish it, or 'archiver undo' to reverse it", path: reason.path)
        }
    }

    /// Records that the operation is complete, if it has begun.
    ///
    /// - Parameter after: the snapshot with the state after the operation; nil if there is none.
    package func complete(after: SnapshotID?) throws(StorageError) {
        guard let id else { return }
        _ = try enter(.completion, after, target: id)
    }

    private func enter(
        _ kind: OperationKind, before: SnapshotID? = nil, _ snapshot: SnapshotID?, at path: RelativePath = .root,
        target: OperationID?, name: String? = nil
    ) throws(StorageError) -> OperationID {
        // The log is ordered by time, so a clock that was set back must not change that order.
        let latest = try store.catalogue.latestOperationTime(ofRoot: rootPath, machine: Machine.id)
        let time = latest.map { max(.now, $0.advanced(byNanoseconds: 1)) } ?? .now
        return try store.enter(
            OperationRecord(
                rootPath: rootPath, host: CurrentProcess.hostName, kind: kind, time: time, before: before,
                snapshot: snapshot, path: path, target: target, machine: Machine.id, name: name))
    }
}
