// The system's limits on watching against what a directory needs.

internal import FileIO
internal import FileWatching
internal import Glibc
internal import SystemPackage

/// What concerns inotify and fanotify.
enum WatchExamination {
    /// - Parameter directories: how many are to be watched; nil where that is not known.
    static func findings(directories: Int?) -> [Finding] {
        let limits = KernelLimits.current
        let use = InotifyUse.ofUser()
        return [watches(limits, use, directories), instances(limits, use), queue(limits), fanotify(limits)]
            .compactMap { $0 }
    }

    private static func watches(_ limits: KernelLimits, _ use: InotifyUse, _ directories: Int?) -> Finding? {
        guard let limit = limits[.inotifyWatches] else {
            return Finding(
                "watches", .bad, "inotify is not to be had", remedy: "use 'archiver watch --backend poll' here")
        }
        let need = use.watches + (directories ?? 0)
        let used = "\(use.watches) of \(limit) watches are in use"
        guard need > limit else {
            return Finding("watches", .good, used + (directories.map { ", \($0) more are needed" } ?? ""))
        }
        let line = "fs.inotify.max_user_watches=\(max(need * 2, 524_288))"
        return Finding(
            "watches", .bad,
            "\(used), \(directories ?? 0) more are needed: the rest is watched by fanotify or looked at at intervals",
            remedy: "run 'sysctl \(line)' as root, and put that line into /etc/sysctl.d/50-archiver.conf")
    }

    private static func instances(_ limits: KernelLimits, _ use: InotifyUse) -> Finding? {
        guard let limit = limits[.inotifyInstances] else { return nil }
        let used = "\(use.instances) of \(limit) inotify instances are in use"
        if use.instances < limit { return Finding("instances", .good, used) }
        return Finding(
            "instances", .bad, used,
            remedy: "run 'sysctl fs.inotify.max_user_instances=\(max(limit * 2, 1024))' as root")
    }

    private static func queue(_ limits: KernelLimits) -> Finding? {
        guard let limit = limits[.inotifyQueue] else { return nil }
        let text = "\(limit) events may wait; what comes beyond is made up for by looking at everything"
        return limit >= 16_384
            ? Finding("queue", .good, text)
            : Finding("queue", .note, text, remedy: "run 'sysctl fs.inotify.max_queued_events=16384' as root")
    }

    private static func fanotify(_ limits: KernelLimits) -> Finding {
        do throws(FileError) {
            _ = try TreeWatcher(backend: .fanotify)
            return Finding("fanotify", .good, limits[.fanotifyMarks].map { "\($0) marks may be set" } ?? "is there")
        } catch {
            return Finding("fanotify", .note, "is not to be had (\(error.code)); inotify does without")
        }
    }
}

/// How much of inotify the user's processes have in use (proc(5), fdinfo).
struct InotifyUse {
    private(set) var instances = 0
    private(set) var watches = 0

    /// Counts over the processes that the caller may look into.
    static func ofUser() -> InotifyUse {
        var use = InotifyUse()
        for process in names(in: "/proc") where process.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            let files = "/proc/\(process)/fd"
            for file in names(in: files) where target("\(files)/\(file)") == "anon_inode:inotify" {
                use.instances += 1
                use.watches += lines("/proc/\(process)/fdinfo/\(file)") { $0.hasPrefix("inotify") }
            }
        }
        return use
    }

    private static func names(in directory: String) -> [String] {
        guard let opened = try? Descriptor.open(FilePath(directory), O_RDONLY | O_DIRECTORY),
            let records = try? DirectoryReader.list(opened, path: .root)
        else { return [] }
        return records.map { String(decoding: $0.name, as: UTF8.self) }
    }

    private static func target(_ link: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 64)
        let length = readlink(link, &buffer, buffer.count)
        return length < 0 ? nil : String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func lines(_ path: String, _ isCounted: (Substring) -> Bool) -> Int {
        guard let file = try? Descriptor.open(FilePath(path), O_RDONLY),
            let text = try? file.readToEnd(limit: 256 << 20, path: FilePath(path))
        else { return 0 }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").count(where: isCounted)
    }
}
