// The kernel and the process: version, clock, open files.

internal import FileIO
internal import Glibc

/// What concerns the machine as a whole.
enum KernelExamination {
    /// openat2(2) came with 5.6: before, paths are opened component by component.
    private static let wanted = (major: 5, minor: 6)

    static func kernel() -> Finding {
        var name = utsname()
        guard uname(&name) == 0 else { return Finding("kernel", .note, "the kernel does not tell its version") }
        let release = withUnsafeBytes(of: &name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        guard numbers.count == 2 else { return Finding("kernel", .note, "Linux \(release)") }
        if (numbers[0], numbers[1]) < (wanted.major, wanted.minor) {
            return Finding(
                "kernel", .note, "Linux \(release): paths are opened step by step, which is slower",
                remedy: "Linux \(wanted.major).\(wanted.minor) or later does it at once")
        }
        return Finding("kernel", .good, "Linux \(release)")
    }

    static func clock() -> Finding {
        if CurrentProcess.isClockKept == false {
            return Finding(
                "clock", .note, "nothing keeps the clock right; snapshots are named by its time",
                remedy: "run a time service such as systemd-timesyncd or chrony")
        }
        return Finding("clock", .good, "the clock is kept right")
    }

    static func openFiles() -> Finding {
        let limit = CurrentProcess.raiseOpenFileLimit()
        if limit < 256 {
            return Finding(
                "open files", .bad, "only \(limit) files may be open at once", remedy: "raise the limit: ulimit -n 1024"
            )
        }
        return Finding("open files", .good, "\(limit) files may be open at once")
    }
}
