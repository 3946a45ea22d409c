// Replaces the content of one file of a root, as an operation: capture, record, write, capture.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Capturing
internal import Exclusions
package import FileIO
internal import FileWatching
internal import Roots
package import SnapshotTree
package import SystemPackage

/// The replacement of one file's content, which undo takes back as it does a restore.
package struct RewriteInPlace {
    private let nodes: StoredNodes
    private let rootPath: FilePath
    private let path: RelativePath

    package init(_ path: RelativePath, in rootPath: FilePath, _ nodes: StoredNodes) {
        (self.path, self.rootPath, self.nodes) = (path, rootPath, nodes)
    }

    /// Captures the present state, records the operation and writes the file.
    ///
    /// The file keeps its permissions, owner and attributes. The caller must hold the root's capture lock.
    ///
    /// - Parameter content: returns the new content for the present one; nil for no change.
    package func run(_ journal: OperationJournal, _ content: ([UInt8]) throws -> [UInt8]?) throws -> RestoreResult {
        let root = try RootDirectory.open(rootPath)
        let exclusions = try nodes.store.presentExclusions(ofRoot: root.path.bytes)
        func capture(_ cause: Cause) -> Capture {
            Capture(into: nodes, CaptureOptions(cause: cause, exclusions: exclusions))
        }
        let captured = try capture(.beforeRestore).runTwice(root, [.subtree(.root)])
        var result = RestoreResult(destination: root.path, path: path)
        (result.before, result.undo) = (captured.snapshot, captured.latest)
        guard let present = try Tree(captured.tree, in: nodes).entry(at: path), present.kind == .file else {
            throw ArchiverError(
                .noSuchPath, "\(path) is not a file that snapshots of \(root.path) include",
                remedy: "restore the whole file instead", path: FilePath(path))
        }
        var stored = StoredBytes(present.content, in: nodes.store)
        guard let bytes = try content(stored.read(at: 0, Int(present.size))) else { return result }
        var wanted = present
        // This entry is only written to the file, never to the archive, which holds such contents as chunks.
        (wanted.content, wanted.signature) = (bytes.isEmpty ? .none : .inline(bytes), nil)
        (wanted.modified, wanted.isUnstable, wanted.linkGroup) = (.now, false, nil)
        let scope = OperationScope(parts: [path])
        let sync = BackgroundSync(of: root)
        let writer = RestoreWriter(
            root, from: nodes.store, owners: OwnerMapping(try nodes.store.snapshot(captured.latest.id)),
            links: LinkGroups { [:] }, isMarked: false, crossesMounts: exclusions.crossesMounts, interruption: nil,
            wantedDirectory: { _ in nil }, progress: nil, sync: sync,
            willChange: { _ = try journal.begin(before: captured.latest.id, nil, at: scope) })
        try journal.explaining {
            try writer.run { try writer.apply(RestoreStep(path: path, present: present, wanted: wanted)) }
        }
        result.add(writer.result)
        result.operation = journal.id
        try sync.finish()
        let places = [PathRange.entry(path.parent ?? .root), .entry(path)]
        let after = try capture(.restore).runTwice(root, places)
        try journal.complete(after: after.latest.id, result)
        return result
    }
}
