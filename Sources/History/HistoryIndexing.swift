// Completes the index of paths: compares trees for the snapshots whose commits did not record what changed.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import Capturing
internal import FileIO
package import Roots
internal import SnapshotTree
internal import Threading

/// Finds the changes of the snapshots of a root that are not indexed yet.
///
/// These are large snapshots, those of other writers, and all of them after a rebuild of the catalogue.
struct HistoryIndexing {
    let archive: Archive
    let progress: OperationProgress?

    private var store: ArchiveStore { archive.store }
    private var nodes: StoredNodes { archive.nodes }

    /// Snapshots that are compared per transaction.
    private static let step = 256
    /// Changes that are held in memory before they are stored.
    private static let waitingLimit = 1 << 16

    /// Compares the snapshots from `start` on and before `end` that are not indexed yet.
    ///
    /// - Parameter isCancelled: asked between steps; if it returns true, the rest is left.
    func run(
        root: Int64, from start: HistoryPlace = .start, before end: HistoryPlace = .end,
        isCancelled: () -> Bool = { false }
    ) throws {
        let catalogue = store.catalogue
        if try catalogue.unknownHistory(root: root, limit: 1, from: start, before: end).isEmpty { return }
        progress?.expect(entries: UInt64(clamping: try catalogue.unknownHistoryCount(root: root)), bytes: nil)
        // Several threads of this process may need them: each takes the next step.
        while try !isCancelled() && archive.indexing.withLock({ _ in try takeStep(root, start, end) }) {}
    }

    /// Compares the next snapshots.
    ///
    /// - Returns: false if there are none.
    private func takeStep(_ root: Int64, _ start: HistoryPlace, _ end: HistoryPlace) throws -> Bool {
        let unknown = try store.catalogue.unknownHistory(
            root: root, limit: HistoryIndexing.step, from: start, before: end)
        if unknown.isEmpty { return false }
        var found: [FoundHistory] = []
        var waiting = 0
        for next in unknown {
            let changes = try changes(of: next)
            waiting += changes?.count ?? 0
            found.append(FoundHistory(next, changes: changes))
            progress?.add(entries: 1)
            if waiting >= HistoryIndexing.waitingLimit { break }
        }
        try store.catalogue.enter(found, root: root)
        return true
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
        try HistoryIndexing(archive: self, progress: progress).run(root: root)
    }
}
