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

/// One restore of a root, or of parts of it, to earlier states: one operation, with one snapshot before it.
package struct RestoreInPlace {
    /// The wanted states, at least one, in walk order.
    private let sources: [RestoreSource]
    /// The root's path; symbolic links in its existing part are resolved.
    package let rootPath: FilePath
    /// The operation to reverse, if any.
    ///
    /// An undo or redo also restores a directory above a part if another object is in its place.
    package let reversed: ReversedOperation?
    /// Whether the directories in which version control systems keep their history are not touched.
    package let leavesRepositories: Bool
    package let interruption: RestoreInterruption?
    package let progress: OperationProgress?
    package let onAction: (@Sendable (RestoreAction) -> Void)?

    /// - Parameter sources: at least one; all in one archive.
    package init(
        _ sources: [RestoreSource], rootPath: FilePath, reversed: ReversedOperation? = nil,
        leavesRepositories: Bool = false, interruption: RestoreInterruption?, progress: OperationProgress?,
        onAction: (@Sendable (RestoreAction) -> Void)?
    ) {
        self.sources = RestoreSource.distinct(sources)
        self.rootPath = rootPath
        self.reversed = reversed
        self.leavesRepositories = leavesRepositories
        self.interruption = interruption
        self.progress = progress
        self.onAction = onAction
    }

    private var nodes: StoredNodes { sources[0].nodes }
    /// The deepest directory with all wanted paths.
    private var path: RelativePath { scope(of: sources.map(\.path)).path }

    private func scope(of parts: [RelativePath]) -> OperationScope {
        OperationScope(parts: parts, leavesRepositories: leavesRepositories)
    }

    /// The snapshot to restore; of several, the newest.
    private var snapshot: SnapshotID? {
        sources.compactMap(\.snapshot).max { ($0.sequence, $0.time) < ($1.sequence, $1.time) }?.id
    }

    /// Captures the present state, records the operation in `journal` and restores the wanted state.
    ///
    /// The caller must hold the root's capture lock.
    package func run(_ journal: OperationJournal) throws -> RestoreResult {
        guard let root = try existing() else { return try makeRoot(journal) }
        let exclusions = try nodes.store.presentExclusions(ofRoot: root.path.bytes)
        let leftBehind = Locked([RelativePath]())
        var before = capture(.beforeRestore, exclusions)
        before.onLeftBehind = { path in leftBehind.withLock { $0.append(path) } }
        var captured = try before.runTwice(root, [.subtree(.root)])
        let temporary = leftBehind.withLock { $0 }
        if !temporary.isEmpty {
            for path in temporary { try? RestoreTarget.removeLeftBehind(path, in: root) }
            // A removed name may have been a hard link, which changes the status of its file's other names.
            let again = try before.runTwice(root, [.subtree(.root)])
            captured = captured.followed(by: again)
        }
        var parts = try parts(in: root, exclusions)
        if !journal.isForced {
            // An excluded part that is as it should be needs no snapshot.
            parts = try parts.filter { part in try !part.isNamed || !part.steps(in: root, exclusions).isEmpty }
            if parts.isEmpty { return RestoreResult(destination: root.path, path: path) }
        }
        let scope = scope(of: parts.map(\.path))
        let named = parts.filter(\.isNamed).map(\.path)
        if !named.isEmpty {
            before.foreseen = ForeseenRules(named: named)
            let wider = try before.runTwice(root, [.subtree(.root)])
            captured = captured.followed(by: wider)
        }
        let leftAlone = try parts.map { try $0.leftAlone(from: captured.tree) }
        let begin = { [captured, scope, snapshot] in
            _ = try journal.begin(before: captured.latest.id, snapshot, at: scope)
        }
        // An undo moves on in the log even if there is nothing to do.
        if journal.isForced { try begin() }
        defer { interruption?.set(isAltering: false) }
        var changed = DirtySet()
        let sync = BackgroundSync(of: root)
        var result = try journal.explaining {
            try apply(
                Array(zip(parts, leftAlone)), to: root, from: captured.tree, exclusions, changed: &changed, sync, begin)
        }
        result.before = captured.snapshot
        result.undo = captured.latest
        result.operation = journal.id
        result.path = scope.path
        result.add(captured.problems, of: parts.map(\.path), "could not be captured before the restore")
        if result.isInterrupted { return result }
        // A restore that is recorded as complete must be complete after a power failure too.
        if journal.id != nil { try sync.finish() }
        // Everything else was scanned before the restore.
        let after = try capture(.restore, exclusions).runTwice(root, changed.ranges)
        result.add(after.problems, of: parts.map(\.path), "could not be captured after the restore")
        // A place that cannot be read does not make the operation incomplete.
        try journal.complete(after: after.latest.id, result)
        return result
    }

    /// Restores a missing root, which has no state before.
    private func makeRoot(_ journal: OperationJournal) throws -> RestoreResult {
        let scope = scope(of: sources.map(\.path))
        var result = RestoreResult(destination: rootPath, path: scope.path)
        let isWanted = try sources.contains { try $0.entry() != nil }
        if isWanted || journal.isForced { try journal.begin(before: nil, snapshot, at: scope) }
        if isWanted {
            defer { interruption?.set(isAltering: false) }
            result = try journal.explaining {
                try Directory.create(rootPath, permissions: 0o700, durable: true)
                let root = try RootDirectory.open(rootPath)
                var changed = DirtySet()
                let parts = try parts(in: root, ExclusionRules()).map { ($0, LeftAlone()) }
                let sync = BackgroundSync(of: root)
                let result = try apply(parts, to: root, from: nil, ExclusionRules(), changed: &changed, sync) {}
                try sync.finish()
                return result
            }
        }
        result.path = scope.path
        result.operation = journal.id
        try journal.complete(after: nil, result)
        return result
    }

    private func capture(_ cause: Cause, _ exclusions: ExclusionRules) -> Capture {
        Capture(into: nodes, CaptureOptions(cause: cause, exclusions: exclusions))
    }

    private func existing() throws -> RootDirectory? {
        do {
            return try RootDirectory.open(rootPath)
        } catch let error as ArchiverError where error.code == .noSuchDirectory {
            return nil
        }
    }

    // MARK: Parts

    private func parts(in root: RootDirectory, _ exclusions: ExclusionRules) throws -> [RestorePart] {
        try RestoreSource.distinct(sources.map { try widened($0, in: root) }).map { source in
            try RestorePart(source, in: root, exclusions, reversed, leavesRepositories: leavesRepositories)
        }
    }

    /// The source that also makes the wanted part reachable.
    ///
    /// If another object is in the place of a directory above the part, the whole directory is restored.
    private func widened(_ source: RestoreSource, in root: RootDirectory) throws -> RestoreSource {
        guard reversed != nil, try source.entry() != nil else { return source }
        var directory = RelativePath.root
        for component in source.path.components.dropLast() {
            directory = directory.appending(component)
            let place = try root.directory.descriptor.openParent(of: directory)
            let status = try FileStatus.read(place.name, in: place.directory, path: directory)
            guard let status else { break }
            if status.kind == .directory { continue }
            var wider = source
            wider.path = directory
            return wider
        }
        return source
    }

    /// Applies the parts one after the other.
    ///
    /// - Parameters:
    ///   - present: the tree of the present state; nil if there is none.
    ///   - changed: gets the places that the restore changed.
    ///   - sync: gets to know what is written.
    ///   - willChange: called before the first change.
    private func apply(
        _ parts: [(part: RestorePart, leftAlone: LeftAlone)], to root: RootDirectory, from present: ChunkID?,
        _ exclusions: ExclusionRules, changed: inout DirtySet, _ sync: BackgroundSync,
        _ willChange: @escaping () throws -> Void
    ) throws -> RestoreResult {
        var result = RestoreResult(destination: root.path)
        if let progress {
            var (entries, bytes): (UInt64, UInt64) = (0, 0)
            for (part, _) in parts {
                let work = try part.work(from: present)
                (entries, bytes) = (entries.addingSaturating(work.entries), bytes.addingSaturating(work.bytes))
            }
            progress.expect(entries: entries, bytes: bytes)
        }
        for (part, leftAlone) in parts where !result.isInterrupted {
            let source = part.source
            let writer = RestoreWriter(
                root, from: source.store, owners: try source.owners(),
                links: LinkGroups { try part.unchangedLinks(from: present) }, isMarked: false,
                crossesMounts: exclusions.crossesMounts, interruption: interruption,
                wantedDirectory: { path in try part.wantedDirectory(at: path, from: present) }, progress: progress,
                sync: sync, willChange: willChange)
            try result.attempt(part, of: parts.count) {
                try part.apply(with: writer, from: present, exclusions, leftAlone, changed: &changed, onAction)
            }
            result.add(writer.result)
            result.add(leftAlone)
        }
        return result
    }

    // MARK: Planning

    /// Reports what the restore would do, without changing anything.
    ///
    /// - Parameter others: parts of the root that are planned separately, and skipped here.
    package func plan(besides others: [RelativePath] = []) throws -> RestoreResult {
        var result = RestoreResult(destination: rootPath, path: path)
        func report(_ step: RestoreStep) {
            guard let action = step.action, !others.contains(where: { $0.contains(step.path) }) else { return }
            onAction?(action)
            result.count(action.kind, bytes: action.bytes)
        }
        guard let root = try existing() else {
            for source in sources {
                try source.forEachEntry { report(RestoreStep(path: $0.path, present: nil, wanted: $0)) }
            }
            return result
        }
        let exclusions = try nodes.store.presentExclusions(ofRoot: root.path.bytes)
        let parts = try parts(in: root, exclusions)
        result.path = scope(of: parts.map(\.path)).path
        for part in parts {
            let isReachable: Void? = try result.attempt(part, of: parts.count) {
                if try part.source.entry() != nil { try RestoreWriter.checkParents(of: part.path, in: root) }
            }
            if isReachable == nil { continue }
            let steps = try part.steps(in: root, exclusions)
            let leftAlone = try part.rules?.leftAlone { body in for step in steps { try body(step) } } ?? LeftAlone()
            for step in steps where !leftAlone.contains(step) { report(step) }
            result.add(leftAlone)
        }
        return result
    }
}

extension RestoreResult {
    /// Runs `body` for one of `count` parts.
    ///
    /// - Returns: nil if the part cannot be reached, which is then a problem of the result.
    /// - Throws: an error that concerns all parts; or the only one.
    @discardableResult
    fileprivate mutating func attempt(_ part: RestorePart, of count: Int, _ body: () throws -> Void) throws -> Void? {
        do { return try body() } catch let error as ArchiverError where error.code == .notDirectory && count > 1 {
            failed += 1
            add(RestoreProblem(part.path, error.message, remedy: error.remedy))
            return nil
        }
    }

    /// Adds unread paths: as problems if they concern one of the restored parts, which may then be wrong, otherwise as
    /// warnings.
    fileprivate mutating func add(_ unread: [Problem], of parts: [RelativePath], _ what: String) {
        for problem in unread {
            let text = "\(problem.path) \(what): \(problem.detail)"
            if parts.contains(where: { $0.contains(problem.path) || problem.path.contains($0) }) {
                add(RestoreProblem(problem.path, text, remedy: "restore again when it can be read"))
            } else {
                warn(text)
            }
        }
    }
}
