// The least that a first capture does with each file: open, stat, read, stat, close.

internal import Glibc
internal import SystemPackage

/// Reads all files of a tree in several processes, which share nothing.
enum FileWalk {
    /// Reads the tree: starts the other processes and does its own share.
    static func run(_ tree: FilePath, processes: Int) throws {
        let others = try (1..<max(1, processes)).map { part in
            try RunningProgram(
                Helper.command("walk", tree.string, String(processes), "--part", String(part)), output: .discarded)
        }
        try run(tree, part: 0, of: processes)
        for other in others { _ = try other.finish() }
    }

    /// Reads every `parts`th of the root's entries, and what is below.
    static func run(_ tree: FilePath, part: Int, of parts: Int) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var index = 0
        let root = open(tree.string, O_RDONLY | O_DIRECTORY)
        try forEachEntry(of: root) { name, type in
            index += 1
            if index % parts == part { try read(name, type, in: root, buffer) }
        }
    }

    private static func read(
        _ name: UnsafePointer<CChar>, _ type: Int, in directory: CInt, _ buffer: UnsafeMutableRawBufferPointer
    ) throws {
        if type == DT_DIR {
            let child = openat(directory, name, O_RDONLY | O_DIRECTORY)
            return try forEachEntry(of: child) { try read($0, $1, in: child, buffer) }
        }
        guard type == DT_REG else { return }
        let file = try checked(openat(directory, name, O_RDONLY))
        defer { close(file) }
        var status = stat()
        _ = try checked(fstat(file, &status))
        while try checked(Glibc.read(file, buffer.baseAddress, buffer.count)) == buffer.count {}
        _ = try checked(fstat(file, &status))
    }

    /// Calls `body` with the name and type of each entry, and closes the directory.
    private static func forEachEntry(of directory: CInt, _ body: (UnsafePointer<CChar>, Int) throws -> Void) throws {
        guard let stream = fdopendir(try checked(directory)) else { throw Errno(rawValue: errno) }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            try withUnsafePointer(to: &entry.pointee.d_name) { name in
                try name.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    let isDots = name[0] == 0x2E && (name[1] == 0 || name[1] == 0x2E && name[2] == 0)
                    if !isDots { try body(name, Int(entry.pointee.d_type)) }
                }
            }
        }
    }

    private static func checked<Number: SignedInteger>(_ result: Number) throws -> Number {
        guard result >= 0 else { throw Errno(rawValue: errno) }
        return result
    }
}
