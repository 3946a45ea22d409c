// Random operations on a tree, from a seed.

internal import CLinux
internal import Glibc
internal import TestSupport

/// Changes the contents of a directory at random.
///
/// A file's event carries the name by which the file was opened. If that name is removed between open and write, and
/// the file has another name elsewhere, the event does not identify the written file, and only an audit finds the
/// change. To avoid this known gap, names that may be links to one file (`l0`…) form a separate class, and a lock
/// prevents their removal while one of them is written.
struct Churn {
    private let directory: String
    private var random: SeededGenerator
    private let lock: CInt
    /// A file that only this process writes, and sometimes holds open; truncation would crash a writer to its mapping.
    private let ownName = "own-\(getpid())"
    private var held: CInt = -1
    private var mapped: MappedFile?
    private let touchesMapped: Bool

    /// - Parameters:
    ///   - directory: the directory to change.
    ///   - touchesMapped: whether to touch a mapped file when it is released. A store into a page that is already dirty
    ///     does not update the file's times (mmap(2)). If the only event at the end may be lost, or comes from a
    ///     directory outside, nothing would report the store.
    init(directory: String, touchesMapped: Bool, _ random: SeededGenerator) {
        self.directory = directory
        self.touchesMapped = touchesMapped
        self.random = random
        lock = open(directory + "/../churn.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    }

    /// Tries `count` operations.
    ///
    /// - Returns: the number of operations that succeeded.
    mutating func run(_ count: Int) -> Int {
        var done = 0
        for _ in 0..<count where operate() { done += 1 }
        close(held)
        releaseMapped()
        return done
    }

    private mutating func operate() -> Bool {
        let (path, other) = (path(), path())
        switch random.below(42) {
        case 0..<5: return mkdir(path, 0o755) == 0
        case 5: return makeDirectories()
        case 6..<11: return write(path, O_CREAT | O_TRUNC)
        case 11..<14: return write(path, O_APPEND)
        case 14: return write(path, 0)
        case 15: return truncate(path, random.below(9_000)) == 0
        case 16..<20: return rename(path, other) == 0
        case 20: return replace(path)
        case 21..<23: return clinux_rename(AT_FDCWD, path, AT_FDCWD, other, UInt32(CLINUX_RENAME_EXCHANGE)) == 0
        case 23: return rename(path, outside()) == 0
        case 24: return rename(outside(), path) == 0
        case 25..<28: return unlink(path) == 0 || rmdir(path) == 0
        case 28: return random.oneIn(4) && Churn.locked(lock, LOCK_SH) { Churn.removeTree(path, in: AT_FDCWD) }
        case 29: return chmod(path, [0o700, 0o755, 0o644 | 0o700, 0o1777, 0o2750][random.below(5)]) == 0
        case 30: return setTime(path)
        case 31: return changeAttribute(path)
        case 32: return symlink(random.oneIn(2) ? "nowhere" : "../a", path) == 0
        case 33: return swapLink(path)
        case 34: return random.oneIn(2) && mkfifo(path, 0o600) == 0
        case 35: return link(linkName(), linkName()) == 0
        case 36: return Churn.locked(lock, LOCK_EX) { write(linkName(), random.oneIn(2) ? O_CREAT : O_APPEND) }
        case 37: return Churn.locked(lock, LOCK_SH) { unlink(linkName()) == 0 }
        case 38: return writeMapped()
        case 39..<41: return storeMapped()
        default: return writeHeld()
        }
    }

    // MARK: Names

    private mutating func name() -> String { ["a", "b", "c", "ab", "B"][random.below(5)] }

    /// A directory below the root; near ones are more likely.
    private mutating func parent(atMost depth: Int) -> String {
        (0..<random.below(1 + random.below(depth))).reduce(directory) { path, _ in path + "/" + name() }
    }

    private mutating func path() -> String { parent(atMost: 4) + "/" + name() }

    private mutating func linkName() -> String { parent(atMost: 3) + "/l\(random.below(4))" }

    private mutating func outside() -> String { directory + "/../outside/" + name() }

    // MARK: Operations of several calls

    private mutating func makeDirectories() -> Bool {
        var path = directory
        for _ in 0..<6 {
            path += "/" + name()
            _ = mkdir(path, 0o755)
        }
        return write(path + "/" + name(), O_CREAT)
    }

    /// Writes a few bytes, and sometimes many.
    private mutating func write(_ path: String, _ flags: CInt) -> Bool {
        let file = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0o644)
        if file < 0 { return false }
        defer { close(file) }
        let bytes = random.oneIn(20) ? random.noise(random.below(60_000)) : random.text(random.below(300))
        return Glibc.write(file, bytes, bytes.count) == bytes.count
    }

    /// Replaces a file by renaming a temporary file.
    private mutating func replace(_ path: String) -> Bool {
        let temporary = path + ".tmp-\(getpid())"
        return write(temporary, O_CREAT | O_TRUNC) && rename(temporary, path) == 0 || unlink(temporary) == 0
    }

    private mutating func swapLink(_ path: String) -> Bool {
        let temporary = path + ".lnk-\(getpid())"
        return symlink(name(), temporary) == 0 && (rename(temporary, path) == 0 || unlink(temporary) == 0)
    }

    private mutating func setTime(_ path: String) -> Bool {
        let time = timespec(tv_sec: 1_000_000_000 + random.below(1_000_000), tv_nsec: random.below(1_000_000_000))
        return utimensat(AT_FDCWD, path, [time, time], AT_SYMLINK_NOFOLLOW) == 0
    }

    private mutating func changeAttribute(_ path: String) -> Bool {
        let name = "user.\(name())"
        if random.oneIn(3) { return clinux_lremovexattr(path, name) == 0 }
        let value = random.noise(random.below(40))
        return clinux_lsetxattr(path, name, value, value.count) == 0
    }

    /// Writes into mapped memory; the event comes when the file is unmapped.
    private mutating func writeMapped() -> Bool {
        guard let file = MappedFile(parent(atMost: 3) + "/" + ownName, length: 8_192) else { return false }
        file.store(UInt8(random.below(256)), at: random.below(8_192))
        file.release(touching: false)
        return true
    }

    /// Writes into memory that stays mapped over several captures, or maps another file.
    private mutating func storeMapped() -> Bool {
        if mapped == nil || random.oneIn(16) {
            releaseMapped()
            let parent = touchesMapped ? parent(atMost: 3) : directory
            mapped = MappedFile(parent + "/mapped-\(getpid())", length: 8_192)
        }
        mapped?.store(UInt8(random.below(256)), at: random.below(8_192))
        return mapped != nil
    }

    private mutating func releaseMapped() {
        mapped?.release(touching: touchesMapped)
        mapped = nil
    }

    /// Writes to a file that stays open, even if it was moved, or opens another.
    private mutating func writeHeld() -> Bool {
        if held < 0 || random.oneIn(8) {
            close(held)
            let path = parent(atMost: 3) + "/" + ownName
            held = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        }
        let bytes = random.text(random.below(50))
        return held >= 0 && Glibc.write(held, bytes, bytes.count) == bytes.count
    }

    private static func locked(_ lock: CInt, _ mode: CInt, _ body: () -> Bool) -> Bool {
        flock(lock, mode)
        defer { flock(lock, LOCK_UN) }
        return body()
    }

    /// Removes the tree at `path`, unless another process adds to it at the same time.
    private static func removeTree(_ path: String, in directory: CInt) -> Bool {
        if unlinkat(directory, path, 0) == 0 { return true }
        let opened = openat(directory, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0, let stream = fdopendir(opened) else { return false }
        while let record = readdir(stream) {
            let name = withUnsafeBytes(of: record.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { _ = removeTree(name, in: opened) }
        }
        closedir(stream)
        return unlinkat(directory, path, AT_REMOVEDIR) == 0
    }
}
