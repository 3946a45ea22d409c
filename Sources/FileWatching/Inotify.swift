// The kernel's side of watching: one inotify instance, its watches and its queue.

internal import CLinux
internal import FileIO
internal import Glibc
internal import SystemPackage

/// One inotify instance, used by one thread.
final class Inotify {
    private let descriptor: Descriptor
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 8)
    /// Watches given up whose IN_IGNORED was not read yet: their last events are still in the queue.
    private var retired: Set<Int32> = []
    private var unremoved: [Int32] = []

    /// Opens an instance.
    ///
    /// - Throws: `FileError`: EMFILE where the user's instances are used up (`fs.inotify.max_user_instances`).
    init() throws(FileError) {
        let number = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
        if number < 0 { throw FileError("watch", FilePath("inotify"), .current) }
        descriptor = Descriptor(owning: number)
    }

    deinit {
        buffer.deallocate()
    }

    var number: CInt { descriptor.number }

    /// Watches an open directory, or returns the watch it already has.
    ///
    /// Through the descriptor's /proc name: no race on the path, and no limit on its length.
    ///
    /// - Throws: `FileError`: ENOSPC where the user's watches are used up, EACCES without read permission.
    func add(_ directory: borrowing Descriptor, path: RelativePath = .root) throws(FileError) -> Int32 {
        let watch = CName("/proc/self/fd/\(directory.number)".utf8).withPointer {
            inotify_add_watch(number, $0, InotifyMask.watched.rawValue)
        }
        if watch < 0 { throw FileError("watch", path, .current) }
        return watch
    }

    /// Gives up watches; `removeRetired` tells the kernel.
    func retire(_ watches: [Int32]) {
        unremoved += watches
        retired.formUnion(watches)
    }

    /// Removes what was retired and is not in use (again).
    func removeRetired(unless isUsed: (Int32) -> Bool) {
        for watch in unremoved {
            // EINVAL: the directory is gone and so is the watch; its IN_IGNORED may be in the queue or was read before.
            if isUsed(watch) { retired.remove(watch) } else { inotify_rm_watch(number, watch) }
        }
        unremoved = []
    }

    /// Whether events of `watch` may still come although it was given up.
    func isRetired(_ watch: Int32) -> Bool { retired.contains(watch) }

    /// Forgets a retired watch: nothing more will come from it.
    func forget(_ watch: Int32) { retired.remove(watch) }

    /// Bytes of events in the queue.
    var bytesWaiting: Int { max(0, Int(clinux_bytes_waiting(number))) }

    /// Reads what fits the buffer without waiting.
    ///
    /// - Returns: the bytes read, 0 where the queue is empty.
    func read(_ body: (InotifyEvent) -> Void) -> Int {
        let length = retryingInterrupts { Glibc.read(number, buffer.baseAddress, buffer.count) }
        if length <= 0 { return 0 }
        InotifyEvent.decode(UnsafeRawBufferPointer(rebasing: buffer[..<length]), body)
        return length
    }

    /// The most watches a user may have; nil where the system does not tell.
    static var watchLimit: Int? {
        guard let file = try? Descriptor.open("/proc/sys/fs/inotify/max_user_watches", O_RDONLY) else { return nil }
        var digits = [UInt8](repeating: 0, count: 32)
        let length = Glibc.read(file.number, &digits, digits.count)
        let text = String(decoding: digits.prefix(max(0, length)), as: UTF8.self)
        return Int(text.prefix { $0.isNumber })
    }
}
