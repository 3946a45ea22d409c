// The running process: its privileges, its machine, its clock and its limits.

internal import CLinux
internal import Glibc
package import SystemPackage

/// The running process.
package enum CurrentProcess {
    /// Whether the process runs as root, which can set owners and create devices.
    package static var isRoot: Bool { geteuid() == 0 }

    /// The arguments of `main`; the first one is the program's name.
    package static var arguments: [[UInt8]] {
        var arguments: [[UInt8]] = []
        while let argument = clinux_argument(CInt(arguments.count)) {
            arguments.append([UInt8](UnsafeRawBufferPointer(start: argument, count: strlen(argument))))
        }
        return arguments
    }

    /// Opens /dev/null in place of each of the descriptors 0 to 2 that is closed.
    ///
    /// Otherwise the next file that the program opens becomes its standard output, and gets what it prints. Reading
    /// finds nothing and writing fails, as it does with a closed descriptor.
    package static func reserveStandardDescriptors() {
        for number: CInt in 0...2 where fcntl(number, F_GETFD) == -1 && errno == EBADF {
            // The lowest free number is `number`.
            _ = Glibc.open("/dev/null", O_RDONLY)
        }
    }

    /// The machine's name; empty if the system does not report it.
    package static var hostName: String {
        // HOST_NAME_MAX is 64 on Linux (gethostname(2)).
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether a time service synchronizes the system's clock; nil if the system does not report it.
    package static var isClockKept: Bool? {
        switch clinux_clock_is_kept() {
        case 0: false
        case 1: true
        default: nil
        }
    }

    /// Nanoseconds since an arbitrary moment in the past; never decreases (CLOCK_MONOTONIC).
    package static var monotonicNanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// How long the process's own code has been running, without the time that the system took to load it.
    package static var age: Duration {
        .nanoseconds(Int64(clamping: monotonicNanoseconds &- UInt64(clinux_start_nanoseconds())))
    }

    /// Returns free memory to the system.
    ///
    /// The C library keeps what it was given: a heap for each of several threads, and each as large as it ever was.
    package static func releaseFreeMemory() { clinux_trim_heaps() }

    /// Has large buffers go back to the system when they are freed, and threads share heaps, from now on.
    ///
    /// A capture of a million files then needs a sixth less memory, a restore from a replica a quarter less.
    package static func limitHeaps() { clinux_limit_heaps() }

    /// Raises the soft limit on open files to the hard limit.
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
    /// The absolute path; a relative path is resolved against the process's current directory.
    package var absolute: FilePath {
        guard !isAbsolute, let pointer = getcwd(nil, 0) else { return self }
        defer { free(pointer) }
        var absolute = FilePath(platformString: pointer)
        // `..` is not resolved: after a symbolic link it is not the directory named before the link.
        for component in components where component.kind != .currentDirectory { absolute.append(component) }
        return absolute
    }
}
