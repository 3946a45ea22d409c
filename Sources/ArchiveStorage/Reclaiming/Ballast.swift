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
    private let directory: FilePath

    /// The most bytes that a ballast has.
    private static let mostBytes: UInt64 = 64 << 20
    /// What copying a segment needs besides the copies: room for the copies' table, and for the catalogue.
    static let copyingBytes: UInt64 = 256 << 10
    /// The least ballast: a thirty-second of the file system, and at most so many bytes.
    private static let leastBytes: UInt64 = 1 << 20
    private static let leastShare: UInt64 = 32
    /// A ballast is reserved only if this many times its size is free.
    private static let freeTimes: UInt64 = 4

    package init(_ layout: ArchiveLayout) { (file, directory) = (layout.ballast, layout.directory) }

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

    /// Reserves the least ballast, and as much as freeing space may need if there is room for that; does nothing on a
    /// full disk.
    ///
    /// - Parameters:
    ///   - segmentBytes: the size of the largest segment, which must be copied before it can be dropped.
    ///   - wanted: more bytes that are useful.
    package func reserveIfThereIsRoom(toCopy segmentBytes: UInt64 = 0, _ wanted: UInt64 = 0) {
        // The copy, and what copying needs besides it.
        let needed = min(
            max(wanted, segmentBytes + segmentBytes / 3 + (segmentBytes > 0 ? Ballast.copyingBytes : 0)),
            Ballast.mostBytes)
        if segmentBytes > 0, bytes >= needed { return }
        guard let folder = try? Descriptor.open(directory, O_RDONLY | O_DIRECTORY),
            let free = try? FileSystem.freeBytes(of: folder), let total = try? FileSystem.totalBytes(of: folder)
        else { return }
        let least = min(Ballast.leastBytes, total / Ballast.leastShare)
        let most = (free + bytes) / Ballast.freeTimes
        // A little more, so that a growing segment seldom needs another ballast.
        let generous = segmentBytes == 0 ? 0 : min(needed + needed / 4, Ballast.mostBytes)
        if most >= least { reserve(max(least, min(generous, most))) }
    }

    /// Frees the reserved space.
    ///
    /// - Returns: whether there was any.
    @discardableResult
    package func release() -> Bool { (try? file.remove()) ?? false }
}
