// Creates, changes and removes files below one directory with plain system calls.

import CLinux
import Glibc
public import SystemPackage

/// A system call of the test itself that failed.
struct SystemFailure: Error, CustomStringConvertible {
    let description: String

    init(_ operation: String, _ path: FilePath) {
        description = "\(operation) \(path): \(String(cString: strerror(errno)))"
    }
}

/// The files below one directory; paths are relative to it.
struct Files: Sendable {
    let directory: FilePath

    init(_ directory: FilePath) {
        self.directory = directory
    }

    // MARK: Files

    /// Creates a file, or replaces its content in the same inode.
    func write(_ path: FilePath, _ bytes: [UInt8], permissions: mode_t = 0o644) throws {
        try withOpen(path, O_WRONLY | O_CREAT | O_TRUNC, permissions) { try writeAll(bytes, to: $0, at: 0, path) }
    }

    func write(_ path: FilePath, _ text: String) throws {
        try write(path, Array(text.utf8))
    }

    /// Writes at `offset`; a skipped range becomes a hole.
    func write(_ path: FilePath, _ bytes: [UInt8], at offset: Int) throws {
        try withOpen(path, O_WRONLY | O_CREAT, 0o644) { try writeAll(bytes, to: $0, at: offset, path) }
    }

    func append(_ path: FilePath, _ bytes: [UInt8]) throws {
        try write(path, bytes, at: size(path))
    }

    /// Truncates a file, or extends it with a hole.
    func setSize(_ path: FilePath, _ size: Int) throws {
        try withOpen(path, O_WRONLY | O_CREAT, 0o644) { try check(ftruncate($0, size), "truncate", path) }
    }

    func read(_ path: FilePath) throws -> [UInt8] {
        try withOpen(path, O_RDONLY, 0) { descriptor in
            var bytes = [UInt8](repeating: 0, count: try size(path))
            let count = pread(descriptor, &bytes, bytes.count, 0)
            guard count >= 0 else { throw SystemFailure("read", full(path)) }
            return Array(bytes[..<count])
        }
    }

    func size(_ path: FilePath) throws -> Int { Int(try status(path).st_size) }

    // MARK: Other objects

    /// Creates a directory and its missing parents.
    func makeDirectory(_ path: FilePath) throws {
        var made = directory
        for component in path.components {
            made.append(component)
            if made.withPlatformString({ mkdir($0, 0o755) }) != 0, errno != EEXIST {
                throw SystemFailure("mkdir", made)
            }
        }
    }

    func makeSymbolicLink(_ path: FilePath, to target: FilePath) throws {
        try check(target.withPlatformString { target in with(path) { symlink(target, $0) } }, "symlink", path)
    }

    /// Creates a hard link `path` to the file at `existing`.
    func makeLink(_ path: FilePath, to existing: FilePath) throws {
        try check(with(existing) { existing in with(path) { link(existing, $0) } }, "link", path)
    }

    /// Creates a FIFO, a socket or a device: `type` is one of S_IFIFO, S_IFSOCK, S_IFCHR and S_IFBLK.
    func makeNode(_ path: FilePath, _ type: mode_t, device: dev_t = 0) throws {
        try check(with(path) { mknod($0, type | 0o640, device) }, "mknod", path)
    }

    // MARK: Metadata

    func setPermissions(_ path: FilePath, _ permissions: mode_t) throws {
        try check(with(path) { chmod($0, permissions) }, "chmod", path)
    }

    func setOwner(_ path: FilePath, _ owner: uid_t, _ group: gid_t) throws {
        try check(with(path) { lchown($0, owner, group) }, "chown", path)
    }

    func setTime(_ path: FilePath, _ seconds: Int, _ nanoseconds: Int = 0) throws {
        let time = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
        try check(with(path) { utimensat(AT_FDCWD, $0, [time, time], AT_SYMLINK_NOFOLLOW) }, "utimensat", path)
    }

    /// Sets an extended attribute; on a symbolic link, of the link itself.
    func setAttribute(_ path: FilePath, _ name: String, _ value: [UInt8]) throws {
        try check(with(path) { clinux_lsetxattr($0, name, value, value.count) }, "setxattr \(name)", path)
    }

    func removeAttribute(_ path: FilePath, _ name: String) throws {
        try check(with(path) { clinux_lremovexattr($0, name) }, "removexattr \(name)", path)
    }

    // MARK: Status and renames

    func status(_ path: FilePath) throws -> stat {
        var status = stat()
        try check(with(path) { lstat($0, &status) }, "stat", path)
        return status
    }

    func exists(_ path: FilePath) -> Bool { (try? status(path)) != nil }

    func rename(_ path: FilePath, to newPath: FilePath) throws {
        try check(with(path) { path in with(newPath) { Glibc.rename(path, $0) } }, "rename", path)
    }

