// A path below a directory that others may have arranged, such as a foreign archive on a borrowed disk.
//
// A lock file there may be a symbolic link to one of the user's own files. So nothing below the directory is reached
// over a link, only regular files are opened, and no open truncates.

internal import CLinux
internal import Glibc
package import SystemPackage

/// A path below a directory, opened without following a link below it.
///
/// What is created gets the owner and the group of the directory, if the process may give it away: root does not lock
/// the directory's owner out. Others of the group may read and write it if they may write to the directory.
package struct EnclosedPath: Sendable, Hashable {
    /// The enclosing directory; links on the way to it are followed.
    package let directory: FilePath
    /// The path below the directory.
    package let inner: RelativePath

    private init(_ directory: FilePath, _ inner: RelativePath) {
        self.directory = directory
        self.inner = inner
    }

    /// The directory itself.
    package init(_ directory: FilePath) {
        self.init(directory, .root)
    }

    /// A file in its own directory.
    package init(file path: FilePath) {
        let parent = path.removingLastComponent()
        let name = path.lastComponent.map { FilePath(root: nil, [$0]).bytes } ?? []
        self.init(parent.isEmpty ? "." : parent, RelativePath(unchecked: name))
    }

    /// The path of `name`, one or several components, below this one.
    package func appending(_ name: String) -> EnclosedPath {
        EnclosedPath(directory, inner.appending(Array(name.utf8)))
    }

    /// The whole path.
    package var path: FilePath { inner.isRoot ? directory : directory.pushing(FilePath(inner)) }

    /// The last component.
    package var name: CName { CName(inner.name) }

    /// The directory that holds it.
    package var parent: EnclosedPath { EnclosedPath(directory, inner.parent ?? .root) }

    // MARK: Opening

    /// Opens the regular file.
    ///
    /// - Throws: `FileError`; if there is something else, the error's operation names its kind.
    package func open(_ flags: CInt) throws(FileError) -> Descriptor {
        try open(in: top(), flags)
    }

    /// Opens the regular file; creates it, empty, if it is missing.
    package func openOrCreate(_ flags: CInt) throws(FileError) -> Descriptor {
        let top = try top()
        while true {
            do { return try open(in: top, flags) } catch {
                guard error.code == .noSuchFileOrDirectory else { throw error }
            }
            do throws(FileError) {
                let file = try top.open(beneath: inner, flags | O_CREAT | O_EXCL, permissions: 0o600)
                Ownership(of: top)?.apply(to: file)
                return file
            } catch {
                // Another process may have been quicker.
                guard error.code == .fileExists else { throw explained(error, top) }
            }
        }
    }

    /// Opens the directory for reading.
    package func openDirectory() throws(FileError) -> Descriptor {
        let top = try top()
        do { return try top.open(beneath: inner, O_RDONLY | O_DIRECTORY) } catch { throw explained(error, top) }
    }

    /// The status of the object; nil if there is none, or it is reached over a link.
    package var status: FileStatus? {
        get throws(FileError) {
            let top: Descriptor
            do { top = try self.top() } catch {
                guard [.noSuchFileOrDirectory, .notDirectory].contains(error.code) else { throw error }
                return nil
            }
            do { return try FileStatus.read(inner, beneath: top) } catch { throw error.below(directory) }
        }
    }

    /// Throws if `open` could not open the regular file for reading and writing, without opening it.
    ///
    /// Closing any descriptor of a file releases all locks that the process holds on it (fcntl(2)), also a library's.
    package func check() throws(FileError) {
        let top = try top()
        let object: Descriptor
        do { object = try top.open(beneath: inner, CInt(CLINUX_O_PATH) | O_NOFOLLOW) } catch {
            throw explained(error, top)
        }
        try Descriptor.requireFile(object, path)
        if path.withPlatformString({ access($0, R_OK | W_OK) }) != 0 { throw FileError("open", path, .current) }
    }

    private func top() throws(FileError) -> Descriptor {
        try Descriptor.open(directory, CInt(CLINUX_O_PATH) | O_DIRECTORY)
    }

    private func open(in top: borrowing Descriptor, _ flags: CInt) throws(FileError) -> Descriptor {
        let file: Descriptor
        // A FIFO or a device must not block the open.
        do { file = try top.open(beneath: inner, flags | O_NONBLOCK | O_NOCTTY) } catch { throw explained(error, top) }
        try Descriptor.requireFile(file, path)
        return file
    }

    /// The error with its whole path; if a link is in the way, the error names it.
    private func explained(_ error: FileError, _ top: borrowing Descriptor) -> FileError {
        var link = RelativePath.root
        if error.code == .tooManySymbolicLinkLevels || error.code == .notDirectory {
            for component in inner.components {
                link = link.appending(component)
                guard let status = try? FileStatus.read(link, beneath: top) else { break }
                if status.kind == .symbolicLink {
                    return FileError.useOf(.symbolicLink, at: directory.pushing(FilePath(link)))
                }
            }
        }
        return FileError(error.operation, path, error.code)
    }

    // MARK: Creating and removing

    /// Creates the directory and its missing parents below the enclosing directory.
    ///
    /// - Parameter durable: whether to wait until the new names are on the disk.
    package func createDirectory(durable: Bool) throws(FileError) {
        if try status?.kind == .directory { return }
        let top = try top()
        var parent = EnclosedPath(directory)
        for component in inner.components {
            let next = EnclosedPath(directory, parent.inner.appending(component))
            let folder = try parent.openDirectory()
            do throws(FileError) {
                try folder.createDirectory(next.name, permissions: 0o700, path: next.path)
                Ownership(of: top)?.apply(to: try next.openDirectory())
                if durable { try folder.synchronize(path: parent.path) }
            } catch {
                // Another process may have been quicker.
                guard error.code == .fileExists else { throw error }
            }
            parent = next
        }
        _ = try openDirectory()
    }

    /// Creates a file with a temporary name in `folder`, which must be `parent`.
    package func temporaryFile(in folder: borrowing Descriptor) throws(FileError) -> TemporaryFile {
        let temporary = try TemporaryFile(in: folder, path: path)
        Ownership(of: try top())?.apply(to: temporary.file)
        return temporary
    }

    /// Gives the object, which another library or system call has created, the owner and group of the directory.
    package func passOn() {
        guard let top = try? top(), let ownership = Ownership(of: top), let place = try? top.openParent(of: inner),
            let status = try? FileStatus.read(place.name, in: place.directory)
        else { return }
        ownership.pass(status) { (owner, group) throws(FileError) in
            try place.directory.setOwner(owner, group: group, of: place.name, path: path)
        }
    }

    /// Removes the directory if it is empty.
    package func removeEmptyDirectory() {
        guard let place = try? top().openParent(of: inner) else { return }
        try? place.directory.removeDirectory(place.name, path: path)
    }

    /// Removes the object, which is not a directory.
    ///
    /// - Returns: false if there is none.
    @discardableResult
    package func remove() throws(FileError) -> Bool {
        do throws(FileError) {
            let top = try top()
            let place: Place
            do { place = try top.openParent(of: inner) } catch { throw explained(error, top) }
            try place.directory.removeFile(place.name, path: path)
            return true
        } catch {
            guard error.code == .noSuchFileOrDirectory else { throw error }
            return false
        }
    }
}

