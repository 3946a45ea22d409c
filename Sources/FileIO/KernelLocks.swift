// Counts the holders of a lock in the kernel's list.

internal import Glibc
package import SystemPackage

package enum KernelLocks {
    /// The number of flock(2) locks on a file that /proc/locks lists (proc(5)).
    ///
    /// The number is a hint: files of two file systems may share an inode number, and locks of other machines are not
    /// listed.
    package static func count(of path: FilePath) -> Int {
        guard let inode = try? FileIdentity.find(path)?.inode,
            let bytes = try? Descriptor.open(list, O_RDONLY).readToEnd(limit: byteLimit, path: list)
        else { return 0 }
        // 1: FLOCK  ADVISORY  READ 1234 fe:00:131090 0 EOF
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").count { line in
            let words = line.split(separator: " ")
            return words.count >= 6 && words[1] == "FLOCK" && words[5].split(separator: ":").last == "\(inode)"
        }
    }

    private static let list: FilePath = "/proc/locks"
    private static let byteLimit = 1 << 20
}