    func exchange(_ path: FilePath, _ other: FilePath) throws {
        let flags = UInt32(CLINUX_RENAME_EXCHANGE)
        let result = with(path) { path in with(other) { clinux_rename(AT_FDCWD, path, AT_FDCWD, $0, flags) } }
        try check(result, "exchange", path)
    }

    /// Removes what is at `path` and all below it.
    func remove(_ path: FilePath) throws {
        try Files.removeTree(full(path).platformBytes, in: AT_FDCWD)
    }

    /// Removes everything in the directory, and the directory itself unless `keepingDirectory` is true.
    func removeAll(keepingDirectory: Bool = false) throws {
        guard keepingDirectory else { return try Files.removeTree(directory.platformBytes, in: AT_FDCWD) }
        for name in try Files.names(in: AT_FDCWD, directory.platformBytes) {
            try remove(FilePath(platformString: name))
        }
    }

    /// Names in the directory, in byte order.
    func names() throws -> [String] {
        try Files.names(in: AT_FDCWD, directory.platformBytes)
            .map { String(decoding: $0.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) }
            .sorted()
    }

    func full(_ path: FilePath) -> FilePath { directory.pushing(path) }

    // MARK: Long paths

    /// Creates nested directories called `name` and calls `body` with the innermost.
    ///
    /// Their path may be longer than a system call accepts.
    func makeChain(of name: String, depth: Int, _ body: (CInt) throws -> Void) throws {
        var current = open(directory.string, O_RDONLY | O_DIRECTORY)
        defer { close(current) }
        for _ in 0..<depth {
            try check(mkdirat(current, name, 0o755), "mkdir", directory)
            let next = openat(current, name, O_RDONLY | O_DIRECTORY)
            guard next >= 0 else { throw SystemFailure("open", directory) }
            close(current)
            current = next
        }
        try body(current)
    }

    // MARK: -

    private static func removeTree(_ name: [CChar], in directory: CInt) throws {
        if unlinkat(directory, name, 0) == 0 { return }
        guard errno == EISDIR || errno == EPERM else { throw SystemFailure("unlink", FilePath(platformString: name)) }
        // The directory's permissions may prevent even its owner from emptying it.
        _ = fchmodat(directory, name, 0o700, 0)
        for child in try names(in: directory, name) {
            let opened = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
            guard opened >= 0 else { throw SystemFailure("open", FilePath(platformString: name)) }
            defer { close(opened) }
            try removeTree(child, in: opened)
        }
        if unlinkat(directory, name, AT_REMOVEDIR) != 0 { throw SystemFailure("rmdir", FilePath(platformString: name)) }
    }

    private static func names(in directory: CInt, _ name: [CChar]) throws -> [[CChar]] {
        let opened = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        guard opened >= 0, let stream = fdopendir(opened) else {
            throw SystemFailure("open", FilePath(platformString: name))
        }
        defer { closedir(stream) }
        var names: [[CChar]] = []
        while let record = readdir(stream) { names.append(record.pointee.nameBytes) }
        let dot = CChar(bitPattern: UInt8(ascii: "."))
        return names.filter { $0 != [dot, 0] && $0 != [dot, dot, 0] }
    }

    private func with<Result>(_ path: FilePath, _ body: (UnsafePointer<CChar>) throws -> Result) rethrows -> Result {
        try full(path).withPlatformString(body)
    }

    private func withOpen<Result>(
        _ path: FilePath, _ flags: CInt, _ permissions: mode_t, _ body: (CInt) throws -> Result
    ) throws -> Result {
        // A link or a FIFO must not be opened instead of a file.
        let descriptor = with(path) { open($0, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, permissions) }
        guard descriptor >= 0 else { throw SystemFailure("open", full(path)) }
        defer { close(descriptor) }
        return try body(descriptor)
    }

    private func writeAll(_ bytes: [UInt8], to descriptor: CInt, at offset: Int, _ path: FilePath) throws {
        guard pwrite(descriptor, bytes, bytes.count, offset) == bytes.count else {
            throw SystemFailure("write", full(path))
        }
    }

    private func check(_ result: CInt, _ operation: String, _ path: FilePath) throws {
        if result != 0 { throw SystemFailure(operation, full(path)) }
    }
}

extension FilePath {
    /// A path of any bytes.
    init(raw bytes: [UInt8]) {
        self.init(platformString: bytes.map { CChar(bitPattern: $0) } + [0])
    }

    /// The path's bytes with the terminating NUL.
    var platformBytes: [CChar] {
        withPlatformString { Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) }
    }
}

extension dirent {
    /// The record's name with the terminating NUL.
    var nameBytes: [CChar] {
        withUnsafeBytes(of: d_name) { bytes in bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0] }
    }
}

// So that tests can write paths with numbers in them.
extension FilePath: @retroactive ExpressibleByStringInterpolation {}
