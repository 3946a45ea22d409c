// Where a file is in an archive: its root, and its path below it.

public import FileIO
public import Roots
public import SystemPackage

/// A file or directory of this machine as an archive knows it.
public struct LocatedFile: Sendable, Hashable {
    /// The innermost root that contains it.
    public let root: ArchivedRoot
    /// Its path below the root.
    public let path: RelativePath
}

extension Archive {
    /// The root and the path of a file, for questions about its history and for restoring it.
    ///
    /// The file need not exist any more, and need not be in any snapshot.
    ///
    /// - Parameter file: an absolute path, or one relative to the current directory. Symbolic links to its directory are
    ///   followed; if the file itself is a link, the link is meant.
    /// - Throws: `ArchiverError` with the code `noSuchPath` if it is in no root of this archive.
    public func locate(_ file: FilePath) throws(ArchiverError) -> LocatedFile {
        try facing {
            let place = try Archive.place(of: file)
            let found = try root(holding: place)
            let below = place.bytes.dropFirst(found?.path.bytes.count ?? 0).drop { $0 == UInt8(ascii: "/") }
            guard let root = found, let path = RelativePath(normalizing: Array(below)) else {
                throw ArchiverError(
                    .noSuchPath, "\(file) is in no directory that the archive has snapshots of",
                    remedy: "capture or watch the directory that contains it", path: file)
            }
            return LocatedFile(root: root, path: path)
        }
    }

    /// The root and the path of a file, as of a `FilePath`.
    ///
    /// - Throws: `ArchiverError` with the code `noSuchPath` if it is in no root of this archive.
    public func locate(_ file: String) throws(ArchiverError) -> LocatedFile { try locate(FilePath(file)) }

    /// The absolute path of `file` with the symbolic links of its directory resolved.
    private static func place(of file: FilePath) throws -> FilePath {
        let file = file.absolute
        guard let name = file.lastComponent, name.kind == .regular else {
            return try RootDirectory.resolvedAsFarAsItExists(file)
        }
        return try RootDirectory.resolvedAsFarAsItExists(file.removingLastComponent()).appending(name)
    }
}

extension RelativePath {
    /// The path below a directory that `text` names, such as `chapter2.md`, `./figures/` or `.` for the directory itself.
    ///
    /// - Throws: `ArchiverError` with the code `noSuchPath` if `text` is absolute, has a component `..` or contains a NUL.
    ///   `Archive.locate` finds the root and the path of any file.
    public init(parsing text: String) throws(ArchiverError) {
        guard let path = RelativePath(normalizing: Array(text.utf8)) else {
            throw ArchiverError(
                .noSuchPath, "'\(text)' is not a path below a directory",
                remedy: "give it relative to its root, without '..'")
        }
        self = path
    }
}