/// The owner, group and permissions that new objects take over from the directory that encloses them.
private struct Ownership {
    private let owner: UInt32
    private let group: UInt32
    private let isShared: Bool
    private let isPassingGroupOn: Bool

    private static let setGroup: UInt16 = 0o2000

    init?(of directory: borrowing Descriptor) {
        guard let status = try? FileStatus.read(directory) else { return nil }
        owner = status.owner
        group = status.group
        isShared = status.permissions & 0o020 != 0
        isPassingGroupOn = status.permissions & Ownership.setGroup != 0
    }

    /// Applies it to an object that was just created; what the system refuses stays as it is.
    func apply(to object: borrowing Descriptor) {
        guard let status = try? FileStatus.read(object) else { return }
        pass(status) { (owner, group) throws(FileError) in try object.setOwner(owner, group: group, path: ".") }
        let isDirectory = status.kind == .directory
        var permissions: UInt16 = isDirectory ? 0o700 : 0o600
        if isShared { permissions |= permissions >> 3 }
        if isDirectory, isPassingGroupOn { permissions |= Ownership.setGroup }
        if permissions != status.permissions { try? object.setPermissions(permissions, path: ".") }
    }

    /// Calls `set` with the owner and group if they differ from those in `status`; again with the group alone if the
    /// process may not give objects away.
    func pass(_ status: FileStatus, _ set: (_ owner: UInt32, _ group: UInt32) throws(FileError) -> Void) {
        guard status.owner != owner || status.group != group else { return }
        do { try set(owner, group) } catch { try? set(.max, group) }
    }
}
