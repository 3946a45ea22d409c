// Restores in place: capture, record in the operation log, apply, flush to disk, capture.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Capturing
internal import Exclusions
package import FileIO
internal import FileWatching
package import Roots
internal import SnapshotTree
package import SystemPackage
internal import Threading

/// One restore of a root, or a part of it, to an earlier state.
package struct RestoreInPlace {
    private(set) var source: RestoreSource
    /// The root's path; symbolic links in its existing part are resolved.
    package let rootPath: FilePath
    /// The operation to reverse, if any.
    ///
    /// An undo or redo also restores a directory above the part if another object is in its place.
    package let reversed: ReversedOperation?
    package let interruption: RestoreInterruption?
    package let progress: OperationProgress?
    package let onAction: (@Sendable (RestoreAction) -> Void)?

    package init(
        _ source: RestoreSource, rootPath: FilePath, reversed: ReversedOperation? = nil,
        interruption: RestoreInterruption?, progress: OperationProgress?, onAction: (@Sendable (RestoreAction) -> Void)?
    ) {
        self.source = source
        self.rootPath = rootPath
        self.reversed = reversed
        self.interruption = interruption
        self.progress = progress
        self.onAction = onAction
    }

    /// Captures the present state, records the operation in `journal` and restores the wanted state.
    ///
    /// The caller must hold the root's capture lock.
    package func run(_ journal: OperationJournal) throws -> RestoreResult {
        guard let root = try existing() else { return try makeRoot(journal) }
        let rules = try source.store.presentExclusions(ofRoot: root.path.bytes)
        let leftBehind = Locked([RelativePath]())
        var before = capture(.beforeRestore, rules)
        before.onLeftBehind = { path in leftBehind.withLock { $0.append(path) } }
        var captured = try before.runTwice(root, [.subtree(.root)])
        let temporary = leftBehind.withLock { $0 }
        if !temporary.isEmpty {
            for path in temporary { try? RestoreTarget.removeLeftBehind(path, in: root) }
            // A removed name may have been a hard link, which changes the status of its file's other names.
            let again = try before.runTwice(root, [.subtree(.root)])
            captured = captured.followed(by: again)
        }
        let restore = try widened(in: root)
        let scope = restore.source.path
        let exempt = try restore.rules(in: root, rules)
        if exempt?.isPartLeftOut == true, !journal.isForced,
            try restore.steps(in: root, rules, exempt?.foreseen([])).isEmpty
        {
            return RestoreResult(destination: root.path, path: scope)
        }
        // Everything that will change must be in a snapshot, even if the present rules exclude it.
        if let foreseen = try restore.foreseen(from: captured.tree, exempt) {
            before.foreseen = foreseen
            let wider = try before.runTwice(root, [.subtree(.root)])
            captured = captured.followed(by: wider)
        }
        let begin = { [captured] in
            _ = try journal.begin(before: captured.latest.id, source.snapshot?.id, at: scope)
        }
        // An undo moves on in the log even if there is nothing to do.
        if journal.isForced { try begin() }
        defer { interruption?.set(isAltering: false) }
        var (result, changed) = try journal.explaining {
            try restore.apply(to: root, from: captured.tree, rules, exempt, begin)
        }
        result.before = captured.snapshot
        result.undo = captured.latest
        result.operation = journal.id
        result.path = scope
        result.add(captured.problems, "could not be captured before the restore")
        if result.isInterrupted { return result }
        // A restore that is recorded as complete must be complete after a power failure too.
        if journal.id != nil { try root.directory.descriptor.synchronizeFileSystem(path: root.path) }
        // Everything else was scanned before the restore.
        let after = try capture(.restore, rules).runTwice(root, changed)
        result.add(after.problems, "could not be captured after the restore")
        // If a path failed, the operation stays incomplete; a place that cannot be read does not block further undos.
        if result.failed == 0 { try journal.complete(after: after.latest.id) }
        return result
    }

    /// Restores a missing root, which has no state before.
    private func makeRoot(_ journal: OperationJournal) throws -> RestoreResult {
        var result = RestoreResult(destination: rootPath, path: source.path)
        let isWanted = try source.entry() != nil
        if isWanted || journal.isForced { try journal.begin(before: nil, source.snapshot?.id, at: source.path) }
        if isWanted {
            defer { interruption?.set(isAltering: false) }
            result = try journal.explaining {
                try Directory.create(rootPath, permissions: 0o700, durable: true)
                let root = try RootDirectory.open(rootPath)
                let result = try apply(to: root, from: nil, ExclusionRules(), nil) {}.result
                try root.directory.descriptor.synchronizeFileSystem(path: root.path)
                return result
            }
        }
        result.path = source.path
        result.operation = journal.id
        if result.isComplete { try journal.complete(after: nil) }
        return result
    }

    private func capture(_ cause: Cause, _ rules: ExclusionRules) -> Capture {
        Capture(into: source.nodes, CaptureOptions(cause: cause, exclusions: rules))
    }

    private func existing() throws -> RootDirectory? {
        do {
            return try RootDirectory.open(rootPath)
        } catch let error as ArchiverError where error.code == .noSuchDirectory {
            return nil
        }
    }

    /// The restore that also makes the wanted part reachable.
    ///
    /// If another object is in the place of a directory above the part, the whole directory is restored.
    private func widened(in root: RootDirectory) throws -> RestoreInPlace {
        guard reversed != nil, try source.entry() != nil else { return self }
        var restore = self
        var directory = RelativePath.root
        for component in source.path.components.dropLast() {
            directory = directory.appending(component)
            let place = try root.directory.descriptor.openParent(of: directory)
            let status = try FileStatus.read(place.name, in: place.directory, path: directory)
            guard let status else { break }
            if status.kind == .directory { continue }
            restore.source.path = directory
            break
        }
        return restore
    }

    // MARK: What is left alone

    /// The rules of this restore; nil if nothing is wanted, as when the creation of a root is undone.
    private func rules(in root: RootDirectory, _ rules: ExclusionRules) throws -> RestoreRules? {
        guard let snapshot = source.snapshot else { return nil }
        return try RestoreRules(
            snapshot, part: source.path, isDirectory: source.entry()?.kind == .directory, in: root, rules,
            reversed, source.nodes)
    }

    /// The additional paths to capture before the restore.
    ///
    /// Finding them visits all steps, so damage in the trees is found here, before anything is changed.
    private func foreseen(from present: ChunkID, _ rules: RestoreRules?) throws -> ForeseenRules? {
        guard let rules else { return nil }
        var directories: Set<RelativePath> = []
        try forEachStep(from: present) { step in
            if let directory = rules.directoryDecided(by: step) { directories.insert(directory) }
        }
        return try rules.foreseen(directories)
    }

    // MARK: Applying

    /// Restores the wanted state of the path below `root`.
    ///
    /// - Parameters:
    ///   - present: the tree of the present state; nil if there is none.
    ///   - rules: the root's exclusions.
    ///   - exempt: decides which paths are not touched.
    ///   - willChange: called before the first change.
    /// - Returns: the result, and the places that the restore changed.
    private func apply(
        to root: RootDirectory, from present: ChunkID?, _ rules: ExclusionRules, _ exempt: RestoreRules?,
        _ willChange: @escaping () throws -> Void
    ) throws -> (result: RestoreResult, changed: [PathRange]) {
        let writer = RestoreWriter(
            root, from: source.store, owners: try source.owners(),
            links: LinkGroups { [self] in try unchangedLinks(from: present) }, isMarked: false,
            crossesMounts: rules.crossesMounts, interruption: interruption,
            wantedDirectory: { [self] path in try wantedDirectory(at: path, from: present) }, progress: progress,
            willChange: willChange)
        var changed = DirtySet()
        let firstMade = try source.entry() == nil ? nil : writer.makeParents(of: source.path)
        if let firstMade { changed.mark(.subtree(firstMade)) }
        // A part that is restored only because the user named it is excluded from later snapshots. The capture before
        // the restore included it, so the capture after the restore must remove it from the tree.
        if exempt?.isPartLeftOut == true {
            changed.mark(.subtree(source.path))
            var holder = source.path.parent
            while let path = holder, !path.isRoot {
                changed.mark(.entry(path))
                holder = path.parent
            }
        }
        if let progress { try expect(progress, from: present) }
        try writer.run {
            try forEachStep(from: present) { step in
                if let exempt, try exempt.leavesAlone(step) { return writer.leaveAlone(step) }
                if let action = step.action { onAction?(action) }
                changed.mark(step, rules)
                try writer.apply(step)
            }
        }
        return (writer.result, changed.ranges)
    }

    /// Reports the amount of work in advance; reads only the nodes that differ.
    private func expect(_ progress: OperationProgress, from present: ChunkID?) throws {
        var (entries, bytes): (UInt64, UInt64) = (0, 0)
        try forEachStep(from: present) { step in
            guard let action = step.action else { return }
            entries += 1
            bytes = bytes.addingSaturating(action.bytes)
        }
        progress.expect(entries: entries, bytes: bytes)
    }

    private func forEachStep(from present: ChunkID?, _ body: (RestoreStep) throws -> Void) throws {
        guard let present else {
            return try source.forEachEntry { try body(RestoreStep(path: $0.path, present: nil, wanted: $0)) }
        }
        guard let wanted = source.snapshot else {
            return try Tree(present, in: source.nodes).forEachEntry(at: source.path) { entry in
                // The root itself stays.
                if !entry.path.isRoot { try body(RestoreStep(path: entry.path, present: entry, wanted: nil)) }
            }
        }
        var diff = try TreeDiff(left: present, right: wanted.tree, in: source.nodes, scope: source.path)
        while let found = try diff.next() {
            guard let path = found.left?.path ?? found.right?.path else { continue }
            try body(RestoreStep(path: path, present: found.left, wanted: found.right))
        }
    }

    /// The wanted state of a directory that has no step.
    ///
    /// Directories above the path are not restored and stay as they were.
    private func wantedDirectory(at path: RelativePath, from present: ChunkID?) throws -> Entry? {
        let isPart = source.path.contains(path) && source.snapshot != nil
        if let present, !isPart, let entry = try Tree(present, in: source.nodes).entry(at: path) { return entry }
        return try source.entry(at: path)
    }

    /// The names of hard-linked files that the restore does not touch, by file.
    private func unchangedLinks(from present: ChunkID?) throws -> [LinkIdentity: RelativePath] {
        guard let present else { return [:] }
        let presentTree = Tree(present, in: source.nodes)
        var links: [LinkIdentity: RelativePath] = [:]
        try source.forEachEntryAnywhere { entry in
            guard let identity = LinkIdentity(entry), links[identity] == nil else { return }
            guard var now = try presentTree.entry(at: entry.path) else { return }
            // A name outside of the restored part may be the only one left.
            if !source.path.contains(entry.path), now.linkGroup == nil,
                now.signature?.inode == entry.linkGroup
            {
                now.linkGroup = entry.linkGroup
            }
            if now.hasSameState(as: entry) { links[identity] = entry.path }
        }
        return links
    }

    // MARK: Planning

    /// Reports what the restore would do, without changing anything.
    ///
    /// - Parameter others: parts of the root that are planned separately, and skipped here.
    package func plan(besides others: [RelativePath] = []) throws -> RestoreResult {
        var result = RestoreResult(destination: rootPath, path: source.path)
        func report(_ step: RestoreStep) {
            guard let action = step.action, !others.contains(where: { $0.contains(step.path) }) else { return }
            onAction?(action)
            result.count(action.kind, bytes: action.bytes)
        }
        guard let root = try existing() else {
            try source.forEachEntry { report(RestoreStep(path: $0.path, present: nil, wanted: $0)) }
            return result
        }
        let restore = try widened(in: root)
        result.path = restore.source.path
        let rules = try source.store.presentExclusions(ofRoot: root.path.bytes)
        let exempt = try restore.rules(in: root, rules)
        var steps = try restore.steps(in: root, rules, try exempt?.foreseen([]))
        if let exempt {
            let directories = Set(steps.compactMap(exempt.directoryDecided))
            if !directories.isEmpty { steps = try restore.steps(in: root, rules, exempt.foreseen(directories)) }
        }
        for step in steps {
            if let exempt, try exempt.leavesAlone(step) { result.excluded += 1 } else { report(step) }
        }
        return result
    }

    /// The steps of the restore, found by scanning the root itself.
    private func steps(
        in root: RootDirectory, _ rules: ExclusionRules, _ foreseen: ForeseenRules?
    ) throws -> [RestoreStep] {
        var steps: [RestoreStep] = []
        let scan = TreeScan(comparing: source.nodes, rules, foreseen: foreseen, removesExcluded: true)
        try scan.run(root, base: source.snapshot?.tree, ranges: [.subtree(source.path)]) { change in
            guard change.isDifference, let path = change.path else { return }
            // An unreadable path is treated as unchanged; the restore itself finds out.
            if change.problem != nil, change.new == nil { return }
            let step = RestoreStep(path: path, present: change.new, wanted: change.old)
            if step.wanted == nil, step.path.isRoot { return }
            steps.append(step)
        }
        return steps
    }
}

extension RestoreResult {
    /// Adds unread paths: as problems if they concern the restored part, which may then be wrong, otherwise as
    /// warnings.
    fileprivate mutating func add(_ unread: [Problem], _ what: String) {
        for problem in unread {
            let text = "\(problem.path) \(what): \(problem.detail)"
            if path.contains(problem.path) || problem.path.contains(path) {
                add(RestoreProblem(problem.path, text, remedy: "restore again when it can be read"))
            } else {
                warn(text)
            }
        }
    }
}

extension DirtySet {
    /// Marks the places that `step` changes: its path and the directory of the path.
    fileprivate mutating func mark(_ step: RestoreStep, _ rules: ExclusionRules) {
        let holder = step.path.parent ?? .root
        // A changed ignore file changes which paths in the directory are excluded.
        mark(DirectoryRules.decides(step.path.name, rules) ? .subtree(holder) : .entry(holder))
        mark(.entry(step.path))
    }
}
