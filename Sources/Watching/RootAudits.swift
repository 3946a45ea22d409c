// The audits of a root: comparisons of everything with the latest snapshot, as some changes cause no event (writes to
// mapped memory, through a hard link outside the root, or by another machine).

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import Capturing
internal import Exclusions
internal import FileIO
internal import FileWatching
internal import Mementos
internal import Roots
internal import SnapshotTree
internal import SystemPackage
internal import Threading
internal import WatchControl

/// Audits one root, at intervals and on request.
///
/// The root owns its audits and passes itself to each call, so that only an audit in progress holds the root.
final class RootAudits: Sendable {
    /// The timer that starts audits.
    private let timer = Locked<Task<Void, Never>?>(nil)
    private let underWay = Locked<Task<Result<AuditResult, ArchiverError>, Never>?>(nil)

    /// From this many changed paths on, the whole root is captured instead of each path.
    private static let pathsLimit = 65_536

    /// Compares everything, captures missed changes, and repairs the watches.
    ///
    /// If an audit is already in progress, waits for its result.
    func run(on root: WatchedRoot) async -> Result<AuditResult, ArchiverError> {
        let task = underWay.withLock { running in
            if let running { return running }
            let task = Task { await self.audit(root) }
            running = task
            return task
        }
        return await task.value
    }

    /// Starts audits at the interval of the root's settings.
    func begin(on root: WatchedRoot) {
        let interval = root.settings.usedAuditInterval
        timer.withLock { timer in
            timer?.cancel()
            if interval == .zero { return timer = nil }
            timer = Task { [weak root] in
                while !Task.isCancelled {
                    // The clock also runs while the machine sleeps, so that an audit is due soon after it wakes.
                    let slept: ()? = try? await Task.sleep(for: interval, tolerance: interval / 10, clock: .continuous)
                    guard slept != nil, let root else { return }
                    _ = await root.audits.run(on: root)
                }
            }
        }
    }

    /// Starts no further audit; one in progress continues.
    func end() {
        timer.withLock { $0?.cancel() }
    }

    private func audit(_ root: WatchedRoot) async -> Result<AuditResult, ArchiverError> {
        defer { underWay.withLock { $0 = nil } }
        let (path, state, service) = (root.path, root.state, root.service)
        do throws(ArchiverError) {
            guard state.phase == .watching else {
                throw ArchiverError(
                    .noSuchDirectory, "\(path) cannot be audited: it is \(state.phase.rawValue)",
                    remedy: "try again when it is watched", path: path)
            }
            let result = try await compareAll(root)
            state.add(result)
            service.report(.audited(root: path, result))
            return .success(result)
        } catch {
            if !root.shouldStop { service.report(.error(root: path, error)) }
            return .failure(error)
        }
    }

    private func compareAll(_ root: WatchedRoot) async throws(ArchiverError) -> AuditResult {
        let (time, start) = (Timestamp.now, ContinuousClock.now)
        let watching = await root.watch.audit()
        // If another process has made the latest snapshot, capture first: this watcher may capture differently.
        if let caughtUp = try await root.captures.capture([], of: root).snapshot { root.announce(caughtUp) }
        root.state.beginCollecting()
        let progress = OperationProgress()
        let (archive, rules, path) = (root.service.archive, root.rules, root.path)
        let changed: [RelativePath]?
        do throws(ArchiverError) {
            // At low priority and without the root's lock, so that captures continue.
            changed = try await Blocking.runInBackground { () throws(ArchiverError) in
                try facing {
                    try archive.current().archive.changedPaths(
                        of: path, rules, limit: RootAudits.pathsLimit, progress)
                }
            }
        } catch {
            _ = root.state.endCollecting()
            throw error
        }
        await root.settle()
        let reported = root.state.endCollecting()
        let ranges = unreported(changed, reported)
        var result = AuditResult(
            time: time, entries: progress.reading.entries,
            repaired: (watching?.missingWatches ?? 0) + (watching?.strayWatches ?? 0))
        if !ranges.isEmpty {
            let capture = try await root.captures.capture(ranges, of: root, cause: .audit, postpones: false)
            if let snapshot = capture.snapshot {
                result.snapshot = snapshot.id
                result.found = Int(snapshot.changes.added + snapshot.changes.modified + snapshot.changes.removed)
                root.announce(snapshot)
            }
        }
        result.seconds = (ContinuousClock.now - start).seconds
        return result
    }

    /// Returns the ranges of changed paths that no capture has visited.
    private func unreported(_ changed: [RelativePath]?, _ reported: [PathRange]) -> [PathRange] {
        guard let changed, changed.count < RootAudits.pathsLimit else { return [.subtree(.root)] }
        return changed.filter { path in !reported.contains { $0.covers(path) } }.map { .entry($0) }
    }
}

extension Archive {
    /// Returns the paths at which a root differs from its latest snapshot, in walk order, at most `limit`.
    ///
    /// The snapshot's tree is read from disk, not from memory.
    ///
    /// - Returns: nil if that tree is damaged. The next capture then visits the whole root.
    func changedPaths(
        of path: FilePath, _ rules: ExclusionRules, limit: Int, _ progress: OperationProgress
    ) throws -> [RelativePath]? {
        let root = try RootDirectory.open(path)
        let parent = try store.catalogue.latestSnapshot(ofRoot: root.path.bytes, machine: Machine.id)
        guard let latest = parent else { return [] }
        var paths: [RelativePath] = []
        store.forgetReadBlocks()
        do {
            let scan = TreeScan(comparing: StoredNodes(store), rules, removesExcluded: true, progress)
            try scan.run(root, base: latest.tree, ranges: [.subtree(.root)]) { change in
                guard change.problem == nil, change.isDifference,
                    let difference = Difference(left: change.old, right: change.new), !difference.isDirectoryTimeOnly
                else { return }
                paths.append(difference.path)
                if paths.count >= limit { throw LimitReached() }
            }
        } catch is LimitReached {
        } catch let error as StorageError {
            guard error.code == .damaged else { throw error }
            try store.catalogue.recordLoss(ofRoot: root.path.bytes, machine: Machine.id)
            return nil
        }
        return paths
    }

    private struct LimitReached: Error {}
}
