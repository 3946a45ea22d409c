// Finds the holders of a lock in the kernel's list.

internal import Glibc
package import SystemPackage

package enum KernelLocks {
    /// The other processes with a flock(2) lock on a file that /proc/locks lists (proc(5)), with their commands.
    ///
    /// This is a hint: files of two file systems may share an inode number, and locks of other machines are not listed.
    /// While the kernel makes the list, no process of the machine can lock or unlock anything, which takes milliseconds.
    package static func holders(of path: FilePath) -> [LockHolder] {
        Set(processes(with: path)).subtracting([getpid(), 0]).sorted().compactMap { process in
            let file = FilePath("/proc/\(process)/cmdline")
            guard let bytes = try? Descriptor.open(file, O_RDONLY).readToEnd(limit: byteLimit, path: file) else {
                return nil
            }
            let text = String(decoding: bytes, as: UTF8.self)
            return LockHolder(process: process, command: text.split(separator: "\0").joined(separator: " "))
        }
    }

    /// A holder that is suspended, as by Ctrl-Z or a debugger; nil if all others run.
    package static func stoppedHolder(of path: FilePath) -> LockHolder? {
        holders(of: path).first(where: \.isStopped)
    }

    /// The ids of the processes with such locks, one for each lock; 0 for a process of another PID namespace.
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
            return max(0, pid_t(words[4]) ?? 0)
        }
    }

    private static let list: FilePath = "/proc/locks"
    private static let byteLimit = 1 << 20
}
