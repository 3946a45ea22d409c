// Proofs that files with unchanged times have unchanged content, although a writer closed them.

package import FileIO
internal import Threading

/// Files that were read so long after their last change that any later change would set another time.
///
/// A store into mapped memory sets the file's time only if it is the first into a page since that page was written
/// back. So a file that was read soon after its change time may have changed since without a new time; a file that was
/// read later cannot have. See `WrittenNames`.
package final class ReadProofs: Sendable {
    /// Change times when the files were read, by path.
    private let known = Locked<[RelativePath: Timestamp]>([:])

    /// Pages are written back after about 35 seconds (vm.dirty_expire_centisecs and dirty_writeback_centisecs).
    private static let writeBack: Int64 = 90_000_000_000
    package static let limit = 65_536

    package init() {}

    /// Whether a file with the status that was captured certainly has the content that was captured.
    func vouches(for path: RelativePath, _ status: FileStatus) -> Bool {
        known.withLock { $0[path] == status.changed }
    }

    /// Records that a file was read and its content is stored.
    ///
    /// - Parameters:
    ///   - changed: the file's change time when it was read; it proves the content if it was long enough ago.
    ///   - time: a time not after the start of the reading.
    package func add(_ path: RelativePath, changed: Timestamp, readAt time: Timestamp) {
        guard changed.advanced(byNanoseconds: ReadProofs.writeBack) < time else { return }
        known.withLock { known in
            if known.count >= ReadProofs.limit { known.removeAll() }
            known[path] = changed
        }
    }
}
