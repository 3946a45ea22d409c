// Translates the tree watcher's events into the service's.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import FileWatching
internal import Roots
internal import SystemPackage
internal import WatchControl

/// Translates the watcher's events, and records in the state what `status` reports later.
enum WatchNews {
    /// - Returns: the service's event; nil if it is reported elsewhere: with the first capture, or with the batch that
    ///   closes a gap.
    static func record(_ event: WatchEvent, of path: FilePath, into state: RootState) -> WatchService.Event? {
        switch event {
        case .armed, .gap, .audited: return nil
        case .fallback(let fallback):
            let finding = finding(fallback)
            state.add(finding)
            return .fallback(root: path, message: finding.message, remedy: finding.remedy)
        case .rootUnavailable:
            state.enter(.unavailable)
            return .unavailable(root: path)
        case .rootBack:
            state.enter(.watching)
            return .available(root: path)
        }
    }

    private static func finding(_ fallback: Fallback) -> Finding {
        switch fallback {
        case .limit(let kind, let needed, let limit):
            let sysctl = KernelLimits.current.decisiveSysctl(of: kind)
            return Finding(
                "\(kind.name) are used up (\(needed) directories need watches"
                    + (limit.map { ", the limit is \($0)" } ?? "")
                    + "): the rest is watched by fanotify, or polled",
                remedy: "run 'sysctl \(sysctl)=\(max(needed * 2, kind.generous))' as root; the watcher notices it")
        case .silentFileSystem:
            return Finding(
                "the file system accepts watches but reports no events: it is polled",
                remedy: "watch the directory on the host, outside the container")
        case .remoteFileSystem:
            return Finding(
                "the file system is remote: it is polled for the changes of other machines",
                remedy: nil)
        }
    }
}

extension TreeWatcher {
    /// Creates the watcher for the roots of one service.
    ///
    /// - Throws: `ArchiverError` if the backend is not available.
    static func make(_ backend: WatchBackend) throws -> TreeWatcher {
        do {
            return try TreeWatcher(backend: backend)
        } catch {
            throw ArchiverError(
                .system, "\(backend.rawValue) is not available: \(error.code)",
                remedy: Advice.automaticBackend.text)
        }
    }
}

extension KernelLimit {
    /// The limited resource, as a plural noun for messages.
    fileprivate var name: String {
        switch self {
        case .inotifyWatches: "inotify's watches"
        case .inotifyInstances: "inotify's instances"
        case .inotifyQueue: "inotify's events"
        case .fanotifyMarks: "fanotify's marks"
        case .fanotifyGroups: "fanotify's groups"
        case .fanotifyQueue: "fanotify's events"
        }
    }

    /// A value that suffices for most machines.
    fileprivate var generous: Int {
        switch self {
        case .inotifyWatches, .fanotifyMarks: 524_288
        case .inotifyInstances, .fanotifyGroups: 1_024
        case .inotifyQueue, .fanotifyQueue: 16_384
        }
    }
}
