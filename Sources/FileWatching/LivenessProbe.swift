// Does the kernel really tell what happens here? Some overlay mounts accept watches and never report.

internal import FileIO
internal import Glibc

extension FileSystem {
    /// Whether watches may be accepted without anything being reported.
    var mayBeSilent: Bool { name == "overlay" }
}

extension WatchedTree {
    /// Whether a change of the root's directory that changes nothing, its mode set to what it is, is reported.
    ///
    /// Events are queued inside the system call that causes them, so there is nothing to wait for.
    ///
    /// - Parameters:
    ///   - watch: the root's.
    ///   - directory: the root, opened.
    /// - Returns: false also where the change is not permitted, and it remains unknown.
    func hears(_ watch: WatchID, of directory: borrowing Descriptor, _ status: FileStatus) -> Bool {
        defer { probedWatch = nil }
        probedWatch = watch
        hasHeardProbe = false
        if fchmod(directory.number, mode_t(status.permissions)) != 0 { return false }
        readEvents()
        return hasHeardProbe
    }
}
