// Noticing mounts, of which inotify and fanotify tell nothing.

internal import CLinux
internal import FileIO
internal import Glibc
internal import SystemPackage

/// Tells at which paths file systems were mounted or unmounted.
///
/// poll(2) reports POLLPRI on /proc/self/mountinfo when something was since the last time (proc(5)).
final class MountWatcher {
    private let file: Descriptor?
    private var known: MountTable

    init() {
        file = try? Descriptor.open("/proc/self/mountinfo", O_RDONLY)
        known = MountTable([])
        known = read() ?? known
    }

    /// The descriptor; -1 where there is none, which poll(2) passes over.
    var number: CInt {
        switch file {
        case .some(let file): file.number
        case .none: -1
        }
    }

    /// The events to wait for.
    static let events = Int16(POLLPRI)

    /// Whether something was mounted or unmounted since the last time anybody polled.
    var hasChanged: Bool {
        var wait = pollfd(fd: number, events: MountWatcher.events, revents: 0)
        return poll(&wait, 1, 0) > 0
    }

    /// The paths at which that happened since the last call.
    func takeChanges() -> Set<[UInt8]> {
        guard let now = read() else { return [] }
        defer { known = now }
        return now.changes(from: known)
    }

    private func read() -> MountTable? {
        if number < 0 { return nil }
        lseek(number, 0, SEEK_SET)
        var text = [UInt8]()
        var block = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            // The kernel gives whole lines, which may leave a block short of full before the end.
            let count = retryingInterrupts { Glibc.read(number, &block, block.count) }
            if count < 0 { return nil }
            if count == 0 { return MountTable(text) }
            text += block[..<count]
        }
    }
}
