// A large file is captured apart: it is read while other captures go on, and committed on top of what they made.

package import ArchiveFormat
package import ArchiveStorage
package import FileIO
internal import FileWatching
package import Roots
internal import SnapshotTree

extension Capture {
    /// Captures the file at `path` and nothing else, unless something else has to be captured first.
    ///
    /// The root's capture lock is held for the commit only. The new snapshot is the latest one, whoever made it meanwhile,
    /// with this file as it was read.
    ///
    /// - Parameters:
    ///   - locking: takes the root's capture lock.
    ///   - mayCommit: asked under that lock, as are the others.
    ///   - directories: those whose time may be another.
    ///   - lastLook: what the caller saw last of the root.
    ///   - committed: told the new snapshot and the one that it is made of.
    /// - Returns: nil where something else has to be captured first, or captured the file meanwhile: nothing was committed.
    package func captureApart(
        _ root: RootDirectory, _ path: RelativePath, locking: () throws -> FileLock, mayCommit: () throws -> Bool,
        directories: () -> Set<RelativePath>, lastLook: () -> LastLook?,
        committed: (ListedSnapshot, ListedSnapshot) -> Void
    ) throws -> CaptureResult? {
        do {
            return try attemptApart(root, path, locking, mayCommit, directories, lastLook, committed)
        } catch let error as StorageError {
            // A capture of the path meets the same damage, and stores anew what is lost.
            guard error.code == .damaged else { throw error }
            return nil
        }
    }

    private func attemptApart(
        _ root: RootDirectory, _ path: RelativePath, _ locking: () throws -> FileLock,
        _ mayCommit: () throws -> Bool, _ directories: () -> Set<RelativePath>, _ lastLook: () -> LastLook?,
        _ committed: (ListedSnapshot, ListedSnapshot) -> Void
    ) throws -> CaptureResult? {
        // The new tree will refer to whatever the latest one does.
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
            // Nobody else waits for the disk to take in so much.
            try commit.synchronize()
            let lock = try locking()
            defer { withExtendedLifetime(lock) {} }
            guard let (parent, base, rules) = try plainBase(of: root), try mayCommit(),
                try Tree(base.tree, in: nodes).entry(at: path) == change.old, hasOneName(path, of: root)
            else {
                commit.abandon()
                return nil
            }
            let lookedUntil = lastLook()?.end(of: parent) ?? parent.time
            var update = TreeUpdate(
                base: base.tree, parent: try withTrueTotals(base), nodes: nodes,
                writer: NodeWriter(store, commit: commit, level: Capture.changeLevel), takesDirectoryTimes: false,
                lookedUntil: lookedUntil, takesSignatures: false)
            let times = try directoryTimes(directories(), of: root, base.tree)
            for change in (times + [change]).sorted(by: { ($0.path ?? .root) < ($1.path ?? .root) }) {
                try update.add(change)
            }
            for problem in try postponed(in: base.tree, besides: [path]) { try update.add(problem) }
            guard let tree = try update.finish() else {
                commit.abandon()
                return result(nil, latest: parent, update, lookedUntil: lookedUntil)
            }
            let record = try CaptureParent(record: parent, base: base).commitNext(
                tree, of: root, self, rules, update.tally, .now, update.changes, to: commit)
            committed(record, parent)
            linkIndex.update(LinkedNames(), to: tree, from: parent.tree)
            if change.problem == nil, let changed = change.new?.signature?.changed {
                proofs.add(path, changed: changed, readAt: time)
            }
            return result(record, latest: record, update, lookedUntil: lookedUntil)
        } catch {
            commit.abandon()
            throw error
        }
    }

    /// The latest snapshot, where a capture of one file can build upon it: it is whole, and has the root's own rules.
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

    /// Reads the file at `path`, whatever its times say.
    ///
    /// - Returns: nil where it is no such file any more.
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

    /// Directories whose time is another than in the tree: that makes no snapshot, but the next one has it.
    private func directoryTimes(
        _ paths: Set<RelativePath>, of root: RootDirectory, _ tree: ChunkID
    ) throws -> [ScanChange] {
        try paths.compactMap { path in
            guard let old = try Tree(tree, in: nodes).entry(at: path), let status = try? root.status(of: path),
                old.isSameDirectory(status), old.modified != status.modified
            else { return nil }
            var new = old
            // Nobody has looked at its attributes.
            (new.modified, new.signature) = (status.modified, nil)
            return ScanChange(old: old, new: new)
        }
    }

    /// Says of large files that wait that `tree` has an earlier state of them.
    package func postponed(in tree: ChunkID?, besides captured: Set<RelativePath>) throws -> [Problem] {
        // What is lost is read at once, and so is everything where nothing is there to compare with.
        guard let tree, let largeFiles, losses == nil else { return [] }
        return try largeFiles.problems(besides: captured).compactMap { problem, seen in
            let entry = try Tree(tree, in: nodes).entry(at: problem.path)
            return entry == nil || entry?.signature == seen ? nil : problem
        }
    }

    /// Whether no file with several names is at `path`: one that was made after the reading is told of by the new name only.
    private func hasOneName(_ path: RelativePath, of root: RootDirectory) -> Bool {
        do throws(FileError) {
            let status = try root.status(of: path)
            return status.map { $0.kind == .directory || $0.links < 2 } ?? true
        } catch {
            return error.meansAbsence
        }
    }
}
