// Restoring: in place, with the state before captured first, or into another directory.

internal import ArchiveFormat
public import ArchiveStorage
internal import Exclusions
internal import FileIO
internal import FileWatching
internal import SnapshotTree
internal import SystemPackage

extension Archive {
    /// Makes a directory equal to `snapshot`, or a part of it to a part of the snapshot.
    ///
    /// In place, the present state is captured first, so that nothing is lost. Only what differs is written. Killed
    /// half-way, the same call finishes the job.
    ///
    /// - Parameters:
    ///   - onAction: told of every action before it is carried out; of a dry run, of every action that would be.
    /// - Throws: `ArchiverError`; what was restored until then stays, everything else is as it was.
    public func restore(
        _ snapshot: SnapshotRecord, _ options: RestoreOptions = RestoreOptions(),
        progress: OperationProgress? = nil, onAction: (@Sendable (RestoreAction) -> Void)? = nil
    ) throws(ArchiverError) -> RestoreResult {
        try facing {
            let restore = Restore(
                archive: self, snapshot: snapshot, options: options, progress: progress, onAction: onAction)
            return try options.target.map { try restore.run(into: $0) } ?? restore.runInPlace()
        }
    }
}

/// One restore.
struct Restore {
    let archive: Archive
    let snapshot: SnapshotRecord
    let options: RestoreOptions
    let progress: OperationProgress?
    let onAction: (@Sendable (RestoreAction) -> Void)?

    private var tree: Tree<StoredNodes> { Tree(snapshot.tree, in: archive.nodes) }

    // MARK: In place

    func runInPlace() throws -> RestoreResult {
        let path = FilePath(bytes: snapshot.rootPath)
        let isInSnapshot = try tree.entry(at: options.path) != nil
        if !isInSnapshot { throw noSuchPath() }
        if options.isDryRun {
            guard let root = try existing(path) else { return try tellCreation(of: path) }
            return try tellDifferences(in: root)
        }
        guard let root = try existing(path) else {
            // There is no state before: the root itself is gone.
            try Directory.create(path, permissions: 0o700, durable: false)
            return try run(into: RootDirectory.open(path), from: nil, nil).result
        }
        let lock = try RootLock.capturing(root.path, in: archive.store.layout)
        let rules = try archive.presentExclusions(ofRoot: root.path.bytes, host: CurrentProcess.hostName)
        let before = try capture(.beforeRestore, rules).runLocked(root, [.subtree(.root)])
        let exempt = try ExemptPaths(before.latest, rules, wanted: snapshot, archive)
        var (result, firstMade) = try run(into: root, from: before.tree, exempt)
        result.before = before.snapshot
        result.undo = before.latest
        for problem in before.problems {
            result.warn("\(problem.path) could not be captured before the restore: \(problem.detail)")
        }
        _ = try capture(.restore, rules).runLocked(root, [.subtree(firstMade ?? options.path)])
        withExtendedLifetime(lock) {}
        return result
    }

    private func capture(_ cause: Cause, _ rules: ExclusionRules) -> Capture {
        Capture(
            store: archive.store, nodes: archive.nodes, options: CaptureOptions(cause: cause, exclusions: rules),
            progress: nil)
    }

    private func existing(_ path: FilePath) throws -> RootDirectory? {
        do { return try RootDirectory.open(path) } catch let error as ArchiverError where error.code == .noSuchDirectory
        {
            return nil
        }
    }

    /// Makes `options.path` below `root` equal to the snapshot.
    ///
    /// - Parameters:
    ///   - present: the tree of what is there now; nil where nothing is.
    ///   - exempt: what is left alone.
    /// - Returns: the result, and the first directory on the way to `options.path` that had to be made.
    private func run(
        into root: RootDirectory, from present: ChunkID?, _ exempt: ExemptPaths?
    ) throws -> (result: RestoreResult, firstMade: RelativePath?) {
        let writer = RestoreWriter(
            root, from: archive.store, owners: try owners(),
            links: LinkGroups { [self] in try unchangedLinks(from: present) },
            wantedDirectory: { [self] path in try wantedDirectory(at: path, from: present) }, progress: progress)
        let firstMade = try writer.makeParents(of: options.path)
        if let present {
            var diff = try TreeDiff(left: present, right: snapshot.tree, in: archive.nodes, scope: options.path)
            while let found = try diff.next() {
                guard let path = found.left?.path ?? found.right?.path else { continue }
                let step = RestoreStep(path: path, present: found.left, wanted: found.right)
                if let exempt, try exempt.contains(step) {
                    writer.leaveAlone(step)
                } else {
                    try apply(step, to: writer)
                }
            }
        } else {
            progress?.expect(entries: nil, bytes: snapshot.totals.bytes)
            try forEachWanted { entry in
                try apply(RestoreStep(path: entry.path, present: nil, wanted: entry), to: writer)
            }
        }
        try writer.finish()
        return (writer.result, firstMade)
    }

    /// The state that a directory shall have which no step names: those on the way to `options.path` are no part of what
    /// is restored and stay as they were.
    private func wantedDirectory(at path: RelativePath, from present: ChunkID?) throws -> Entry? {
        if let present, !options.path.contains(path), let entry = try Tree(present, in: archive.nodes).entry(at: path) {
            return entry
        }
        return try tree.entry(at: path)
    }

