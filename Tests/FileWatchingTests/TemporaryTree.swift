// A temporary directory for each test, and shell-like scripts that change it.

import CLinux
import FileIO
import Glibc
import SystemPackage
import TestSupport
import Testing
import Threading

/// A temporary directory with `root`, which is watched, and `outside`, which is not; removed at the end.
final class TemporaryTree: Sendable {
    let base: String
    let root: String
    /// By its inode, the names through which each file was changed since `takeChanged`.
    private let changed = Locked<[UInt64: Set<RelativePath>]>([:])

    /// Creates the directory.
    ///
    /// - Parameter name: the root's path below the temporary directory.
    init(root name: String = "root") throws {
        base = try TemporaryDirectory.create().string
        root = base + "/" + name
        try run(["mkdir", "-p", name], in: base)
        try run(["mkdir", "outside"], in: base)
    }

    deinit {
        try? TemporaryTree.remove(base)
    }

    /// Runs a script: one command per line, words separated by blanks, paths relative to the root.
    ///
    ///     mkdir D        mkdir -p D     rmdir D       rm F          rm -r P
    ///     write F TEXT   append F TEXT  truncate F    touch P       chmod OCTAL P
    ///     mv P Q         exchange P Q   ln F G        ln -s TARGET L    mkfifo P
    ///     each N COMMAND                runs it with % replaced by 1 ... N
    func run(_ script: String) throws {
        for line in script.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            if !words.isEmpty { try run(words, in: root) }
        }
    }

    /// The names through which files were changed since the last call, by their inodes: some may be gone.
    func takeChanged() -> [UInt64: Set<RelativePath>] {
        changed.withLock { changed in
            defer { changed = [:] }
            return changed
        }
    }

    private func note(changed name: String) {
        var status = stat()
        guard lstat(root + "/" + name, &status) == 0 else { return }
        changed.withLock {
            _ = $0[UInt64(status.st_ino), default: []].insert(RelativePath(unchecked: Array(name.utf8)))
        }
    }

    /// Runs one command with paths relative to `directory`.
    func run(_ words: [String], in directory: String) throws {
        let line = words.joined(separator: " ")
        func path(_ index: Int) -> String { directory + "/" + words[index] }
        func check(_ result: CInt) throws {
            if result != 0 { throw ScriptError(line: line, code: errno) }
        }
        switch (words[0], words.count > 1 ? words[1] : "") {
        case ("each", let count):
            for number in 1...(Int(count) ?? 1) {
                let command = words[2...].map { $0.split(separator: "%", omittingEmptySubsequences: false) }
                try run(command.map { $0.joined(separator: String(number)) }, in: directory)
            }
        case ("mkdir", "-p"):
            var made = directory
            for part in words[2].split(separator: "/") {
                made += "/" + part
                if mkdir(made, 0o755) != 0 && errno != EEXIST { throw ScriptError(line: line, code: errno) }
            }
        case ("mkdir", _): try check(mkdir(path(1), 0o755))
        case ("rmdir", _): try check(rmdir(path(1)))
        case ("rm", "-r"): try TemporaryTree.remove(path(2))
        case ("rm", _): try check(unlink(path(1)))
        case ("write", _): try write(words[2], to: path(1), O_TRUNC | O_CREAT, line)
        case ("append", _): try write(words[2], to: path(1), O_APPEND, line)
        case ("truncate", _): try check(truncate(path(1), 0))
        case ("touch", _): try check(utimensat(AT_FDCWD, path(1), nil, AT_SYMLINK_NOFOLLOW))
        case ("chmod", _): try check(chmod(path(2), UInt32(words[1], radix: 8) ?? 0))
        case ("mv", _): try check(rename(path(1), path(2)))
        case ("exchange", _):
            try check(clinux_rename(AT_FDCWD, path(1), AT_FDCWD, path(2), UInt32(CLINUX_RENAME_EXCHANGE)))
        case ("ln", "-s"): try check(symlink(words[2], path(3)))
        case ("ln", _): try check(link(path(1), path(2)))
        case ("mkfifo", _): try check(mkfifo(path(1), 0o600))
        default: throw ScriptError(line: line, code: ENOSYS)
        }
        switch words[0] {
        case "write", "append", "truncate", "touch": note(changed: words[1])
        case "chmod", "ln": note(changed: words[words.count - 1])
        default: break
        }
    }

    func write(_ text: String, to path: String, _ flags: CInt, _ line: String) throws {
        let descriptor = open(path, O_WRONLY | O_NOFOLLOW | flags, 0o644)
        guard descriptor >= 0 else { throw ScriptError(line: line, code: errno) }
        defer { close(descriptor) }
        guard Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count else {
            throw ScriptError(line: line, code: errno)
        }
    }

    /// Creates a chain of nested directories with the same name; its path may be longer than PATH_MAX.
    ///
    /// - Parameter file: a file to create in the last directory.
    func makeChain(of name: String, depth: Int, file: String? = nil) throws {
        var directory = open(root, O_RDONLY | O_DIRECTORY)
        defer { close(directory) }
        for _ in 0..<depth {
            if mkdirat(directory, name, 0o755) != 0 && errno != EEXIST { throw ScriptError(line: name, code: errno) }
            let next = openat(directory, name, O_RDONLY | O_DIRECTORY)
            if next < 0 { throw ScriptError(line: name, code: errno) }
            close(directory)
            directory = next
        }
        if let file {
            let created = openat(directory, file, O_WRONLY | O_CREAT, 0o644)
            if created < 0 { throw ScriptError(line: file, code: errno) }
            close(created)
        }
    }

    /// Removes the object at `path`, relative to an open directory, with everything below it.
    static func remove(_ path: String, in directory: CInt = AT_FDCWD) throws {
        if unlinkat(directory, path, 0) == 0 { return }
        fchmodat(directory, path, 0o700, 0)
        let opened = openat(directory, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        guard opened >= 0, let stream = fdopendir(opened) else { throw ScriptError(line: "rm \(path)", code: errno) }
        defer { closedir(stream) }
        var names = [String]()
        while let record = readdir(stream) {
            names.append(
                withUnsafePointer(to: &record.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        for name in names where name != "." && name != ".." { try remove(name, in: opened) }
        if unlinkat(directory, path, AT_REMOVEDIR) != 0 { throw ScriptError(line: "rmdir \(path)", code: errno) }
    }
}

/// A line of a script that failed.
struct ScriptError: Error, CustomStringConvertible {
    let line: String
    let code: CInt

    var description: String { "\(line): \(String(cString: strerror(code)))" }
}
