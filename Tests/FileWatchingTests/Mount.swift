// Mounts for tests, where the process may make them.

import Glibc

/// A temporary file system in memory.
struct Mount {
    private let path: String

    /// Whether this process may mount, which even root may not everywhere.
    static let isAllowed: Bool = {
        guard let tree = try? TemporaryTree(), let mount = try? Mount(at: tree.root) else { return false }
        mount.end()
        return true
    }()

    init(at path: String) throws {
        if mount("tmpfs", path, "tmpfs", 0, nil) != 0 { throw ScriptError(line: "mount \(path)", code: errno) }
        self.path = path
    }

    func end() { umount(path) }
}
