// The preferred backend: inotify(7).

internal import CLinux
internal import FileIO
internal import Glibc
internal import SystemPackage

/// One inotify instance: its watches and its queue.
final class Inotify: EventSource {
    private let descriptor: Descriptor
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 8)
    /// Retired watches whose IN_IGNORED has not been read; their last events may still be queued.
    private var retired: Set<WatchID> = []
    private var unremoved: [WatchID] = []

    /// Opens an instance.
    ///
    /// - Throws: `FileError`: EMFILE if the user's limit on instances is reached (`fs.inotify.max_user_instances`).
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

    /// Adds a watch through the descriptor's /proc name, which avoids races on the path and limits on its length.
    ///
    /// IN_EXCL_UNLINK is not set, because it would hide changes through an unlinked name. IN_MASK_CREATE is not set,
    /// because a second add must return the known watch, by which a moved directory is recognised.
    func add(
        _ directory: borrowing Descriptor, path: RelativePath, _ interest: WatchInterest
    ) throws(FileError) -> WatchID {
        var mask = interest.mask.rawValue | UInt32(IN_ONLYDIR)
        // Keep the existing mask: the directory may be inside another root, which watches its contents.
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
            // EINVAL means that directory and watch are gone; IN_IGNORED may still be queued or was read before.
            if isUsed(watch) { retired.remove(watch) } else { inotify_rm_watch(number, watch.number) }
        }
        unremoved = []
        return true
    }

    func isRetired(_ watch: WatchID) -> Bool { retired.contains(watch) }

    func forget(_ watch: WatchID) { retired.remove(watch) }

    /// The number of queued bytes.
    var backlog: Int { max(0, Int(clinux_bytes_waiting(number))) }

    func read(_ body: (DirectoryEvent) -> Void) -> Int {
        let length = retryingInterrupts { Glibc.read(number, buffer.baseAddress, buffer.count) }
        if length <= 0 { return 0 }
        Inotify.decode(UnsafeRawBufferPointer(rebasing: buffer[..<length]), body)
        return length
    }
}

// MARK: - Decoding

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
            // An overflow event has watch -1, which stands for none.
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
