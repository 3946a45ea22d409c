// Room that is kept for the time when the disk is full: to give space back takes some, too.

internal import FileIO
internal import Glibc
internal import SystemPackage

/// A file without content that takes room on the disk, until that room is needed.
///
/// On a full disk nothing can be forgotten, since that is on record, and nothing can be copied out of segments that go.
package struct Ballast: Sendable {
    private let path: FilePath

    package init(_ layout: ArchiveLayout) { path = layout.ballast }

    /// The bytes that it takes; 0 where there is none.
    package var bytes: UInt64 { FileStatus.size(at: path) ?? 0 }

    /// Reserves `byteCount` bytes, unless it has as many already.
    ///
    /// Where they are not to be had, as on a full disk, there is none: that is no reason to do without anything else.
    package func reserve(_ byteCount: UInt64) {
        guard byteCount > 0, bytes < byteCount, let length = off_t(exactly: byteCount),
            let file = try? Descriptor.openFile(path, O_WRONLY | O_CREAT, permissions: 0o600)
        else { return }
        // A hole would take no room (posix_fallocate(3)).
        if posix_fallocate(file.number, 0, length) != 0 { release() }
    }

    /// Gives its room back.
    package func release() { _ = path.withPlatformString { unlink($0) } }
}
