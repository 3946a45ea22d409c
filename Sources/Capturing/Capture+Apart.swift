// Captures a large file apart: it is read while other captures run, and committed on top of their snapshots.

package import ArchiveFormat
package import ArchiveStorage
package import FileIO
internal import FileWatching
package import Roots
internal import SnapshotTree

extension Capture {
    /// Captures only the file at `path`, unless something else has to be captured first.
    ///
    /// Holds the root's capture lock for the commit only. The new snapshot is the root's latest one (even if another
    /// process made that during the reading) with this file as it was read.
    ///
    /// - Parameters:
    ///   - locking: acquires the root's capture lock.
    ///   - mayCommit: whether to commit; called under that lock, like the closures below.
    ///   - directories: returns the directories whose time may have changed.
    ///   - lastScan: returns the state of the root that the caller saw last.
    ///   - committed: called with the new snapshot and the one that it is made from.
    /// - Returns: the result; nil if something else has to be captured first, or another capture has captured the file
    ///   in the meantime. Nothing was committed then.
    package func captureApart(
        _ root: RootDirectory, _ path: RelativePath, locking: () throws -> FileLock, mayCommit: () throws -> Bool,
        directories: () -> Set<RelativePath>, lastScan: () -> LastScan?,
        committed: (ListedSnapshot, ListedSnapshot) -> Void
    ) throws -> CaptureResult? {
        do {
            return try attemptApart(root, path, locking, mayCommit, directories, lastScan, committed)
        } catch let error as StorageError {
            // A capture of the path meets the same damage, and stores the lost chunks again.
            guard error.code == .damaged else { throw error }
            return nil
        }
    }

    private func attemptApart(
        _ root: RootDirectory, _ path: RelativePath, _ locking: () throws -> FileLock,
        _ mayCommit: () throws -> Bool, _ directories: () -> Set<RelativePath>, _ lastScan: () -> LastScan?,
        _ committed: (ListedSnapshot, ListedSnapshot) -> Void
    ) throws -> CaptureResult? {
        // The new tree refers to the chunks of the latest tree; the epoch protects them.
        let epoch = try store.beginEpoch()
        defer { withExtendedLifetime(epoch) {} }
        guard let (_, base, _) = try plainBase(of: root) else { return nil }
        let commit = try store.beginCommit()
        do {
            let time = Timestamp.now
            guard let change = try read(path, of: root, base.tree, commit) else {
                commit.abandon()
                return nil
            }
            // Flush before the lock is acquired: no other capture has to wait for the disk.
            try commit.synchronize()
            let lock = try locking()
            defer { withExtendedLifetime(lock) {} }
            guard let (parent, base, rules) = try plainBase(of: root), try mayCommit(),
                try Tree(base.tree, in: nodes).entry(at: path) == change.old, hasOneName(path, of: root)
            else {
                commit.abandon()
                return nil
            }
            let scannedUntil = lastScan()?.end(of: parent) ?? parent.time
            var update = TreeUpdate(
                base: base.tree, parent: try withTrueTotals(base), nodes: nodes,
                writer: NodeWriter(store, commit: commit, level: Capture.changeLevel), takesDirectoryTimes: false,
                scannedUntil: scannedUntil, takesSignatures: false)
            let times = try directoryTimes(directories(), of: root, base.tree)
            for change in (times + [change]).sorted(by: { ($0.path ?? .root) < ($1.path ?? .root) }) {
                try update.add(change)
            }
            for problem in try postponed(in: base.tree, besides: [path]) { try update.add(problem) }
            guard let tree = try update.finish() else {
                commit.abandon()
                return result(nil, latest: parent, update, scannedUntil: scannedUntil)
            }
            let listed = try CaptureParent(listed: parent, base: base).commitNext(
                tree, of: root, self, rules, update.tally, .now, update.changes, to: commit)
            committed(listed, parent)
            linkIndex.update(LinkedNames(), to: tree, from: parent.tree)
            if change.problem == nil, let changed = change.new?.signature?.changed {
                proofs.add(path, changed: changed, readAt: time)
            }
            return result(listed, latest: listed, update, scannedUntil: scannedUntil)
        } catch {
            commit.abandon()
            throw error
        }
    }

    /// The latest snapshot, if a capture of one file can build on it: it is readable and has the root's own rules.
    private func plainBase(
        of root: RootDirectory
    ) throws -> (parent: ListedSnapshot, base: Snapshot, rules: CaptureRules)? {
        guard try store.catalogue.healingMark(ofRoot: root.path.bytes, machine: Machine.id) == nil,
            let parent = try store.catalogue.latestSnapshot(ofRoot: root.path.bytes, machine: Machine.id)
        else { return nil }
        let rules = try CaptureRules(options, ofRoot: root.path, in: store)
        let base = try readable(parent)
        return base.isAside || rules.isAside || base.exclusions != rules.exclusions ? nil : (parent, base, rules)
    }

    /// Reads the file at `path`, even if its times are unchanged.
    ///
    /// - Returns: nil if it is no longer a file with one name.
    private func read(
        _ path: RelativePath, of root: RootDirectory, _ base: ChunkID, _ commit: CommitWriter
    ) throws -> ScanChange? {
        let rules = try CaptureRules(options, ofRoot: root.path, in: store)
        var scan = TreeScan(into: commit, level: Capture.changeLevel, nodes: nodes, rules.exclusions, progress)
        scan.isDoubtful = { _, _ in true }
        var changes: [ScanChange] = []
        try scan.run(root, base: base, ranges: [.entry(path)]) { changes.append($0) }
        guard changes.count == 1, let change = changes.first, change.path == path,
            let old = change.old, old.kind == .file, old.linkGroup == nil,
            let new = change.new, new.kind == .file, new.linkGroup == nil
        else { return nil }
        return change
    }

    /// Directories whose time differs from the tree's: no reason for a snapshot, but the next one includes it.
    private func directoryTimes(
        _ paths: Set<RelativePath>, of root: RootDirectory, _ tree: ChunkID
    ) throws -> [ScanChange] {
        try paths.compactMap { path in
            guard let old = try Tree(tree, in: nodes).entry(at: path), let status = try? root.status(of: path),
                old.isSameDirectory(status), old.modified != status.modified
            else { return nil }
            var new = old
            // Its attributes were not read, so it gets no signature.
            (new.modified, new.signature) = (status.modified, nil)
            return ScanChange(old: old, new: new)
        }
    }

    /// Problems that report, for each waiting large file, that `tree` has an earlier state of it.
    package func postponed(in tree: ChunkID?, besides captured: Set<RelativePath>) throws -> [Problem] {
        // After a loss, and without a tree to compare with, large files are read immediately.
        guard let tree, let largeFiles, losses == nil else { return [] }
        return try largeFiles.problems(besides: captured).compactMap { problem, seen in
            let entry = try Tree(tree, in: nodes).entry(at: problem.path)
            return entry == nil || entry?.signature == seen ? nil : problem
        }
    }

    /// Whether the object at `path` has one name only.
    ///
    /// A link made after the reading causes an event for the new name only.
    private func hasOneName(_ path: RelativePath, of root: RootDirectory) -> Bool {
        do throws(FileError) {
            let status = try root.status(of: path)
            return status.map { $0.kind == .directory || $0.links < 2 } ?? true
        } catch {
            return error.meansAbsence
        }
    }
}
