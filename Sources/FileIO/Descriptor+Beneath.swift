// Opens paths of any length below a root without ever leaving it.
//
// The kernel resolves the path (openat2(2)), so a concurrent rename or symbolic link cannot lead outside. A path too
// long for one system call is opened in several steps, each relative to the directory opened by the step before.

internal import CLinux
internal import Glibc
internal import SystemPackage

/// A name in an open directory, for creating, renaming and removing.
package struct Place: ~Copyable, Sendable {
    /// The directory, opened with O_PATH.
    package let directory: Descriptor
    /// The name in it; "." for the root itself.
    package let name: CName
}

extension Descriptor {
    /// How a path below a root is resolved.
    package enum Resolution: Sendable {
        /// By openat2(2), several components in one call.
        case kernel
        /// Component by component with O_NOFOLLOW, for kernels and sandboxes without openat2(2).
        case componentwise
    }

    /// Opens `path` below the root `self`; fails if any component is a symbolic link.
    ///
    /// - Parameters:
    ///   - flags: `O_…` bits; O_CLOEXEC is added. With O_PATH | O_NOFOLLOW, a symbolic link at the end is opened.
    ///   - permissions: mode bits of a file that this call creates.
    /// - Throws: `FileError`; for a symbolic link its code is `.tooManySymbolicLinkLevels`, or `.notDirectory` before
    ///   the last component.
    package borrowing func open(
        beneath path: RelativePath, _ flags: CInt, permissions: UInt16 = 0
    ) throws(FileError) -> Descriptor {
        do {
            return try open(beneath: path, flags, permissions: permissions, by: .kernel)
        } catch  where Self.meansNoOpenat2(error.code, flags) {
            return try open(beneath: path, flags, permissions: permissions, by: .componentwise)
        }
    }

    /// Opens `path` below the root `self`, resolved as `resolution` says.
    package borrowing func open(
        beneath path: RelativePath, _ flags: CInt, permissions: UInt16 = 0, by resolution: Resolution
    ) throws(FileError) -> Descriptor {
        let steps = path.steps(by: resolution)
        let last = steps.count - 1
        if last == 0 { return try openStep(steps[0], flags, permissions, by: resolution, path: path) }
        let passing = CInt(CLINUX_O_PATH) | O_DIRECTORY
        var directory = try openStep(steps[0], passing, 0, by: resolution, path: path)
        for step in steps[1..<last] {
            directory = try directory.openStep(step, passing, 0, by: resolution, path: path)
        }
        return try directory.openStep(steps[last], flags, permissions, by: resolution, path: path)
    }

    /// Opens `path` below the root `self` for reading, without changing its access time if the system allows that.
    package borrowing func openForReading(
        beneath path: RelativePath, _ flags: CInt = 0
    ) throws(FileError) -> Descriptor {
        do {
            return try open(beneath: path, O_RDONLY | flags | CInt(CLINUX_O_NOATIME))
        } catch  where error.code == .notPermitted {
            return try open(beneath: path, O_RDONLY | flags)
        }
    }

    /// Opens the parent directory of `path` below the root `self`.
    ///
    /// - Returns: the directory and the last component of `path` in it; for the root, "." in the root.
    package borrowing func openParent(of path: RelativePath) throws(FileError) -> Place {
        let parent = path.parent ?? .root
        let directory = try open(beneath: parent, CInt(CLINUX_O_PATH) | O_DIRECTORY)
        return Place(directory: directory, name: path.isRoot ? CName(".".utf8) : CName(path.name))
    }

    private borrowing func openStep(
        _ step: CName, _ flags: CInt, _ permissions: UInt16, by resolution: Resolution, path: RelativePath
    ) throws(FileError) -> Descriptor {
        guard resolution == .kernel else { return try open(step, flags, permissions: permissions, path: path) }
        let directory = number
        let result = step.withPointer {
            clinux_open_beneath(directory, $0, UInt64(flags | O_CLOEXEC), UInt32(permissions))
        }
        if result < 0 { throw FileError("open", path, .current) }
        return Descriptor(owning: result)
    }

    /// Whether openat2(2) failed because it is not available: ENOSYS, or EPERM from an old sandbox's filter.
    private static func meansNoOpenat2(_ code: Errno, _ flags: CInt) -> Bool {
        // With O_NOATIME, EPERM is the normal error for a file of another user.
        code == .noFunction || (code == .notPermitted && flags & CInt(CLINUX_O_NOATIME) == 0)
    }
}

extension RelativePath {
    /// The longest path in bytes passed to one system call; PATH_MAX is 4096 with the terminator.
    private static let stepByteLimit = 4_000

    /// The path split into the arguments of successive system calls: at least one.
    fileprivate func steps(by resolution: Descriptor.Resolution) -> [CName] {
        if isRoot { return [CName(".".utf8)] }
        switch resolution {
        case .componentwise:
            return components.map { CName($0) }
        case .kernel:
            if bytes.count <= Self.stepByteLimit { return [CName(bytes)] }
            var steps = [CName]()
            var start = bytes.startIndex
            while bytes.count - start > Self.stepByteLimit {
                // The kernel rejects a single component that is too long.
                let window = bytes[start..<(start + Self.stepByteLimit)]
                let rest = bytes[(start + Self.stepByteLimit)...]
                let slash = UInt8(ascii: "/")
                guard let cut = window.lastIndex(of: slash) ?? rest.firstIndex(of: slash) else { break }
                steps.append(CName(bytes[start..<cut]))
                start = cut + 1
            }
            steps.append(CName(bytes[start...]))
            return steps
        }
    }
}

extension FileStatus {
    /// The status of `path` below a root; symbolic links are not followed.
    ///
    /// - Returns: nil if the path does not exist or passes through a symbolic link.
    /// - Throws: `FileError` if the status cannot be read for any other reason.
    package static func read(
        _ path: RelativePath, beneath root: borrowing Descriptor
    ) throws(FileError) -> FileStatus? {
        do {
            let object = try root.open(beneath: path, CInt(CLINUX_O_PATH) | O_NOFOLLOW)
            return try read(object, path: path)
        } catch  where [.noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels].contains(error.code) {
            return nil
        }
    }
}
