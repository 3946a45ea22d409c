// Checks whether watches on a root's file system report events: some overlay mounts accept watches but never report.

internal import FileIO
internal import Glibc

extension FileSystem {
    /// Whether the file system may accept watches without reporting events.
    var mayBeSilent: Bool { name == "overlay" }
}

extension WatchedTree {
    /// Whether the watch reports an event when the root's mode is set to its current value.
    ///
    /// Events are queued inside the system call that causes them, so no waiting is necessary.
    ///
    /// - Parameters:
    ///   - watch: the root's watch.
    ///   - directory: the root, opened.
    /// - Returns: false also if the change is not permitted, so that the answer is unknown.
    func receivesEvents(_ watch: WatchID, of directory: borrowing Descriptor, _ status: FileStatus) -> Bool {
        defer { probedWatch = nil }
        probedWatch = watch
        hasProbeEvent = false
        if fchmod(directory.number, mode_t(status.permissions)) != 0 { return false }
        readEvents()
        return hasProbeEvent
    }
}
