// A large file that is read while other captures run, and committed on top of their snapshots.

package import ArchiveFormat
internal import ArchiveStorage
package import FileIO
internal import FileWatching
package import Roots
internal import SnapshotTree

/// One file of a root in the state in which it was read, not committed yet.
///
/// Its chunks are abandoned with the value unless `commit` has made a snapshot.
package final class LargeFileReading {
    private let capture: Capture
    private let root: RootDirectory
    package let path: RelativePath
    private let time = Timestamp.now
    private let change: ScanChange
    private let writer: CommitWriter
    private var isCommitted = false

    /// Reads the file at `path`, even if its times are unchanged, and makes its chunks durable.
    ///
    /// The caller does not hold the root's capture lock.
    ///
    /// - Returns: nil if something else has to be captured first.
    package init?(_ path: RelativePath, of root: RootDirectory, for capture: Capture) throws {
        (self.capture, self.root, self.path) = (capture, root, path)
        // The new tree refers to the chunks of the latest tree; the commit's epoch protects them.
        writer = try capture.store.beginCommit()
        do {
            guard let base = try LargeFileReading.plainBase(of: root, capture)?.base,
                let change = try LargeFileReading.read(path, of: root, base.tree, capture, writer)
            else {
                writer.abandon()
                return nil
            }
            self.change = change
            // Flush before the lock is acquired: no other capture has to wait for the disk.
            try writer.synchronize()
        } catch {
            writer.abandon()
            throw error
        }
    }

    deinit { if !isCommitted { writer.abandon() } }

    /// Commits the file as it was read, on top of the root's latest snapshot, even if another process made that.
    ///
    /// The caller holds the root's capture lock.
    ///
    /// - Parameters:
    ///   - directories: the directories whose time may have changed.
    ///   - lastScan: the state of the root that the caller saw last.
    /// - Returns: the result; nil if something else has to be captured first, or another capture has captured the file
    ///   since it was read. Nothing was committed then.
    package func commit(directories: Set<RelativePath>, lastScan: LastScan?) throws -> CaptureResult? {
        guard let (parent, base, rules) = try LargeFileReading.plainBase(of: root, capture),
            try Tree(base.tree, in: capture.nodes).entry(at: path) == change.old, hasOneName
        else { return nil }
        let scannedUntil = lastScan?.end(of: parent) ?? parent.time
        var update = TreeUpdate(
            base: base.tree, parent: try capture.withTrueTotals(base), nodes: capture.nodes,
            writer: NodeWriter(capture.store, commit: writer, level: Capture.changeLevel),
            takesDirectoryTimes: false, scannedUntil: scannedUntil, takesSignatures: false)
        let times = try directoryTimes(directories, in: base.tree)
        for change in (times + [change]).sorted(by: { ($0.path ?? .root) < ($1.path ?? .root) }) {
            try update.add(change)
        }
        for problem in try capture.postponed(in: base.tree, besides: [path]) { try update.add(problem) }
        guard let tree = try update.finish() else {
            return capture.result(nil, latest: parent, update, scannedUntil: scannedUntil)
        }
        let listed = try CaptureParent(listed: parent, base: base).commitNext(
            tree, of: root, capture, rules, update.tally, .now, update.changes(), to: writer)
        isCommitted = true
        capture.linkIndex.update(LinkedNames(), to: tree, from: parent.tree)
        if change.problem == nil, let changed = change.new?.signature?.changed {
            capture.proofs.add(path, changed: changed, readAt: time)
        }
        return capture.result(listed, latest: listed, after: parent, update, scannedUntil: scannedUntil)
    }

    /// The latest snapshot, if a capture of one file can build on it: it is readable and has the root's own rules.
    private static func plainBase(
        of root: RootDirectory, _ capture: Capture
    ) throws -> (parent: ListedSnapshot, base: Snapshot, rules: CaptureRules)? {
        guard try capture.store.catalogue.healingMark(ofRoot: root.path.bytes, machine: Machine.id) == nil,
            let parent = try capture.store.catalogue.latestSnapshot(ofRoot: root.path.bytes, machine: Machine.id)
        else { return nil }
        let rules = try CaptureRules(capture.options, ofRoot: root.path, in: capture.store)
        let base = try capture.readable(parent)
        return base.isAside || rules.isAside || base.exclusions != rules.exclusions ? nil : (parent, base, rules)
    }

    /// Reads the file at `path`, even if its times are unchanged.
    ///
    /// - Returns: nil if it is no longer a file with one name.
    private static func read(
        _ path: RelativePath, of root: RootDirectory, _ base: ChunkID, _ capture: Capture, _ commit: CommitWriter
    ) throws -> ScanChange? {
        let rules = try CaptureRules(capture.options, ofRoot: root.path, in: capture.store)
        var scan = TreeScan(
            into: commit, level: Capture.changeLevel, nodes: capture.nodes, rules.exclusions, capture.progress)
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
    private func directoryTimes(_ paths: Set<RelativePath>, in tree: ChunkID) throws -> [ScanChange] {
        try paths.compactMap { path in
            guard let old = try Tree(tree, in: capture.nodes).entry(at: path), let status = try? root.status(of: path),
                old.isSameDirectory(status), old.modified != status.modified
            else { return nil }
            var new = old
            // Its attributes were not read, so it gets no signature.
            (new.modified, new.signature) = (status.modified, nil)
            return ScanChange(old: old, new: new)
        }
    }

    /// Whether the object at `path` has one name only.
    ///
    /// A link made after the reading causes an event for the new name only.
    private var hasOneName: Bool {
        do throws(FileError) {
            let status = try root.status(of: path)
            return status.map { $0.kind == .directory || $0.links < 2 } ?? true
        } catch {
            return error.meansAbsence
        }
    }
}

extension Capture {
    /// Problems that report, for each waiting large file, that `tree` has an earlier state of it.
    package func postponed(in tree: ChunkID?, besides captured: Set<RelativePath>) throws -> [Problem] {
        // After a loss, and without a tree to compare with, large files are read immediately.
        guard let tree, let largeFiles, losses == nil else { return [] }
        return try largeFiles.problems(besides: captured).compactMap { problem, seen in
            let entry = try Tree(tree, in: nodes).entry(at: problem.path)
            return entry == nil || entry?.signature == seen ? nil : problem
        }
    }
}
