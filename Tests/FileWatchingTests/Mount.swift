// Mounts for tests, if the process is allowed to mount.

import Glibc

/// A tmpfs mount.
struct Mount {
    private let path: String

    /// Whether this process may mount; in a container even root may not.
    static let isAllowed: Bool = {
        guard let tree = try? TemporaryTree(), let mount = try? Mount(at: tree.root) else { return false }
        mount.end()
        return true
    }()

    init(at path: String) throws {
        if mount("tmpfs", path, "tmpfs", 0, nil) != 0 { throw ScriptError(line: "mount \(path)", code: errno) }
        self.path = path
    }

    /// Takes the mount away, even if a process that another test starts just now has inherited a file in it.
    func end() { umount2(path, CInt(MNT_DETACH)) }
}
