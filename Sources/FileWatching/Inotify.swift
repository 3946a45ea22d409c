// The first choice among the backends: inotify(7).

internal import CLinux
internal import FileIO
internal import Glibc
internal import SystemPackage

/// One inotify instance: its watches and its queue.
final class Inotify: EventSource {
    private let descriptor: Descriptor
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 8)
    /// Watches given up whose IN_IGNORED was not read yet: their last events are still in the queue.
    private var retired: Set<WatchID> = []
    private var unremoved: [WatchID] = []

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

    var backend: WatchBackend { .inotify }

    var number: CInt { descriptor.number }

    /// Through the descriptor's /proc name: no race on the path, and no limit on its length.
    ///
    /// Without IN_EXCL_UNLINK, which would hide changes through an unlinked name, and without IN_MASK_CREATE, because a
    /// second add must return the known watch: that is how a moved directory is recognised.
    func add(
        _ directory: borrowing Descriptor, path: RelativePath, _ interest: WatchInterest
    ) throws(FileError) -> WatchID {
        var mask = interest.mask.rawValue | UInt32(IN_ONLYDIR)
        // The directory may be in another root, where all of it is watched.
        if interest == .place { mask |= UInt32(IN_MASK_ADD) }
        let watch = CName("/proc/self/fd/\(directory.number)".utf8).withPointer {
            inotify_add_watch(number, $0, mask)
        }
        if watch < 0 { throw FileError("watch", path, .current) }
        return WatchID(watch)
    }

    func retire(_ watches: [WatchID]) {
        unremoved += watches
        retired.formUnion(watches)
    }

    func removeRetired(unless isUsed: (WatchID) -> Bool) -> Bool {
        for watch in unremoved {
            // EINVAL: the directory is gone and so is the watch; its IN_IGNORED may be in the queue or was read before.
            if isUsed(watch) { retired.remove(watch) } else { inotify_rm_watch(number, watch.number) }
        }
        unremoved = []
        return true
    }

    func isRetired(_ watch: WatchID) -> Bool { retired.contains(watch) }

    func forget(_ watch: WatchID) { retired.remove(watch) }

    /// In bytes.
    var backlog: Int { max(0, Int(clinux_bytes_waiting(number))) }

    func read(_ body: (DirectoryEvent) -> Void) -> Int {
        let length = retryingInterrupts { Glibc.read(number, buffer.baseAddress, buffer.count) }
        if length <= 0 { return 0 }
        Inotify.decode(UnsafeRawBufferPointer(rebasing: buffer[..<length]), body)
        return length
    }
}

// MARK: - What is read

extension Inotify {
    /// Byte offsets in `struct inotify_event` (inotify(7)).
    private enum Offset {
        static let watch = 0
        static let mask = 4
        static let nameLength = 12
        static let name = 16
    }

    /// Decodes the events of one read, in order.
    static func decode(_ bytes: UnsafeRawBufferPointer, _ body: (DirectoryEvent) -> Void) {
        var start = 0
        while start + Offset.name <= bytes.count {
            let length = Int(bytes.loadUnaligned(fromByteOffset: start + Offset.nameLength, as: UInt32.self))
            let end = start + Offset.name + length
            if end > bytes.count { return }
            // An overflow is about watch -1, which is none.
            let watch = max(0, bytes.loadUnaligned(fromByteOffset: start + Offset.watch, as: Int32.self))
            let mask = bytes.loadUnaligned(fromByteOffset: start + Offset.mask, as: UInt32.self)
            body(
                DirectoryEvent(
                    watch: WatchID(watch), mask: EventMask(rawValue: mask),
                    name: Array(bytes[(start + Offset.name)..<end].prefix { $0 != 0 })))
            start = end
        }
    }
}
