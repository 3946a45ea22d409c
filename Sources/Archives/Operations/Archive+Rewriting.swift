// The present files of a root, and the replacement of a file's content as an operation.

internal import ArchiveFormat
internal import ArchiveStorage
public import FileIO
internal import Glibc
public import Restoring
public import Roots
internal import SystemPackage

/// A file as it is on disk now.
public struct PresentFile: Sendable, Hashable {
    /// The kind of object.
    public let kind: FileKind
    /// The size in bytes.
    public let size: UInt64
    /// When its content was modified.
    public let modified: Timestamp
    /// Its content; nil if it is not a file, or larger than asked for.
    public let bytes: [UInt8]?
}

extension Archive {
    /// Returns the file at a path of a root as it is on disk now; nil if there is none.
    ///
    /// No symbolic link is followed below the root, and nothing is captured.
    ///
    /// - Parameter limit: the most bytes of content to read.
    /// - Throws: `ArchiverError`: `otherRoot` if the root is on another machine, `noSuchDirectory`, `permission`…
    public func presentFile(
        at path: RelativePath, in root: ArchivedRoot, limit: UInt64
    ) throws(ArchiverError) -> PresentFile? {
        try facing {
            guard root.isHere else {
                throw ArchiverError(
                    .otherRoot, "\(root.path) is on another machine, \(root.host)",
                    remedy: "compare two snapshots instead", path: root.path)
            }
            let directory = try RootDirectory.open(root.path)
            do {
                guard let status = try directory.status(of: path) else { return nil }
                func file(_ bytes: [UInt8]?) -> PresentFile {
                    PresentFile(kind: status.kind, size: status.size, modified: status.modified, bytes: bytes)
                }
                guard status.kind == .file, status.size <= limit else { return file(nil) }
                let opened = try directory.directory.descriptor.openForReading(beneath: path, O_NOFOLLOW | O_NONBLOCK)
                // It may have become a pipe since.
                guard try FileStatus.read(opened, path: path).kind == .file else { return file(nil) }
                return file(try opened.readToEnd(limit: Int(limit), path: FilePath(path)))
            } catch let error as FileError where [.noSuchFileOrDirectory, .notDirectory].contains(error.code) {
                return nil
            }
        }
    }

    /// Replaces the content of a file of a root, as an operation that `undo` takes back.
    ///
    /// The present state is captured first. The file keeps its permissions, owner and attributes.
    ///
    /// - Parameter content: returns the new content for the present one; nil to change nothing.
    /// - Throws: `ArchiverError` with the code `noSuchPath` if no snapshot includes the file; what `content` throws, and
    ///   then nothing is changed.
    public func rewrite(
        _ path: RelativePath, in root: ArchivedRoot, _ content: ([UInt8]) throws -> [UInt8]?
    ) throws -> RestoreResult {
        var refusal: (any Error)?
        do throws(ArchiverError) {
            return try facing {
                guard root.isHere else {
                    throw ArchiverError(
                        .otherRoot, "\(root.path) is on another machine, \(root.host)", remedy: "run archiver there",
                        path: root.path)
                }
                let lock = try RootLock.capturing(root.path, in: store.layout)
                defer { withExtendedLifetime(lock) {} }
                let rewriting = RewriteInPlace(path, in: root.path, nodes)
                return try rewriting.run(OperationJournal(store, root.path, .restore)) { present in
                    do { return try content(present) } catch {
                        refusal = error
                        throw error
                    }
                }
            }
        } catch {
            throw refusal ?? error
        }
    }
}
