// The system's limits on watching against what a directory needs.

internal import FileIO
internal import FileWatching

/// What concerns inotify and fanotify.
struct WatchExamination {
    var limits = KernelLimits.current
    var use = InotifyUse.ofUser()
    /// How many directories are to be watched; nil where that is not known.
    var directories: Int?

    var findings: [Finding] { [watches, instances, queue, fanotify].compactMap { $0 } }

    private var watches: Finding? {
        guard let limit = limits[.inotifyWatches] else {
            return Finding(
                "watches", .bad, "inotify is not to be had", remedy: "use 'archiver watch --backend poll' here")
        }
        let need = use.watches + (directories ?? 0)
        let used = "\(use.watches) of \(limit) watches are in use"
        guard need > limit else {
            return Finding("watches", .good, used + (directories.map { ", \($0) more are needed" } ?? ""))
        }
        let line = "\(limits.decisiveSysctl(of: .inotifyWatches))=\(max(need * 2, 524_288))"
        return Finding(
            "watches", .bad,
            "\(used), \(directories ?? 0) more are needed: the rest is watched by fanotify or looked at at intervals",
            remedy: "run 'sysctl \(line)' as root, and put that line into /etc/sysctl.d/50-archiver.conf")
    }

    private var instances: Finding? {
        guard let limit = limits[.inotifyInstances] else { return nil }
        let used = "\(use.instances) of \(limit) inotify instances are in use"
        if use.instances < limit { return Finding("instances", .good, used) }
        let line = "\(limits.decisiveSysctl(of: .inotifyInstances))=\(max(limit * 2, 1024))"
        return Finding("instances", .bad, used, remedy: "run 'sysctl \(line)' as root")
    }

    private var queue: Finding? {
        guard let limit = limits[.inotifyQueue] else { return nil }
        let text = "\(limit) events may wait; what comes beyond is made up for by looking at everything"
        return limit >= 16_384
            ? Finding("queue", .good, text)
            : Finding("queue", .note, text, remedy: "run 'sysctl fs.inotify.max_queued_events=16384' as root")
    }

    private var fanotify: Finding {
        do throws(FileError) {
            _ = try TreeWatcher(backend: .fanotify)
            return Finding("fanotify", .good, limits[.fanotifyMarks].map { "\($0) marks may be set" } ?? "is there")
        } catch {
            return Finding("fanotify", .note, "is not to be had (\(error.code)); inotify does without")
        }
    }
}
