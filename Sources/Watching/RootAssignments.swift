// The roots of a service whose roots may change while it runs.

internal import ArchiveFormat
internal import Archives
internal import Capturing
package import Exclusions
internal import FileIO
internal import FileWatching
internal import Roots
package import SystemPackage
internal import Threading
package import WatchControl

extension WatchService {
    /// A root of a service whose roots may change, and how it is watched.
    package struct Root: Sendable, Hashable {
        /// Absolute, with symbolic links resolved in the existing part.
        package let path: FilePath
        /// How changes are gathered; nil fields mean the default.
        package var settings: WatchSettings
        /// What is excluded.
        package var exclusions: ExclusionRules

        package init(_ path: FilePath, _ settings: WatchSettings, _ exclusions: ExclusionRules) {
            self.path = path
            self.settings = settings
            self.exclusions = exclusions
        }
    }
}

/// The wanted roots, and those whose watching is to begin.
final class RootAssignments: Sendable {
    /// A root's worker: a task that watches it, again and again until it is removed.
    struct Worker {
        var root: WatchService.Root
        var isRemoved = false
        /// Cancelled when the root is removed.
        var task: Task<Void, Never>?
        /// Reaches 1 when the worker has ended.
        let end = Milestones()
        /// What the worker watches now.
        var watched: WatchedRoot?
    }

    private let workers = Locked<[FilePath: Worker]>([:])
    private let first: [WatchService.Root]
    let additions: AsyncStream<FilePath>
    private let continuation: AsyncStream<FilePath>.Continuation

    init(_ roots: [WatchService.Root]) {
        first = roots
        (additions, continuation) = AsyncStream.makeStream()
    }

    /// The roots to begin with.
    var initial: [WatchService.Root] { first }

    /// The wanted root at `path`.
    subscript(_ path: FilePath) -> WatchService.Root? { workers.withLock { $0[path]?.root } }

    /// The paths of the wanted roots.
    var paths: [FilePath] { workers.withLock { Array($0.keys) } }

    /// Begins a worker for `root`.
    func add(_ root: WatchService.Root) {
        workers.withLock { $0[root.path] = Worker(root: root) }
        if case .terminated = continuation.yield(root.path) { hasEnded(root.path) }
    }

    /// Replaces the settings and rules of a root that stays.
    ///
    /// - Returns: what is watched now.
    func replace(_ root: WatchService.Root) -> WatchedRoot? {
        workers.withLock { workers in
            workers[root.path]?.root = root
            return workers[root.path]?.watched
        }
    }

    /// Ends the worker of `path` after a last capture.
    ///
    /// - Returns: reaches 1 at its end; nil if there is no such worker.
    func remove(_ path: FilePath) -> Milestones? {
        let worker = workers.withLock { workers in
            workers[path]?.isRemoved = true
            return workers[path]
        }
        worker?.task?.cancel()
        return worker?.end
    }

    /// Runs the worker of `path`, in a task that ends with the present one, or when the root is removed.
    func run(_ path: FilePath, _ work: @escaping @Sendable () async -> Void) async {
        let task = Task { await work() }
        let isRemoved = workers.withLock { workers in
            workers[path]?.task = task
            return workers[path]?.isRemoved ?? true
        }
        if isRemoved { task.cancel() }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Records what a worker watches now.
    func set(_ watched: WatchedRoot?, of path: FilePath) {
        workers.withLock { $0[path]?.watched = watched }
    }

    /// What the worker of `path` watches now.
    func watched(at path: FilePath) -> WatchedRoot? { workers.withLock { $0[path]?.watched } }

    /// Records the end of a worker.
    func hasEnded(_ path: FilePath) {
        let end = workers.withLock { $0.removeValue(forKey: path)?.end }
        end?.reach(1)
    }
}
