// Space reserved for a full disk: freeing space needs some space, too.

internal import FileIO
internal import Glibc
internal import SystemPackage

/// A file without content that reserves space on the disk.
///
/// On a full disk, nothing can be forgotten, as forgetting writes a record, and no chunk can be copied out of segments
/// to be dropped.
package struct Ballast: Sendable {
    private let file: EnclosedPath

    package init(_ layout: ArchiveLayout) { file = layout.ballast }

    /// Its size in bytes; 0 if there is none.
    package var bytes: UInt64 { (try? file.status)?.size ?? 0 }

    /// Reserves `byteCount` bytes, unless that many are reserved already.
    ///
    /// If that fails, as on a full disk, there is no ballast; that is not an error.
    package func reserve(_ byteCount: UInt64) {
        guard byteCount > 0, bytes < byteCount, let length = off_t(exactly: byteCount) else { return }
        // Nothing that exists is extended: it may be a hard link to a file of the user.
        release()
        guard let file = try? file.openOrCreate(O_WRONLY) else { return }
        // posix_fallocate(3) allocates the blocks; a hole would reserve nothing.
        if posix_fallocate(file.number, 0, length) != 0 { release() }
    }

    /// Frees the reserved space.
    package func release() { _ = try? file.remove() }
}
