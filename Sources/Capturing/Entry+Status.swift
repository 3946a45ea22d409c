// What the status of an object says of the entry that was made from it.

package import ArchiveFormat
package import FileIO
internal import SystemPackage

extension FileError {
    /// Whether the error says that there is nothing at the path, or no directory on the way to it.
    package var meansAbsence: Bool {
        code == .noSuchFileOrDirectory || code == .notDirectory || code == .tooManySymbolicLinkLevels
    }
}

extension FileError {
    /// Whether the error is one of this process or machine, which has no room for more, and not of the place.
    var isOfProcess: Bool {
        [.tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory].contains(code)
    }
}

extension FileStatus {
    /// The hard-link group of a file: its inode number on the file system of the root; elsewhere a number from 2^63 on
    /// that stands for file system and inode, as two file systems use the same inode numbers.
    ///
    /// - Parameter root: the file system of the root.
    package func linkGroup(besides root: UInt64) -> UInt64 {
        if device == root { return inode }
        var bytes: [UInt8] = []
        for number in [device, inode] { withUnsafeBytes(of: number.littleEndian) { bytes += $0 } }
        let hash = ChunkID(hashing: bytes).bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        return hash | 1 << 63
    }
}

extension Entry {
    /// Whether the status is that of a directory with the same access as before: while it is denied, nothing tells of
    /// changes below, so afterwards everything there is looked at.
    func isSameDirectory(_ status: FileStatus) -> Bool {
        kind == .directory && status.kind == .directory && permissions == status.permissions
            && owner == status.owner && group == status.group
    }

    /// Whether an object of this status is surely the one that this entry was made from, unchanged.
    package func isCurrent(_ status: FileStatus) -> Bool {
        guard let signature, !isUnstable, kind == status.kind else { return false }
        return signature.inode == status.inode && signature.changed == status.changed && modified == status.modified
            && (kind != .file || size == status.size)
    }
}

extension Entry {
    /// What is at `path` by its status alone: content that equals no other.
    package init(unread status: FileStatus, at path: RelativePath) {
        self.init(
            path: path, kind: status.kind, permissions: status.permissions, modified: status.modified,
            content: status.kind == .file ? .slices([Slice(length: status.size, chunk: nil)]) : .none,
            signature: Signature(inode: status.inode, changed: status.changed))
    }
}
