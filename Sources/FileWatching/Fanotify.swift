// The fallback backend: fanotify(7) with a mark on each directory, which needs no privileges.

internal import CLinux
internal import FileIO
internal import Glibc
internal import SystemPackage

/// One fanotify group: its marks and its queue.
///
/// Events carry the directory's file handle, which `add` has stored. The queue merges the events of a name, so their
/// order is not known. A mark can only be removed through an open descriptor of its directory, but the location of a
/// retired directory is not known. So its mark stays until the directory is deleted, or until there are so many useless
/// marks that all marks are removed together.
final class Fanotify: EventSource {
    /// The number of useless marks that is always tolerated.
    static let toleratedMarks = 1_024

    private let descriptor: Descriptor
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 8)
    private var watches: [FileHandle: WatchID] = [:]
    private var handles: [WatchID: FileHandle] = [:]
    /// Retired watches whose marks still exist.
    private var retired: Set<WatchID> = []
    /// Retired watches that another root may still use.
    private var unremoved: Set<WatchID> = []
    private var lastNumber: Int32 = 0

    /// Opens a group.
    ///
    /// FAN_REPORT_TARGET_FID is not set: the crawl recognises directories by their own handles, and without the
    /// target's handle the kernel merges more events.
    ///
    /// - Throws: `FileError`: EMFILE if the user's limit on groups is reached (`fs.fanotify.max_user_groups`); EINVAL,
    ///   EPERM or ENOSYS if the kernel does not let an ordinary user mark directories (before Linux 5.13).
    init() throws(FileError) {
        let number = clinux_fanotify_init()
        if number < 0 { throw FileError("watch", FilePath("fanotify"), .current) }
        descriptor = Descriptor(owning: number)
    }

    deinit {
        buffer.deallocate()
    }

    var backend: WatchBackend { .fanotify }

    var number: CInt { descriptor.number }

    /// The watch of the open directory; nil if it has none or a retired one.
    func watch(of directory: borrowing Descriptor) -> WatchID? {
        guard !watches.isEmpty, let handle = try? FileHandle(of: directory), let watch = watches[handle] else {
            return nil
        }
        return retired.contains(watch) ? nil : watch
    }

    func add(
        _ directory: borrowing Descriptor, path: RelativePath, _ interest: WatchInterest
    ) throws(FileError) -> WatchID {
        let handle = try FileHandle(of: directory, path: path)
        // Set the mark even if the handle is known: the directory may have been deleted and its handle reused.
        var mask = UInt64(interest.mask.rawValue) | UInt64(EventMask.isDirectory.rawValue)
        if interest == .contents { mask |= UInt64(CLINUX_FAN_EVENT_ON_CHILD) }
        if clinux_fanotify_mark(number, directory.number, mask) != 0 { throw FileError("watch", path, .current) }
        if let watch = watches[handle] {
            retired.remove(watch)
            unremoved.remove(watch)
            return watch
        }
        lastNumber -= 1
        let watch = WatchID(lastNumber)
        watches[handle] = watch
        handles[watch] = handle
        return watch
    }

    func retire(_ watches: [WatchID]) {
        for watch in watches where handles[watch] != nil { unremoved.insert(watch) }
    }

    func removeRetired(unless isUsed: (WatchID) -> Bool) -> Bool {
        if unremoved.isEmpty { return true }
        for watch in unremoved where !isUsed(watch) { retired.insert(watch) }
        unremoved = []
        let inUse = watches.count - retired.count
        guard inUse == 0 || retired.count > max(Fanotify.toleratedMarks, inUse) else { return true }
        clinux_fanotify_flush(number)
        for watch in retired { forget(watch) }
        return inUse == 0
    }

    func isRetired(_ watch: WatchID) -> Bool { retired.contains(watch) || unremoved.contains(watch) }

    func forget(_ watch: WatchID) {
        retired.remove(watch)
        unremoved.remove(watch)
        if let handle = handles.removeValue(forKey: watch) { watches[handle] = nil }
    }

    /// The number of queued bytes; the kernel counts 24 for each event, whatever its length.
    var backlog: Int { max(0, Int(clinux_bytes_waiting(number))) }

    func read(_ body: (DirectoryEvent) -> Void) -> Int {
        let length = retryingInterrupts { Glibc.read(number, buffer.baseAddress, buffer.count) }
        if length <= 0 { return 0 }
        var count = 0
        FanotifyEvent.decode(UnsafeRawBufferPointer(rebasing: buffer[..<length])) { event in
            count += 1
            if let translated = translate(event) { body(translated) }
        }
        return count * FanotifyEvent.headerBytes
    }

    /// Translates an event to the common form; nil if it is irrelevant.
    private func translate(_ event: FanotifyEvent) -> DirectoryEvent? {
        if event.mask.contains(.overflow) { return DirectoryEvent(watch: .none, mask: .overflow) }
        guard let watch = event.directory.flatMap({ watches[$0] }), !retired.contains(watch) || endsWatch(event) else {
            // A directory reports changes of its own attributes even if only its parent is marked.
            let isOwn = event.name.isEmpty && event.mask.contains(.attributes)
            return isOwn ? DirectoryEvent(watch: .none, mask: [.attributes, .isDirectory]) : nil
        }
        var mask = event.mask
        // fanotify has no IN_IGNORED: the mark is removed with its directory.
        if endsWatch(event) { mask.insert(.ignored) }
        // The order of merged events is not known, so the name must be examined again.
        if !mask.isDisjoint(with: .appears.union(.disappears)) { mask.formUnion([.create, .delete]) }
        return DirectoryEvent(watch: watch, mask: mask, name: event.name)
    }

    private func endsWatch(_ event: FanotifyEvent) -> Bool { event.name.isEmpty && event.mask.contains(.deleteSelf) }
}
