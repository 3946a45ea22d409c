// Completes the index of paths: compares trees for the snapshots whose commits did not record what changed.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import Capturing
internal import FileIO
package import Roots
internal import SnapshotTree

/// Finds the changes of the snapshots of a root that are not indexed yet.
///
/// These are large snapshots, those of other writers, and all of them after a rebuild of the catalogue.
struct HistoryIndexing {
    let store: ArchiveStore
    let nodes: StoredNodes
    let progress: OperationProgress?

    /// Snapshots that are compared per transaction.
    private static let step = 256
    /// Changes that are held in memory before they are stored.
    private static let waitingLimit = 1 << 16

    /// Compares the snapshots that are not indexed yet.
    func run(root: Int64) throws {
        let catalogue = store.catalogue
        var unknown = try catalogue.unknownHistory(root: root, limit: HistoryIndexing.step)
        if unknown.isEmpty { return }
        progress?.expect(entries: UInt64(clamping: try catalogue.unknownHistoryCount(root: root)), bytes: nil)
        while !unknown.isEmpty {
            var found: [FoundHistory] = []
            var waiting = 0
            for next in unknown {
                let changes = try changes(of: next)
                waiting += changes?.count ?? 0
                found.append(FoundHistory(next, changes: changes))
                progress?.add(entries: 1)
                if waiting >= HistoryIndexing.waitingLimit { break }
            }
            try catalogue.enter(found, root: root)
            unknown = try catalogue.unknownHistory(root: root, limit: HistoryIndexing.step)
        }
    }

    /// Returns what a snapshot changed; nil if it or its predecessor cannot be read.
    private func changes(of unknown: UnknownHistory) throws -> [PathChange]? {
        // A root's first snapshot has no changes: queries read its tree.
        guard let predecessor = unknown.predecessor else { return [] }
        do {
            return try changes(from: predecessor, to: unknown.snapshot)
        } catch let error as StorageError {
            guard error.isAboutBytes, error.path != store.layout.catalogue else { throw error }
            return nil
        }
    }

    private func changes(from left: ListedSnapshot, to right: ListedSnapshot) throws -> [PathChange]? {
        var changes = PathChanges()
        var diff = try TreeDiff(left: left.tree, right: right.tree, in: nodes)
        while let found = try diff.next() { changes.add(found.left, found.right) }
        return try changes.linked(isNext: right.parent == left.id, contents: store)
    }
}

extension Archive {
    /// Completes a root's index of paths.
    package func indexHistory(root: Int64, progress: OperationProgress? = nil) throws {
        try HistoryIndexing(store: store, nodes: nodes, progress: progress).run(root: root)
    }
}
