// What the backends of a watch report, in words.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import FileWatching
internal import Roots

extension Finding {
    /// Why part of a root is watched by another backend.
    init(_ fallback: Fallback) {
        switch fallback {
        case .limit(let kind, let needed, let limit):
            let sysctl = KernelLimits.current.decisiveSysctl(of: kind)
            self.init(
                "\(kind.name) are used up (\(needed) directories need watches"
                    + (limit.map { ", the limit is \($0)" } ?? "")
                    + "): the rest is watched by fanotify, or polled",
                remedy: "run 'sysctl \(sysctl)=\(max(needed * 2, kind.generous))' as root; the watcher notices it")
        case .silentFileSystem:
            self.init(
                "the file system accepts watches but reports no events: it is polled",
                remedy: "watch the directory on the host, outside the container")
        case .remoteFileSystem:
            self.init(
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
