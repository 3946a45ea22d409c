// What the watcher tells about itself, in the words of the service.

internal import ArchiveFormat
internal import FileIO
internal import FileWatching
internal import Roots
internal import SystemPackage
internal import WatchControl

/// Translates the watcher's events, and keeps in the journal what `status` has to tell later.
enum WatchNews {
    /// - Returns: the service's event; nil where it is told elsewhere: with the first capture, or with the batch that
    ///   makes up for a gap.
    static func record(_ event: WatchEvent, of path: FilePath, into journal: WatchJournal) -> WatchService.Event? {
        switch event {
        case .armed, .gap, .audited: return nil
        case .degraded(let degradation):
            let trouble = trouble(degradation)
            journal.add(trouble)
            return .degraded(root: path, message: trouble.message, remedy: trouble.remedy)
        case .rootUnavailable:
            journal.enter(.unavailable)
            return .unavailable(root: path)
        case .rootBack:
            journal.enter(.watching)
            return .available(root: path)
        }
    }

    private static func trouble(_ degradation: Degradation) -> WatcherStatus.Trouble {
        switch degradation {
        case .limit(let kind, let needed, let limit):
            let sysctl = KernelLimits.current.decisiveSysctl(of: kind)
            return WatcherStatus.Trouble(
                message: "\(kind.name) are used up (\(needed) directories are to be watched"
                    + (limit.map { ", the limit is \($0)" } ?? "")
                    + "): the rest is watched by fanotify, or looked at at intervals",
                remedy: "run 'sysctl \(sysctl)=\(max(needed * 2, kind.generous))' as root; it is picked up by itself")
        case .silentFileSystem:
            return WatcherStatus.Trouble(
                message: "the file system takes watches but reports nothing: changes are looked for at intervals",
                remedy: "watch the directory on the system that holds it, outside of the container")
        case .remoteFileSystem:
            return WatcherStatus.Trouble(
                message: "the file system is remote: what other machines change is looked for at intervals",
                remedy: nil)
        }
    }
}

extension TreeWatcher {
    /// A watcher for the roots of one service.
    ///
    /// - Throws: `ArchiverError` where the backend is not to be had.
    static func make(_ backend: WatchService.Backend) throws -> TreeWatcher {
        do {
            return try TreeWatcher(backend: WatchBackend(rawValue: backend.rawValue) ?? .auto)
        } catch {
            throw ArchiverError(
                .system, "\(backend.rawValue) is not to be had: \(error.code)",
                remedy: "use '--backend auto', which takes what there is")
        }
    }
}

extension KernelLimit {
    /// What the limit is on.
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

    /// A value that is enough for most.
    fileprivate var generous: Int {
        switch self {
        case .inotifyWatches, .fanotifyMarks: 524_288
        case .inotifyInstances, .fanotifyGroups: 1_024
        case .inotifyQueue, .fanotifyQueue: 16_384
        }
    }
}
