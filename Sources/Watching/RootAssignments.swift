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
        /// Requested when the root is removed.
        let ending: Ending
        /// Reaches 1 when the worker has ended.
        let end = Milestones()
        /// What the worker watches now.
        var watched: WatchedRoot?
    }

    private let workers = Locked<[FilePath: Worker]>([:])
    private let first: [WatchService.Root]
    private let ending: Ending
    let additions: AsyncStream<FilePath>
    private let continuation: AsyncStream<FilePath>.Continuation

    /// - Parameter ending: that of the service.
    init(_ roots: [WatchService.Root], within ending: Ending) {
        first = roots
        self.ending = ending
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
        let worker = Worker(root: root, ending: Ending(within: ending))
        workers.withLock { $0[root.path] = worker }
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
        let worker = workers.withLock { $0[path] }
        worker?.ending.request()
        worker?.watched?.end()
        return worker?.end
    }

    /// Records what a worker watches now.
    func set(_ watched: WatchedRoot?, of path: FilePath) {
        let ending = workers.withLock { workers in
            workers[path]?.watched = watched
            return workers[path]?.ending
        }
        if ending?.isRequested ?? true { watched?.end() }
    }

    /// What the worker of `path` watches now.
    func watched(at path: FilePath) -> WatchedRoot? { workers.withLock { $0[path]?.watched } }

    /// The end of a worker; nil if there is none.
    func ending(of path: FilePath) -> Ending? { workers.withLock { $0[path]?.ending } }

    /// Records the end of a worker.
    func hasEnded(_ path: FilePath) {
        let end = workers.withLock { $0.removeValue(forKey: path)?.end }
        end?.reach(1)
    }

    /// Begins no further worker.
    func finish() { continuation.finish() }
}
