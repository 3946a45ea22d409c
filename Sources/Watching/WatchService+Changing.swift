// A service whose roots change while it runs: each root has a worker, which begins again if it fails.

internal import ArchiveFormat
internal import Archives
internal import Capturing
package import Exclusions
internal import FileIO
internal import FileWatching
package import Roots
package import SystemPackage
internal import Threading
internal import WatchControl

extension WatchService {
    /// Watches other roots from now on; returns when the removed ones have ended and changed rules are in force.
    ///
    /// A removed root ends after a last capture. A root that stays is watched without interruption; if its rules change,
    /// its watches are set again and everything is compared. New roots begin; events report when they are watched. Only for a service made with `changing`; calls must
    /// not overlap.
    ///
    /// - Returns: the errors of roots whose new settings or rules cannot be applied now; later starts apply them.
    package func change(to roots: [Root]) async -> [FilePath: ArchiverError] {
        // Before the service has begun, its first roots would replace these.
        guard let assignments, await opened.wait(for: 1), !shouldStop else { return [:] }
        return await apply(roots, assignments)
    }

    private func apply(_ roots: [Root], _ assignments: RootAssignments) async -> [FilePath: ArchiverError] {
        let wanted = Dictionary(roots.map { ($0.path, $0) }) { first, _ in first }
        let uncovered = await uncovered(wanted)
        var ends: [Milestones] = []
        for path in assignments.paths where !uncovered.contains(path) {
            if let end = assignments.remove(path) { ends.append(end) }
        }
        // A removed root's last capture may belong to a root around it, so the old ones end before new ones begin.
        for end in ends { await end.wait(for: 1) }
        var failures: [FilePath: ArchiverError] = [:]
        for root in roots where uncovered.contains(root.path) {
            guard let former = assignments[root.path] else {
                assignments.add(root)
                continue
            }
            guard former != root else { continue }
            guard let watched = assignments.replace(root), watched.phase == .watching else {
                // It is missing, or is being read under the old rules: it begins again.
                await assignments.remove(root.path)?.wait(for: 1)
                assignments.add(root)
                continue
            }
            do throws(ArchiverError) { try await configure(root, watched) } catch { failures[root.path] = error }
        }
        return failures
    }

    /// Applies a root's new settings and rules to what is watched now.
    private func configure(_ root: Root, _ watched: WatchedRoot) async throws(ArchiverError) {
        _ = try await Blocking.run { [archive] () throws(ArchiverError) in
            try facing { try archive.latest.change(root.settings, ofRoot: root.path, isReset: true) }
        }
        try await watched.configure(root.exclusions)
    }

    /// The paths of the roots that no other one captures.
    private func uncovered(_ wanted: [FilePath: Root]) async -> Set<FilePath> {
        let (archive, options) = (archive.latest, options)
        return await Blocking.run {
            let paths = wanted.keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
            // Tolerant, so it does not throw for a path; without the check, each root is watched on its own.
            let found = try? WatchedPaths(paths, options, archive, isTolerant: true) { path in
                wanted[path]?.exclusions ?? options.newRootExclusions
            }
            for (inner, outer) in found?.covered ?? [] { self.report(.covered(root: inner, by: outer)) }
            return Set(found?.paths ?? paths)
        }
    }

    /// Watches the assigned roots until `stop`.
    func watch(_ assignments: RootAssignments) async throws(ArchiverError) {
        let watcher: TreeWatcher
        do { watcher = try TreeWatcher.make(options.backend) } catch { throw ArchiverError(any: error) }
        self.watcher.withLock { $0 = watcher }
        defer { self.watcher.withLock { $0 = nil } }
        let upkeep = options.maintenance.map { Upkeep(self, $0) }
        self.upkeep.withLock { $0 = upkeep }
        upkeep?.begin()
        beginReplicating()
        defer {
            upkeep?.cancel()
            self.upkeep.withLock { $0 = nil }
        }
        _ = await apply(assignments.initial, assignments)
        opened.reach(1)
        await withTaskGroup(of: Void.self) { group in
            for await path in assignments.additions {
                group.addTask { await assignments.run(path) { await self.work(on: path, assignments, watcher) } }
            }
            await group.waitForAll()
        }
        // Those that did not begin before the end.
        for path in assignments.paths { assignments.hasEnded(path) }
    }

    /// Watches a root until the task is cancelled; begins again, after a pause, if that fails.
    private func work(on path: FilePath, _ assignments: RootAssignments, _ watcher: TreeWatcher) async {
        defer { assignments.hasEnded(path) }
        var retries = options.retries
        var reported: String?
        while !Task.isCancelled {
            do {
                let root = try await Blocking.run { () throws(ArchiverError) in
                    try facing { try self.begin(path, watcher) }
                }
                assignments.set(root, of: path)
                defer { withdraw(path, assignments) }
                try await run(root) { assignments.set($0, of: path) }
                return
            } catch {
                let error = ArchiverError(any: error)
                if error.message != reported { report(.error(root: path, error)) }
                reported = error.message
                try? await Task.sleep(for: retries.next())
            }
        }
        report(.stopped(root: path))
    }

    /// Opens and locks the root at `path`.
    private func begin(_ path: FilePath, _ watcher: TreeWatcher) throws -> WatchedRoot {
        _ = try archive.current()
        _ = try WatchedPaths.open(path, options, archive.latest)
        let root = try open(path, watcher)
        roots.withLock { $0.append(root) }
        return root
    }

    /// Releases what the worker of `path` has watched.
    private func withdraw(_ path: FilePath, _ assignments: RootAssignments) {
        guard let last = assignments.watched(at: path) else { return }
        assignments.set(nil, of: path)
        roots.withLock { $0.removeAll { $0 === last } }
        last.finish()
    }
}

extension WatchService {
    /// Whether a capture of the root at `outer` with `rules` contains the directory `inner`; false if that is unknown.
    package static func captures(_ inner: FilePath, within outer: FilePath, _ rules: ExclusionRules) -> Bool {
        guard let root = try? RootDirectory.open(outer) else { return false }
        return (try? WatchedPaths.captures(root, inner, try? RootDirectory.open(inner), rules)) ?? false
    }
}
