// Examines the kernel and the process: version, clock, open files.

internal import FileIO
internal import Glibc

/// The examinations of the machine.
enum KernelExamination {
    /// The first version with openat2(2); without it, paths are opened component by component.
    private static let wanted = (major: 5, minor: 6)

    /// The kernel's release, such as "6.12.1-arch1"; nil if unknown.
    private static var release: String? {
        var name = utsname()
        guard uname(&name) == 0 else { return nil }
        return withUnsafeBytes(of: &name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    static func kernel(_ release: String? = release) -> DoctorFinding {
        guard let release else { return DoctorFinding("kernel", .note, "the kernel's version is unknown") }
        let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        guard numbers.count == 2 else { return DoctorFinding("kernel", .note, "Linux \(release)") }
        if (numbers[0], numbers[1]) < (wanted.major, wanted.minor) {
            return DoctorFinding(
                "kernel", .note, "Linux \(release): paths are opened component by component, which is slower",
                remedy: "Linux \(wanted.major).\(wanted.minor) or later opens them in one call")
        }
        return DoctorFinding("kernel", .good, "Linux \(release)")
    }

    static func clock(isKept: Bool? = CurrentProcess.isClockKept) -> DoctorFinding {
        switch isKept {
        case true?: return DoctorFinding("clock", .good, "the clock is synchronised")
        case nil: return DoctorFinding("clock", .note, "it is unknown whether the clock is synchronised")
        case false?:
            return DoctorFinding(
                "clock", .note, "the clock is not synchronised; snapshots are named by its time",
                remedy: "run a time service such as systemd-timesyncd or chrony")
        }
    }

    static func openFiles(limit: UInt64 = CurrentProcess.raiseOpenFileLimit()) -> DoctorFinding {
        let text = "\(limit) files may be open at the same time"
        if limit >= 256 { return DoctorFinding("open files", .good, text) }
        return DoctorFinding("open files", .bad, "only " + text, remedy: "raise the limit: ulimit -n 1024")
    }
}
