// A snapshot's state outside of its root, that becomes one snapshot after another.

internal import ArchiveFormat
package import ArchiveStorage
internal import Capturing
internal import FileIO
internal import Glibc
package import Roots
package import SnapshotTree
package import SystemPackage

/// A directory that holds the state of a snapshot, for a command that is to see it.
///
/// From one snapshot to the next only what differs is written, so what the command built stays; what it changed of the
/// state is put right.
package final class ScratchState {
    /// Where the state is.
    package let directory: FilePath
    private let nodes: StoredNodes
    private let scratch: ScratchDirectory
    private let interruption: RestoreInterruption?
    /// What the directory holds, but for what was changed in it since; nil where nobody knows.
    private var present: ListedSnapshot?

    /// - Parameter root: what the states are of; the directory must not be a part of it.
    package init(of root: FilePath, in nodes: StoredNodes, _ interruption: RestoreInterruption?) throws {
        self.nodes = nodes
        self.interruption = interruption
        scratch = try ScratchDirectory(for: "bisect")
        directory = try RootDirectory.resolved(scratch.path).appending("state")
        let place = try RootDirectory.open(scratch.path)
        // What is mounted below a root is no part of it.
        guard place.path.starts(with: root), try RootDirectory.open(root).status.device == place.status.device else {
            return
        }
        throw ArchiverError(
            .unsuitableRoot, "the temporary directory \(place.path) lies in \(root), which would be changed",
            remedy: "set TMPDIR to a directory elsewhere", path: place.path)
    }

    /// Makes the directory what it is in `snapshot`.
    ///
    /// - Throws: `ArchiverError` of the code `damaged` where not all of it can be read; `RestoreInterruption.Stop`.
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
            RestoreSource(snapshot, at: .root, in: nodes), to: directory,
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
            "the state of \(snapshot.id.short) cannot be made in full: \(problem?.message ?? "something failed")",
            remedy: problem?.remedy)
    }

    /// Writes what differs.
    ///
    /// - Returns: whether the directory is what it shall be now; where it is not, all of it is to be made anew.
    private func update(
        from former: ListedSnapshot, to snapshot: ListedSnapshot, _ progress: OperationProgress?
    ) throws -> Bool {
        let root = try RootDirectory.open(directory)
        do {
            // What a command did to the state first, so that every directory is there that differences lie in.
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
            // A command may have left anything: with all of it made anew, it shows whether that was the reason.
            return false
        }
    }

    private func apply(
        to root: RootDirectory, _ wanted: ListedSnapshot, _ progress: OperationProgress?,
        _ body: (RestoreWriter) throws -> Void
    ) throws -> Bool {
        let source = RestoreSource(wanted, at: .root, in: nodes)
        let writer = RestoreWriter(
            root, from: nodes.store, owners: try source.owners(), links: LinkGroups { [:] }, isMarked: false,
            crossesMounts: false, interruption: interruption, wantedDirectory: { try source.entry(at: $0) },
            progress: progress)
        try writer.run { try body(writer) }
        if writer.result.isInterrupted { throw RestoreInterruption.Stop() }
        return writer.result.isComplete
    }

    /// What makes a path what it shall be, whatever is there now.
    private func step(_ path: RelativePath, _ status: FileStatus?, _ wanted: Entry?) -> RestoreStep {
        RestoreStep(path: path, present: status.map { Entry(unread: $0, at: path) }, wanted: wanted)
    }

    /// Whether nobody has changed what was made of `entry`; a directory's time changes with every file that is built in it.
    private func isUntouched(_ entry: Entry, _ status: FileStatus?) -> Bool {
        if entry.path.isRoot { return true }
        // A socket is not made.
        guard let status, status.kind == entry.kind else { return status == nil && entry.kind == .socket }
        if entry.kind == .directory { return true }
        return status.modified == entry.modified && (entry.kind != .file || status.size == entry.size)
    }
}
