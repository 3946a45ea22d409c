// Detects mounts and unmounts, which inotify and fanotify do not report.

internal import CLinux
internal import FileIO
internal import Glibc
internal import SystemPackage

/// Reports the paths at which file systems were mounted or unmounted.
///
/// poll(2) reports POLLPRI on /proc/self/mountinfo when the mount table has changed since the last poll (proc(5)).
final class MountWatcher {
    private let file: Descriptor?
    private var known: MountTable

    init() {
        file = try? Descriptor.open("/proc/self/mountinfo", O_RDONLY)
        known = MountTable([])
        known = read() ?? known
    }

    /// The descriptor; if the file could not be opened, -1, which poll(2) ignores.
    var number: CInt {
        switch file {
        case .some(let file): file.number
        case .none: -1
        }
    }

    /// The events to wait for.
    static let events = Int16(POLLPRI)

    /// Whether the mount table has changed since the descriptor was last polled.
    var hasChanged: Bool {
        var wait = pollfd(fd: number, events: MountWatcher.events, revents: 0)
        return poll(&wait, 1, 0) > 0
    }

    /// Returns the paths of mounts and unmounts since the last call.
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
            // The kernel returns complete lines, so a block may be partly filled even before the end.
            let count = retryingInterrupts { Glibc.read(number, &block, block.count) }
            if count < 0 { return nil }
            if count == 0 { return MountTable(text) }
            text += block[..<count]
        }
    }
}
