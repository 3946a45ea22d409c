// The kernel's limits on watches per user.

internal import FileIO
internal import Glibc
package import SystemPackage

/// One of the kernel's limits on watching.
package enum KernelLimit: String, Sendable, CaseIterable {
    case inotifyWatches = "fs.inotify.max_user_watches"
    case inotifyInstances = "fs.inotify.max_user_instances"
    case inotifyQueue = "fs.inotify.max_queued_events"
    case fanotifyMarks = "fs.fanotify.max_user_marks"
    case fanotifyGroups = "fs.fanotify.max_user_groups"
    case fanotifyQueue = "fs.fanotify.max_queued_events"

    /// The limit's name for sysctl(8).
    package var sysctl: String { rawValue }

    /// The name of the same limit for the current user namespace; queues have none (namespaces(7), /proc/sys/user).
    package var namespaceSysctl: String? {
        switch self {
        case .inotifyWatches: "user.max_inotify_watches"
        case .inotifyInstances: "user.max_inotify_instances"
        case .fanotifyMarks: "user.max_fanotify_marks"
        case .fanotifyGroups: "user.max_fanotify_groups"
        case .inotifyQueue, .fanotifyQueue: nil
        }
    }
}

/// The current values of the kernel's limits on watching.
package struct KernelLimits: Sendable, Hashable {
    private let system: [KernelLimit: Int]
    private let namespace: [KernelLimit: Int]

    /// The limits in force for this process.
    package static var current: KernelLimits { KernelLimits(in: "/proc/sys") }

    /// Reads the limits below `directory`, which is laid out like /proc/sys.
    package init(in directory: FilePath) {
        system = KernelLimits.read(in: directory) { $0.sysctl }
        namespace = KernelLimits.read(in: directory) { $0.namespaceSysctl }
    }

    /// The effective value: the lower of the system's and the user namespace's; nil if the kernel reports neither.
    package subscript(limit: KernelLimit) -> Int? {
        [system[limit], namespace[limit]].compactMap { $0 }.min()
    }

    /// The setting that determines the effective value; raising the other has no effect.
    package func decisiveSysctl(of limit: KernelLimit) -> String {
        guard let name = limit.namespaceSysctl, let inner = namespace[limit] else { return limit.sysctl }
        return inner < system[limit] ?? .max ? name : limit.sysctl
    }

    private static func read(in directory: FilePath, _ name: (KernelLimit) -> String?) -> [KernelLimit: Int] {
        var values: [KernelLimit: Int] = [:]
        for limit in KernelLimit.allCases {
            guard let name = name(limit) else { continue }
            values[limit] = number(in: directory.appending(name.split(separator: ".").map(String.init)))
        }
        return values
    }

    private static func number(in path: FilePath) -> Int? {
        guard let file = try? Descriptor.open(path, O_RDONLY),
            let text = try? file.readToEnd(limit: 64, path: path)
        else { return nil }
        return Int(String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
}

extension FilePath {
    fileprivate func appending(_ names: [String]) -> FilePath {
        names.reduce(self) { $0.appending($1) }
    }
}
