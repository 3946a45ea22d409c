// How much of the kernel's inotify limits the user's processes use.

internal import FileIO
internal import Glibc
internal import SystemPackage

/// The inotify instances and watches of the user's processes (proc(5), fdinfo).
///
/// An instance shared by several processes is counted for each of them.
struct InotifyUse {
    var instances = 0
    var watches = 0

    /// Counts over those of the user's processes that the caller may inspect.
    static func ofUser() -> InotifyUse {
        var use = InotifyUse()
        for process in names(in: "/proc") where process.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            if isOwn(FilePath("/proc/\(process)")) { use.add(process) }
        }
        return use
    }

    /// Adds the use of one process, named as in /proc.
    mutating func add(_ process: String) {
        let files = "/proc/\(process)/fd"
        for file in InotifyUse.names(in: files) where InotifyUse.target("\(files)/\(file)") == "anon_inode:inotify" {
            instances += 1
            watches += InotifyUse.watches(in: "/proc/\(process)/fdinfo/\(file)")
        }
    }

    /// Whether the process shares the caller's limits.
    private static func isOwn(_ process: FilePath) -> Bool {
        guard let directory = try? Descriptor.open(process, O_RDONLY | O_DIRECTORY),
            let status = try? FileStatus.read(directory)
        else { return false }
        return status.owner == geteuid()
    }

    private static func names(in directory: String) -> [String] {
        guard let opened = try? Descriptor.open(FilePath(directory), O_RDONLY | O_DIRECTORY),
            let records = try? DirectoryReader.list(opened, path: .root)
        else { return [] }
        return records.map { String(decoding: $0.name, as: UTF8.self) }
    }

    private static func target(_ link: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 64)
        let length = readlink(link, &buffer, buffer.count)
        return length < 0 ? nil : String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns the number of lines that begin with "inotify", one for each watch.
    ///
    /// There may be a million, so they are not held in memory.
    static func watches(in path: String) -> Int {
        guard let file = try? Descriptor.open(FilePath(path), O_RDONLY) else { return 0 }
        let word = Array("inotify".utf8)
        var block = [UInt8](repeating: 0, count: 64 * 1024)
        var count = 0
        // How many bytes of the word the line has matched so far; nil after a mismatch.
        var matched: Int? = 0
        while true {
            let length = block.withUnsafeMutableBytes { (try? file.read(into: $0, path: FilePath(path))) ?? 0 }
            for byte in block[..<length] {
                if byte == UInt8(ascii: "\n") {
                    matched = 0
                } else if let known = matched, known < word.count {
                    matched = byte == word[known] ? known + 1 : nil
                    if matched == word.count { count += 1 }
                }
            }
            if length < block.count { return count }
        }
    }
}
