// Which files are known to be what their times say, although a writer closed them and their times are as they were.

package import FileIO
internal import Threading

/// Files that were read when their change was so long ago that a later one would have another time.
///
/// A store into mapped memory changes the file's time only where it is the first one into a page since that page went to the
/// disk. So what was read less than a while after the time of change may have changed since without another time; what
/// was read later may not. See `WrittenNames`.
package final class ReadProofs: Sendable {
    /// Times of change by path, as they were when the file was read.
    private let known = Locked<[RelativePath: Timestamp]>([:])

    /// Pages are written back after some 35 seconds (vm.dirty_expire_centisecs and dirty_writeback_centisecs).
    private static let writeBack: Int64 = 90_000_000_000
    package static let limit = 65_536

    package init() {}

    /// Whether a file whose status is as it was captured surely has the content that was captured.
    func vouches(for path: RelativePath, _ status: FileStatus) -> Bool {
        known.withLock { $0[path] == status.changed }
    }

    /// Records that a file was read, and that what was read is kept.
    ///
    /// - Parameters:
    ///   - changed: the file's time of change then; it proves the content if it was long enough ago.
    ///   - time: when the reading began, or before.
    package func add(_ path: RelativePath, changed: Timestamp, readAt time: Timestamp) {
        guard changed.advanced(byNanoseconds: ReadProofs.writeBack) < time else { return }
        known.withLock { known in
            if known.count >= ReadProofs.limit { known.removeAll() }
            known[path] = changed
        }
    }
}
