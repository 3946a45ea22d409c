// Finds the holders of a lock in the kernel's list.

internal import Glibc
package import SystemPackage

package enum KernelLocks {
    /// The number of flock(2) locks on a file that /proc/locks lists (proc(5)).
    ///
    /// The number is a hint: files of two file systems may share an inode number, and locks of other machines are not
    /// listed.
    package static func count(of path: FilePath) -> Int { processes(with: path).count }

    /// The other processes that hold such locks, each as "archiver watch (process 1234)".
    ///
    /// The same hint; empty if the system does not show them.
    package static func holders(of path: FilePath) -> [String] {
        Set(processes(with: path)).subtracting([getpid()]).sorted().compactMap { id in
            let file = FilePath("/proc/\(id)/cmdline")
            guard let bytes = try? Descriptor.open(file, O_RDONLY).readToEnd(limit: byteLimit, path: file) else {
                return nil
            }
            let words = bytes.split(separator: 0).prefix(2).map { String(decoding: $0, as: UTF8.self) }
            guard let program = words.first?.split(separator: "/").last else { return nil }
            return ([String(program)] + words.dropFirst()).joined(separator: " ") + " (process \(id))"
        }
    }

    /// The ids of the processes that hold locks, one for each lock.
    private static func processes(with path: FilePath) -> [pid_t] {
        guard let inode = try? FileIdentity.find(path)?.inode,
            let bytes = try? Descriptor.open(list, O_RDONLY).readToEnd(limit: byteLimit, path: list)
        else { return [] }
        // 1: FLOCK  ADVISORY  READ 1234 fe:00:131090 0 EOF
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK", words[5].split(separator: ":").last == "\(inode)" else {
                return nil
            }
            return pid_t(words[4])
        }
    }

    private static let list: FilePath = "/proc/locks"
    private static let byteLimit = 1 << 20
}
