// Which files are known to be what their times say, although a writer closed them and their times are as they were.

internal import FileIO
internal import Locking

/// Files that were read when their change was so long ago that a later one would have another time.
///
/// A store into mapped memory changes the file's time only where it is the first one into a page since that page went to the
/// disk. So what was read less than a while after the time of change may have changed since without another time; what
/// was read later may not. See `WrittenNames`.
final class ReadProofs: Sendable {
    /// Times of change by path, as they were when the file was read.
    private let known = Locked<[RelativePath: Timestamp]>([:])

    /// Pages are written back after some 35 seconds (vm.dirty_expire_centisecs and dirty_writeback_centisecs).
    private static let writeBack: Int64 = 90_000_000_000
    static let limit = 65_536

    init() {}

    /// Whether a file whose status is as it was captured surely has the content that was captured.
    ///
    /// Where it does not say so, the file is going to be read, and counts as proven from then on if its change is old
    /// enough.
    func vouch(for path: RelativePath, _ status: FileStatus, at now: Timestamp = .now) -> Bool {
        known.withLock { known in
            if known[path] == status.changed { return true }
            guard status.changed.advanced(byNanoseconds: ReadProofs.writeBack) < now else { return false }
            if known.count >= ReadProofs.limit { known.removeAll() }
            known[path] = status.changed
            return false
        }
    }

    /// Forgets everything: what was to be read was not, or what was read is not kept.
    func forget() {
        known.withLock { $0.removeAll() }
    }
}
