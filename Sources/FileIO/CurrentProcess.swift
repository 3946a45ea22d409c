// What the running process may do, where it runs, and its clock.

internal import CLinux
internal import Glibc
package import SystemPackage

/// The running process.
package enum CurrentProcess {
    /// Whether the process runs as root, who may set owners and make devices.
    package static var isRoot: Bool { geteuid() == 0 }

    /// The machine's name; empty where the system does not tell.
    package static var hostName: String {
        // HOST_NAME_MAX is 64 on Linux (gethostname(2)).
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether a time service keeps the system's clock right; nil where the system does not tell.
    package static var isClockKept: Bool? {
        switch clinux_clock_is_kept() {
        case 0: false
        case 1: true
        default: nil
        }
    }

    /// Nanoseconds since some moment in the past, never turned back (CLOCK_MONOTONIC).
    package static var monotonicNanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// How long the process's own code has been running; what the system took to load it is not in it.
    package static var age: Duration {
        .nanoseconds(Int64(clamping: monotonicNanoseconds &- UInt64(clinux_start_nanoseconds())))
    }

    /// Lets the process open as many files as the system allows it: the soft limit becomes the hard one.
    ///
    /// - Returns: the limit now in force.
    @discardableResult
    package static func raiseOpenFileLimit() -> UInt64 {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        let soft = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        return setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
            ? UInt64(limit.rlim_cur) : UInt64(soft)
    }
}

extension FilePath {
    /// The path from `/` on, as it is now meant: relative paths begin in the process's current directory.
    package var absolute: FilePath {
        guard !isAbsolute, let pointer = getcwd(nil, 0) else { return self }
        defer { free(pointer) }
        var absolute = FilePath(platformString: pointer)
        // Not so `..`, which behind a symbolic link is another directory than the one before it.
        for component in components where component.kind != .currentDirectory { absolute.append(component) }
        return absolute
    }
}
