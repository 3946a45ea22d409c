// Commands on files that a script holds open: descriptors, nameless files, mapped memory.

internal import Glibc

/// An open file, or its pages mapped into memory.
final class HeldFile {
    let descriptor: CInt
    let pages: UnsafeMutableRawBufferPointer?
    /// The same file, open for reading; negative if that is not possible.
    private let reader: CInt

    /// F_SETLEASE (fcntl(2)), which Glibc's module does not export.
    private static let setLease: CInt = 1024

    init(descriptor: CInt) {
        self.descriptor = descriptor
        pages = nil
        reader = HeldFile.reader(of: descriptor)
    }

    /// Maps an entire file for writing and closes its descriptor.
    init(mapping file: CInt, _ call: Call) throws {
        let length = Int(try call.check(lseek(file, 0, SEEK_END)))
        let start = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        guard let start, start != MAP_FAILED else { throw ScriptError(call.line, String(cString: strerror(errno))) }
        pages = UnsafeMutableRawBufferPointer(start: start, count: length)
        reader = HeldFile.reader(of: file)
        close(file)
        descriptor = -1
    }

    /// Lets go of the file, and waits until nobody has it open for writing, a second at most.
    ///
    /// A process that another test starts at the same time has a copy of the descriptor until it runs its program; only
    /// then the system reports the file as closed. It refuses a read lease for so long (fcntl(2)).
    deinit {
        if let pages { munmap(pages.baseAddress, pages.count) } else { close(descriptor) }
        if reader < 0 { return }
        let end = ContinuousClock.now + .seconds(1)
        while fcntl(reader, HeldFile.setLease, CInt(F_RDLCK)) < 0, errno == EAGAIN, .now < end { sched_yield() }
        close(reader)
    }

    private static func reader(of descriptor: CInt) -> CInt {
        open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    }
}

extension ScriptTree {
    /// Executes a command whose first argument names the held file.
    ///
    /// - Returns: false if there is no such command.
    func useHeld(_ command: String, _ call: Call) throws -> Bool {
        switch command {
        case "hold":
            // A directory can only be opened for reading, which is enough to hold its inode.
            let path = try call.path(1)
            let writing = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK)
            let descriptor = writing >= 0 ? writing : try call.check(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK))
            held[try call.word(0)] = HeldFile(descriptor: descriptor)
        case "tmpfile":
            // O_TMPFILE (open(2)), which Glibc's module does not export.
            let flags = 0o20_000_000 | O_DIRECTORY | O_RDWR | O_CLOEXEC
            held[try call.word(0)] = HeldFile(descriptor: try call.check(open(call.path(1), flags, 0o644)))
        case "put":
            try call.write(call.word(1), to: file(call).descriptor)
        case "name":
            let link = "/proc/self/fd/\(try file(call).descriptor)"
            try call.check(linkat(AT_FDCWD, link, AT_FDCWD, call.path(1), AT_SYMLINK_FOLLOW))
        case "map":
            let opened = try call.check(open(call.path(1), O_RDWR | O_CLOEXEC))
            held[try call.word(0)] = try HeldFile(mapping: opened, call)
        case "store":
            let (offset, text) = (try call.number(1), try call.word(2))
            guard let pages = try file(call).pages, offset + text.count <= pages.count else {
                throw ScriptError(call.line, "is not mapped at this offset")
            }
            UnsafeMutableRawBufferPointer(rebasing: pages[offset...]).copyBytes(from: text)
        case "release":
            _ = try file(call)
            held[try call.word(0)] = nil
        default:
            return false
        }
        return true
    }

    private func file(_ call: Call) throws -> HeldFile {
        guard let file = held[try call.word(0)] else { throw ScriptError(call.line, "is not held") }
        return file
    }
}
