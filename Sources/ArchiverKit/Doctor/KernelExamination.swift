// The kernel and the process: version, clock, open files.

internal import FileIO
internal import Glibc

/// What concerns the machine as a whole.
enum KernelExamination {
    /// openat2(2) came with 5.6: before, paths are opened component by component.
    private static let wanted = (major: 5, minor: 6)

    /// The kernel's release, such as "6.12.1-arch1"; nil where it does not tell.
    private static var release: String? {
        var name = utsname()
        guard uname(&name) == 0 else { return nil }
        return withUnsafeBytes(of: &name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    static func kernel(_ release: String? = release) -> Finding {
        guard let release else { return Finding("kernel", .note, "the kernel does not tell its version") }
        let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        guard numbers.count == 2 else { return Finding("kernel", .note, "Linux \(release)") }
        if (numbers[0], numbers[1]) < (wanted.major, wanted.minor) {
            return Finding(
                "kernel", .note, "Linux \(release): paths are opened step by step, which is slower",
                remedy: "Linux \(wanted.major).\(wanted.minor) or later does it at once")
        }
        return Finding("kernel", .good, "Linux \(release)")
    }

    static func clock(isKept: Bool? = CurrentProcess.isClockKept) -> Finding {
        switch isKept {
        case true?: return Finding("clock", .good, "the clock is kept right")
        case nil: return Finding("clock", .note, "the system does not tell whether the clock is kept right")
        case false?:
            return Finding(
                "clock", .note, "nothing keeps the clock right; snapshots are named by its time",
                remedy: "run a time service such as systemd-timesyncd or chrony")
        }
    }

    static func openFiles(limit: UInt64 = CurrentProcess.raiseOpenFileLimit()) -> Finding {
        let text = "\(limit) files may be open at once"
        if limit >= 256 { return Finding("open files", .good, text) }
        return Finding("open files", .bad, "only " + text, remedy: "raise the limit: ulimit -n 1024")
    }
}
