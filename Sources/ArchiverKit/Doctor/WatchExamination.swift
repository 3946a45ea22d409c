// Compares the system's limits on watching with a directory's needs.

internal import ArchiveStorage
internal import FileIO
internal import FileWatching

/// The examination of inotify and fanotify.
struct WatchExamination {
    var limits = KernelLimits.current
    var use = InotifyUse.ofUser()
    /// How many directories are to be watched; nil if unknown.
    var directories: Int?

    var findings: [DoctorFinding] { [watches, instances, queue, fanotify].compactMap { $0 } }

    private var watches: DoctorFinding? {
        guard let limit = limits[.inotifyWatches] else {
            return DoctorFinding(
                "watches", .bad, "inotify is not available", remedy: Advice.poll.text)
        }
        let need = use.watches + (directories ?? 0)
        let used = "\(use.watches) of \(limit) watches are in use"
        let more = "\(directories ?? 0) more \(directories == 1 ? "is" : "are") needed"
        guard need > limit else {
            return DoctorFinding("watches", .good, directories == nil ? used : "\(used), \(more)")
        }
        let line = "\(limits.decisiveSysctl(of: .inotifyWatches))=\(max(need * 2, 524_288))"
        return DoctorFinding(
            "watches", .bad,
            "\(used), \(more): the rest is watched by fanotify, or polled",
            remedy: "run 'sysctl \(line)' as root, and add that line to /etc/sysctl.d/50-archiver.conf")
    }

    private var instances: DoctorFinding? {
        guard let limit = limits[.inotifyInstances] else { return nil }
        let used = "\(use.instances) of \(limit) inotify instances are in use"
        if use.instances < limit { return DoctorFinding("instances", .good, used) }
        let line = "\(limits.decisiveSysctl(of: .inotifyInstances))=\(max(limit * 2, 1024))"
        return DoctorFinding("instances", .bad, used, remedy: "run 'sysctl \(line)' as root")
    }

    private var queue: DoctorFinding? {
        guard let limit = limits[.inotifyQueue] else { return nil }
        let text = "\(limit) events may be queued; if there are more, everything is scanned"
        return limit >= 16_384
            ? DoctorFinding("queue", .good, text)
            : DoctorFinding("queue", .note, text, remedy: "run 'sysctl fs.inotify.max_queued_events=16384' as root")
    }

    private var fanotify: DoctorFinding {
        do throws(FileError) {
            _ = try TreeWatcher(backend: .fanotify)
            return DoctorFinding("fanotify", .good, limits[.fanotifyMarks].map { "\($0) marks may be set" } ?? "works")
        } catch {
            return DoctorFinding("fanotify", .note, "not available (\(error.code)); inotify does not need it")
        }
    }
}
