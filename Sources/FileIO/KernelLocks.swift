// Finds the holders of a lock in the kernel's list.

internal import Glibc
package import SystemPackage

package enum KernelLocks {
    /// The number of flock(2) locks on a file that /proc/locks lists (proc(5)).
    ///
    /// The number is a hint: files of two file systems may share an inode number, and locks of other machines are not
    /// listed.
    package static func count(of path: FilePath) -> Int { holders(of: path).count }

    /// The processes with such locks; one that holds several is listed as often.
    package static func holders(of path: FilePath) -> [Int32] {
        guard let inode = try? FileIdentity.find(path)?.inode,
            let bytes = try? Descriptor.open(list, O_RDONLY).readToEnd(limit: byteLimit, path: list)
        else { return [] }
        // 1: FLOCK  ADVISORY  READ 1234 fe:00:131090 0 EOF
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK", words[5].split(separator: ":").last == "\(inode)" else {
                return nil
            }
            // A process of another PID namespace has the number 0 or -1.
            return Int32(words[4]) ?? 0
        }
    }

    /// A holder that is suspended, as by Ctrl-Z or a debugger; nil if all others run.
    package static func stoppedHolder(of path: FilePath) -> LockHolder? {
        for process in holders(of: path) where process > 0 && process != getpid() {
            let folder = FilePath("/proc/\(process)")
            guard let text = read(folder.appending("stat")), let end = text.lastIndex(of: ")"),
                text[end...].split(separator: " ").dropFirst().first?.lowercased() == "t"
            else { continue }
            let command = read(folder.appending("cmdline"))?.split(separator: "\0").joined(separator: " ")
            return LockHolder(process: process, command: command ?? "unknown")
        }
        return nil
    }

    private static func read(_ path: FilePath) -> String? {
        (try? Descriptor.open(path, O_RDONLY).readToEnd(limit: LockHolder.byteLimit, path: path)).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    private static let list: FilePath = "/proc/locks"
    private static let byteLimit = 1 << 20
}
