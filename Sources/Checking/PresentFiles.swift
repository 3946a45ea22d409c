// Decides whether a lost file is still in its root: if so, the next capture stores it again.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Glibc
internal import Roots
internal import SystemPackage

/// Compares lost entries with the files of the roots of this machine.
final class PresentFiles {
    /// The opened roots, by path; nil if a root does not exist.
    private var roots: [[UInt8]: RootDirectory?] = [:]

    /// Whether the file that `entry` of `snapshot` was made from seems unchanged.
    func hold(_ entry: Entry, of snapshot: ListedSnapshot) -> Bool {
        guard snapshot.isOfThisMachine, let root = root(at: snapshot.rootPath), let parent = entry.path.parent,
            let status = try? FileIO.FileStatus.read(
                CName(entry.path.name), in: root.directory.descriptor.openDirectory(parent))
        else { return false }
        return status.kind == entry.kind && status.size == entry.size && status.modified == entry.modified
    }

    private func root(at path: [UInt8]) -> RootDirectory? {
        if let known = roots[path] { return known }
        let root = try? RootDirectory.open(FilePath(bytes: path))
        roots[path] = .some(root)
        return root
    }
}

extension Descriptor {
    fileprivate func openDirectory(_ path: RelativePath) throws(FileError) -> Descriptor {
        if path.isRoot { return try duplicate(path: ".") }
        return try open(beneath: path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    }
}
