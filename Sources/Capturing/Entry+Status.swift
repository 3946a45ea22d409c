// Compares an object's status with the entry that was made from it.

package import ArchiveFormat
package import FileIO
internal import SystemPackage

extension FileError {
    /// Whether the error means that nothing is at the path, or that a directory on the way is missing.
    package var meansAbsence: Bool {
        code == .noSuchFileOrDirectory || code == .notDirectory || code == .tooManySymbolicLinkLevels
    }
}

extension FileError {
    /// Whether the process or machine is out of resources, so that the error is not about the path.
    var isOfProcess: Bool {
        [.tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory].contains(code)
    }
}

extension FileStatus {
    /// The hard-link group of a file.
    ///
    /// It is the inode number on the root's file system. On others it is a hash of file system and inode, from 2^63 on,
    /// as two file systems use the same inode numbers.
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
    /// Whether the status is of a directory with the same access rights as before.
    ///
    /// While access is denied, no event reports changes below the directory. So after a change of access, everything in
    /// it is scanned.
    func isSameDirectory(_ status: FileStatus) -> Bool {
        kind == .directory && status.kind == .directory && permissions == status.permissions
            && owner == status.owner && group == status.group
    }

    /// Whether an object with this status is certainly the one that this entry was made from, unchanged.
    package func isCurrent(_ status: FileStatus) -> Bool {
        guard let signature, !isUnstable, kind == status.kind else { return false }
        return signature.inode == status.inode && signature.changed == status.changed && modified == status.modified
            && (kind != .file || size == status.size)
    }
}

extension Entry {
    /// An entry made from the status alone, with content that equals no stored content.
    package init(unread status: FileStatus, at path: RelativePath) {
        self.init(
            path: path, kind: status.kind, permissions: status.permissions, modified: status.modified,
            content: status.kind == .file ? .slices([Slice(length: status.size, chunk: nil)]) : .none,
            signature: Signature(inode: status.inode, changed: status.changed))
    }
}
