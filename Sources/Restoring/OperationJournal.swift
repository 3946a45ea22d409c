// Writes one operation into its root's log: before it alters anything, and when all is done.

package import ArchiveFormat
package import ArchiveStorage
package import FileIO
internal import Roots
package import SystemPackage

/// Notes one operation on a root, whose capture lock the caller holds.
package final class OperationJournal {
    private let store: ArchiveStore
    private let rootPath: [UInt8]
    private let kind: OperationKind
    private let target: OperationID?
    private let name: String?
    /// The operation, once it has begun.
    private(set) var id: OperationID?

    /// - Parameters:
    ///   - target: the operation that is undone or redone.
    ///   - name: what the user calls it.
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

    /// Whether the operation is noted even where it alters nothing: undoing and redoing move on in the log all the same.
    var isForced: Bool { target != nil }

    /// Notes, before anything is altered, that the operation begins; once, however often it is called.
    ///
    /// - Parameters:
    ///   - before: the snapshot with the state before it; nil where the root does not exist.
    ///   - snapshot: what it brings back.
    ///   - path: the part of the root that it brings back.
    @discardableResult
    package func begin(
        before: SnapshotID?, _ snapshot: SnapshotID?, at path: RelativePath
    ) throws(StorageError) -> OperationID {
        if let id { return id }
        let id = try enter(kind, before: before, snapshot, at: path, target: target, name: name)
        self.id = id
        return id
    }

    /// Does `body`; where it fails and the operation has begun, the error says so.
    func explaining<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch {
            guard id != nil else { throw error }
            let reason = ArchiverError(any: error)
            let mend = reason.remedy.map { "\($0), then " } ?? ""
            throw ArchiverError(
                reason.code, "\(reason.message); the \(kind.rawValue) stopped half-way",
                remedy: mend + "do it again to finish it, or 'archiver undo' to take it back", path: reason.path)
        }
    }

    /// Records that the operation, if it has begun, is done to its end.
    ///
    /// - Parameter after: the snapshot with the state after it; nil where there is none.
    package func complete(after: SnapshotID?) throws(StorageError) {
        guard let id else { return }
        _ = try enter(.completion, after, target: id)
    }

    private func enter(
        _ kind: OperationKind, before: SnapshotID? = nil, _ snapshot: SnapshotID?, at path: RelativePath = .root,
        target: OperationID?, name: String? = nil
    ) throws(StorageError) -> OperationID {
        // The log is read in the order of times, so no clock that was set back may change it.
        let latest = try store.catalogue.latestOperationTime(ofRoot: rootPath, machine: Machine.id)
        let time = latest.map { max(.now, $0.advanced(byNanoseconds: 1)) } ?? .now
        return try store.enter(
            OperationRecord(
                rootPath: rootPath, host: CurrentProcess.hostName, kind: kind, time: time, before: before,
                snapshot: snapshot, path: path, target: target, machine: Machine.id, name: name))
    }
}
