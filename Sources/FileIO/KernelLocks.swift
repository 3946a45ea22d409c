// How many have a lock, as the kernel lists them.

internal import Glibc
package import SystemPackage

package enum KernelLocks {
    /// How many openings of a file have a lock of flock(2) on it, as far as /proc/locks tells (proc(5)).
    ///
    /// It is a hint: files of two file systems may have one number, and locks of other machines are not listed.
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
