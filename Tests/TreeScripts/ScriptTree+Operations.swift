// The commands that change the tree by path.

internal import CLinux
internal import Glibc

extension ScriptTree {
    static let operations: [String: @Sendable (Call) throws -> Void] = [
        "mkdir": { call in
            if call.has("-p") { try call.makeDirectories() } else { try call.check(mkdir(call.path(0), 0o755)) }
        },
        "rmdir": { try $0.check(rmdir($0.path(0))) },
        "rm": { call in
            if call.has("-r") {
                try TreeRemoval.remove(call.path(1), call)
            } else {
                try call.check(unlink(call.path(0)))
            }
        },
        "mv": { try $0.check(rename($0.path(0), $0.path(1))) },
        "exchange": { call in
            let flags = UInt32(CLINUX_RENAME_EXCHANGE)
            try call.check(clinux_rename(AT_FDCWD, call.path(0), AT_FDCWD, call.path(1), flags))
        },
        "ln": { call in
            // A symbolic link's target is text, not a path of the script.
            try call.check(
                call.has("-s") ? symlink(call.bytes(1), call.path(2)) : link(call.path(0), call.path(1)))
        },
        "chain": { try $0.makeChain() },

        "write": { call in try call.withFile(0, O_WRONLY | O_CREAT | O_TRUNC) { try call.write(call.word(1), to: $0) }
        },
        "append": { call in try call.withFile(0, O_WRONLY | O_APPEND) { try call.write(call.word(1), to: $0) } },
        "overwrite": { call in
            try call.withFile(0, O_WRONLY | O_CREAT) { file in
                let (text, offset) = (try call.word(2), try call.number(1))
                try call.check(pwrite(file, text, text.count, offset))
            }
        },
        "fill": { call in
            let count = try call.number(1)
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 / 7) }
            try call.withFile(0, O_WRONLY | O_CREAT | O_TRUNC) { try call.write(bytes, to: $0) }
        },
        "truncate": { try $0.check(truncate($0.path(0), $0.number(1))) },
        "copy": { try $0.copyRange() },
        "allocate": { try $0.changeAllocation(mode: 0, offset: 0, length: $0.number(1)) },
        "punch": { call in
            // FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE (fallocate(2)).
            try call.changeAllocation(mode: 3, offset: call.number(1), length: call.number(2))
        },

        "mkfifo": { try $0.check(mkfifo($0.path(0), 0o600)) },
        "mksocket": { try $0.check(mknod($0.path(0), S_IFSOCK | 0o600, 0)) },
        "chmod": { try $0.check(chmod($0.path(1), mode_t($0.number(0, radix: 8)))) },
        "chown": { try $0.check(lchown($0.path(2), uid_t($0.number(0)), gid_t($0.number(1)))) },
        "touch": { try $0.touch() },
        "setxattr": { call in
            let value = try call.word(2)
            try call.check(clinux_lsetxattr(call.path(0), call.bytes(1), value, value.count))
        },
        "rmxattr": { try $0.check(clinux_lremovexattr($0.path(0), $0.bytes(1))) },
    ]
}

extension Call {
    func write(_ bytes: [UInt8], to file: CInt) throws {
        guard try check(Glibc.write(file, bytes, bytes.count)) == bytes.count else {
            throw ScriptError(line, "only some bytes were written")
        }
    }

    fileprivate func makeDirectories() throws {
        let path = try word(1)
        for (index, byte) in (path + [UInt8(ascii: "/")]).enumerated() where byte == UInt8(ascii: "/") {
            let part = Array(path[..<index])
            if part == Array("..".utf8) { continue }
            if mkdir(tree.place(of: part), 0o755) != 0 && errno != EEXIST { try check(-1) }
        }
    }

    /// `touch P [SECONDS]`: for a symbolic link, sets the link's own time.
    fileprivate func touch() throws {
        let times = words.count > 1 ? [timespec](repeating: timespec(tv_sec: try number(1), tv_nsec: 0), count: 2) : nil
        try check(utimensat(AT_FDCWD, path(0), times, AT_SYMLINK_NOFOLLOW))
    }

    /// `chain NAME DEPTH`: nested directories with the same name; their path may be longer than PATH_MAX.
    fileprivate func makeChain() throws {
        var directory = try check(open(tree.place(of: Array(".".utf8)), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        defer { close(directory) }
        for _ in 0..<(try number(1)) {
            if mkdirat(directory, try bytes(0), 0o755) != 0 && errno != EEXIST { try check(-1) }
            let next = try check(openat(directory, bytes(0), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
            close(directory)
            directory = next
        }
        close(try check(openat(directory, "end", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)))
    }

    /// `copy F G`: copy_file_range(2), which writes without write(2).
    fileprivate func copyRange() throws {
        try withFile(0, O_RDONLY) { source in
            try withFile(1, O_WRONLY | O_CREAT | O_TRUNC) { target in
                let length = try check(lseek(source, 0, SEEK_END))
                try check(lseek(source, 0, SEEK_SET))
                try check(try LateCalls.copyFileRange(source, target, length))
            }
        }
    }

    fileprivate func changeAllocation(mode: CInt, offset: Int, length: Int) throws {
        _ = try withFile(0, O_RDWR | O_CREAT) { try check(try LateCalls.allocate($0, mode, offset, length)) }
    }
}

/// Removes trees by descriptors, so that paths can have any length.
enum TreeRemoval {
    static func remove(_ path: [CChar], in directory: CInt = AT_FDCWD, _ call: Call) throws {
        if unlinkat(directory, path, 0) == 0 { return }
        guard errno == EISDIR || errno == EPERM else { throw ScriptError(call.line, String(cString: strerror(errno))) }
        let opened = try call.check(openat(directory, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
        guard let stream = fdopendir(opened) else { throw ScriptError(call.line, "cannot list") }
        defer { closedir(stream) }
        var names: [[CChar]] = []
        while let record = readdir(stream) {
            names.append(
                withUnsafeBytes(of: record.pointee.d_name) { bytes in
                    bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
                })
        }
        let dot = CChar(bitPattern: UInt8(ascii: "."))
        for name in names where name != [dot, 0] && name != [dot, dot, 0] { try remove(name, in: opened, call) }
        try call.check(unlinkat(directory, path, AT_REMOVEDIR))
    }
}
