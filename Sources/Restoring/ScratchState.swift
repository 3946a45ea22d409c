// A snapshot's state in a temporary directory, which is changed from one snapshot to the next.

internal import ArchiveFormat
package import ArchiveStorage
internal import Capturing
internal import FileIO
internal import Glibc
package import Roots
package import SnapshotTree
package import SystemPackage

/// A directory with the state of a snapshot, for a command that runs in it.
///
/// From one snapshot to the next, it writes only the differences, so the command's own new files stay. Changes of the
/// command to the state are reversed.
package final class ScratchState {
    /// The directory of the state.
    package let directory: FilePath
    private let nodes: StoredNodes
    private let scratch: ScratchDirectory
    private let interruption: RestoreInterruption?
    /// The snapshot whose state the directory has, apart from later changes; nil if unknown.
    private var present: ListedSnapshot?

    /// - Parameter root: the root of the snapshots; the directory must not be in it.
    package init(of root: FilePath, in nodes: StoredNodes, _ interruption: RestoreInterruption?) throws {
        self.nodes = nodes
        self.interruption = interruption
        scratch = try ScratchDirectory(for: "bisect")
        directory = try RootDirectory.resolved(scratch.path).appending("state")
        let place = try RootDirectory.open(scratch.path)
        // A file system mounted below a root is not part of it.
        guard place.path.starts(with: root), try RootDirectory.open(root).status.device == place.status.device else {
            return
        }
        throw ArchiverError(
            .unsuitableRoot, "the temporary directory \(place.path) is in \(root), which would be changed",
            remedy: "set TMPDIR to a directory elsewhere", path: place.path)
    }

    /// Changes the directory to the state of `snapshot`.
    ///
    /// - Throws: `ArchiverError` with the code `damaged` or `system` if a part of it cannot be restored;
    ///   `RestoreInterruption.Stop` if the restore was interrupted.
    package func become(_ snapshot: ListedSnapshot, _ progress: OperationProgress?) throws {
        let former = present
        present = nil
        if let former, try update(from: former, to: snapshot, progress) {
            present = snapshot
            return
        }
        if try FileStatus.read(CName("state".utf8), in: Descriptor.open(scratch.path, O_RDONLY | O_DIRECTORY)) != nil {
            try Directory.removeTree(directory)
        }
        let restore = RestoreElsewhere(
            try RestoreSource(snapshot, at: .root, in: nodes), to: directory, isFile: false,
            interruption: interruption, progress: progress, onAction: nil)
        try checkCompleteness(of: restore.run(), snapshot)
        present = snapshot
    }

    private func checkCompleteness(of result: RestoreResult, _ snapshot: ListedSnapshot) throws {
        if result.isInterrupted { throw RestoreInterruption.Stop() }
        guard result.failed > 0 || result.problemCount > 0 else { return }
        let problem = result.problems.first
        throw ArchiverError(
            problem?.isDamage == false ? .system : .damaged,
            "the state of \(snapshot.id.short) cannot be restored in full: \(problem?.message ?? "a path failed")",
            remedy: problem?.remedy)
    }

    /// Writes the differences.
    ///
    /// - Returns: whether the directory now has the state; if not, the caller must recreate all of it.
    private func update(
        from former: ListedSnapshot, to snapshot: ListedSnapshot, _ progress: OperationProgress?
    ) throws -> Bool {
        let root = try RootDirectory.open(directory)
        do {
            // First reverse the command's changes, so that every directory with a difference exists.
            return try apply(to: root, former, progress) { writer in
                try Tree(former.tree, in: nodes).forEachEntry(at: .root) { entry in
                    let status = try FileStatus.read(entry.path, beneath: root.directory.descriptor)
                    if isUntouched(entry, status) { return }
                    try writer.apply(step(entry.path, status, entry))
                }
            }
                && apply(to: root, snapshot, progress) { writer in
                    var diff = try TreeDiff(left: former.tree, right: snapshot.tree, in: nodes)
                    while let found = try diff.next() {
                        guard let path = found.left?.path ?? found.right?.path else { continue }
                        let status = try FileStatus.read(path, beneath: root.directory.descriptor)
                        try writer.apply(step(path, status, found.right))
                    }
                }
        } catch let error as RestoreInterruption.Stop {
            throw error
        } catch {
            // The command's changes may be the cause: recreating everything shows whether they were.
            return false
        }
    }

    private func apply(
        to root: RootDirectory, _ wanted: ListedSnapshot, _ progress: OperationProgress?,
        _ body: (RestoreWriter) throws -> Void
    ) throws -> Bool {
        let source = try RestoreSource(wanted, at: .root, in: nodes)
        let writer = RestoreWriter(
            root, from: nodes.store, owners: try source.owners(), links: LinkGroups { [:] }, isMarked: false,
            crossesMounts: false, interruption: interruption, wantedDirectory: { try source.entry(at: $0) },
            progress: progress, sync: nil)
        try writer.run { try body(writer) }
        if writer.result.isInterrupted { throw RestoreInterruption.Stop() }
        return writer.result.isComplete
    }

    /// The step that brings a path into the wanted state, regardless of its present object.
    private func step(_ path: RelativePath, _ status: FileStatus?, _ wanted: Entry?) -> RestoreStep {
        RestoreStep(path: path, present: status.map { Entry(unread: $0, at: path) }, wanted: wanted)
    }

    /// Whether the object made from `entry` is unchanged.
    ///
    /// A directory's time is ignored: it changes with every file that the command creates in it.
    private func isUntouched(_ entry: Entry, _ status: FileStatus?) -> Bool {
        if entry.path.isRoot { return true }
        // Sockets are not restored.
        guard let status, status.kind == entry.kind else { return status == nil && entry.kind == .socket }
        if entry.kind == .directory { return true }
        return status.modified == entry.modified && (entry.kind != .file || status.size == entry.size)
    }
}