    /// Names of hard-linked files that the restore leaves alone, by group.
    private func unchangedLinks(from present: ChunkID?) throws -> [UInt64: RelativePath] {
        guard let present else { return [:] }
        let presentTree = Tree(present, in: archive.nodes)
        var links: [UInt64: RelativePath] = [:]
        try forEachEntry(of: tree, at: .root) { entry in
            guard let group = entry.linkGroup, links[group] == nil else { return }
            guard var now = try presentTree.entry(at: entry.path) else { return }
            // A name outside of what is restored may be the only one left.
            if !options.path.contains(entry.path), now.linkGroup == nil, now.signature?.inode == group {
                now.linkGroup = group
            }
            if now.hasSameState(as: entry) { links[group] = entry.path }
        }
        return links
    }

    private func apply(_ step: RestoreStep, to writer: RestoreWriter) throws {
        if let action = step.action { onAction?(action) }
        try writer.apply(step)
    }

    // MARK: Elsewhere

    func run(into target: FilePath) throws -> RestoreResult {
        guard try tree.entry(at: options.path) != nil else { throw noSuchPath() }
        if options.isDryRun { return try tellCreation(of: target) }
        let place = try RestoreTarget.open(target, marker: "\(snapshot.id) \(options.path)\n")
        let root = place.root
        let writer = RestoreWriter(
            root, from: archive.store, owners: try owners(), links: LinkGroups { [:] },
            wantedDirectory: { [self] path in
                path.isRoot ? try wantedRoot() : try tree.entry(at: original(of: path))
            }, progress: progress)
        progress?.expect(entries: nil, bytes: options.path.isRoot ? snapshot.totals.bytes : nil)
        try forEachWanted { entry in
            var wanted = entry
            wanted.path = relocated(entry.path)
            let present = try place.isContinued ? leftOver(wanted, in: root) : nil
            try apply(RestoreStep(path: wanted.path, present: present, wanted: wanted), to: writer)
        }
        try writer.finish()
        try place.finish(try wantedRoot())
        return writer.result
    }

    /// The state that the target itself shall have: that of the directory whose content it gets.
    private func wantedRoot() throws -> Entry? {
        try tree.entry(at: options.path).flatMap { $0.kind == .directory ? $0 : nil }
    }

    /// Where in the target `path` of the snapshot goes.
    private func relocated(_ path: RelativePath) -> RelativePath {
        if let rest = options.path.suffix(of: path), !rest.isRoot { return rest }
        return (try? wantedRoot()) != nil ? .root : RelativePath(unchecked: Array(path.name))
    }

    private func original(of path: RelativePath) -> RelativePath {
        options.path.appending(path: path)
    }

    /// What an interrupted restore left at the path: taken as it is only if it is a directory, else made anew.
    private func leftOver(_ wanted: Entry, in root: RootDirectory) throws -> Entry? {
        if wanted.path.isRoot {
            try RestoreTarget.removeTemporaryFiles(in: .root, of: root)
            return nil
        }
        let place = try root.directory.descriptor.openParent(of: wanted.path)
        guard let status = try FileStatus.read(place.name, in: place.directory, path: wanted.path) else { return nil }
        if status.kind == .directory { try RestoreTarget.removeTemporaryFiles(in: wanted.path, of: root) }
        return Entry(
            path: wanted.path, kind: status.kind, permissions: status.permissions, modified: status.modified,
            content: status.kind == .file ? .slices([Slice(length: status.size, chunk: nil)]) : .none,
            signature: Signature(inode: status.inode, changed: status.changed))
    }

    // MARK: Telling

    private func tellDifferences(in root: RootDirectory) throws -> RestoreResult {
        var result = RestoreResult(destination: root.path)
        let rules = try archive.presentExclusions(ofRoot: root.path.bytes, host: CurrentProcess.hostName)
        let scopes = SnapshotScopes(snapshot.tree, try archive.store.snapshot(snapshot.id).exclusions, archive)
        let ranges: [PathRange] = [.subtree(options.path)]
        try archive.scanDifferences(of: root, from: snapshot.tree, ranges: ranges, rules) { difference, problem in
            // What cannot be read is taken for equal; the restore itself finds out.
            if problem != nil, difference.right == nil { return }
            let step = RestoreStep(path: difference.path, present: difference.right, wanted: difference.left)
            guard let action = step.action else { return }
            if let present = step.present, step.wanted == nil, try scopes.excludes(present) {
                return result.leftOut += 1
            }
            onAction?(action)
            result.count(action)
        }
        return result
    }

    private func tellCreation(of destination: FilePath) throws -> RestoreResult {
        var result = RestoreResult(destination: destination)
        try forEachWanted { entry in
            var wanted = entry
            if options.target != nil { wanted.path = relocated(entry.path) }
            guard let action = RestoreStep(path: wanted.path, present: nil, wanted: wanted).action else { return }
            onAction?(action)
            result.count(action)
        }
        return result
    }

    // MARK: Reading

    private func forEachWanted(_ body: (Entry) throws -> Void) throws {
        try forEachEntry(of: tree, at: options.path, body)
    }

    private func forEachEntry(
        of tree: Tree<StoredNodes>, at path: RelativePath, _ body: (Entry) throws -> Void
    ) throws {
        var cursor = try TreeCursor(tree.root, in: archive.nodes)
        try cursor.seek(to: path)
        while let entry = try cursor.next(), path.contains(entry.path) { try body(entry) }
    }

    private func owners() throws -> OwnerMapping {
        OwnerMapping(try archive.store.snapshot(snapshot.id))
    }

    private func noSuchPath() -> ArchiverError {
        ArchiverError(
            .noSuchPath, "snapshot \(snapshot.id.short) holds nothing at '\(options.path)'",
            remedy: "'archiver show --entries \(snapshot.id.short)' lists what it holds")
    }
}
