// Records one operation in its root's log: before its first change, and when it is complete.

package import ArchiveFormat
package import ArchiveStorage
package import FileIO
internal import Roots
package import SystemPackage

/// What an operation changes: parts of a root, with or without the repositories in them.
package struct OperationScope: Sendable {
    /// In walk order; no part contains another.
    package let parts: [RelativePath]
    package let leavesRepositories: Bool

    /// The most parts that a record names, and the most bytes of their paths.
    private static let partsLimit = 10_000
    private static let bytesLimit = 1 << 22

    /// - Parameter parts: at least one. If there are too many for a record, their directories are the parts instead.
    package init(parts: [RelativePath], leavesRepositories: Bool = false) {
        var parts = OperationScope.outermost(parts)
        while parts.count > OperationScope.partsLimit
            || parts.reduce(0, { $0 + $1.bytes.count }) > OperationScope.bytesLimit
        {
            parts = OperationScope.outermost(parts.map { $0.parent ?? .root })
        }
        self.parts = parts
        self.leavesRepositories = leavesRepositories
    }

    /// The whole root.
    package static let all = OperationScope(parts: [.root])

    /// The deepest directory that holds all parts; the part itself if there is one.
    package var path: RelativePath {
        guard var path = parts.first else { return .root }
        while let parent = path.parent, !parts.allSatisfy(path.contains) { path = parent }
        return path
    }

    /// `paths` without those below others, in walk order.
    private static func outermost(_ paths: [RelativePath]) -> [RelativePath] {
        // In walk order a directory comes before everything in it.
        paths.sorted().reduce(into: []) { outermost, path in
            if outermost.last?.contains(path) != true { outermost.append(path) }
        }
    }
}

/// Records one operation on a root; the caller must hold the root's capture lock.
package final class OperationJournal {
    private let store: ArchiveStore
    private let rootPath: [UInt8]
    private let kind: OperationKind
    private let target: OperationID?
    private let name: String?
    private let isResumption: Bool
    /// The operation's id; nil before it has begun.
    private(set) var id: OperationID?

    /// - Parameters:
    ///   - target: the operation to undo or redo.
    ///   - name: the user's name for the operation.
    ///   - isResumption: whether this is a further attempt at an interrupted undo or redo.
    package init(
        _ store: ArchiveStore, _ root: FilePath, _ kind: OperationKind, of target: OperationID? = nil,
        name: String? = nil, isResumption: Bool = false
    ) {
        self.store = store
        rootPath = root.bytes
        self.kind = kind
        self.target = target
        self.name = name
        self.isResumption = isResumption
    }

    /// Whether to record the operation even if it changes nothing: an undo or redo moves on in the log in any case.
    var isForced: Bool { target != nil }

    /// Records the start of the operation before its first change; further calls do nothing.
    ///
    /// - Parameters:
    ///   - before: the snapshot with the state before the operation; nil if the root does not exist.
    ///   - snapshot: the snapshot to restore.
    ///   - scope: what the operation changes.
    @discardableResult
    package func begin(
        before: SnapshotID?, _ snapshot: SnapshotID?, at scope: OperationScope
    ) throws(StorageError) -> OperationID {
        if let id { return id }
        let id = try enter(kind, before: before, snapshot, at: scope, target: target, name: name)
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
                remedy: mend + Advice.finishOrUndo.text, path: reason.path)
        }
    }

    /// Records that the operation has ended, if it has begun.
    ///
    /// - Parameters:
    ///   - after: the snapshot with the state after the operation; nil if there is none.
    ///   - failed: how many paths could not be brought into the wanted state.
    package func complete(after: SnapshotID?, failed: Int = 0) throws(StorageError) {
        guard let id else { return }
        _ = try enter(.completion, after, target: id, failed: failed)
    }

    /// Records that a restore has ended, unless another attempt is likely to do more.
    func complete(after: SnapshotID?, _ result: RestoreResult) throws(StorageError) {
        if result.isInterrupted { return }
        // What changed during the restore can be restored by a second attempt; what still changes then never can.
        if result.skipped > 0, !isResumption { return }
        try complete(after: after, failed: result.failed)
    }

    private func enter(
        _ kind: OperationKind, before: SnapshotID? = nil, _ snapshot: SnapshotID?, at scope: OperationScope = .all,
        target: OperationID?, name: String? = nil, failed: Int = 0
    ) throws(StorageError) -> OperationID {
        // The sequence orders the log, whatever the clock says.
        let sequence = try store.catalogue.nextSequence(ofRoot: rootPath, machine: Machine.id)
        return try store.enter(
            OperationRecord(
                rootPath: rootPath, host: CurrentProcess.hostName, kind: kind, time: .now, before: before,
                snapshot: snapshot, path: scope.path, target: target, machine: Machine.id, name: name,
                parts: scope.parts.count > 1 ? scope.parts : [], failed: UInt64(failed),
                leavesRepositories: scope.leavesRepositories, sequence: sequence))
    }
}
