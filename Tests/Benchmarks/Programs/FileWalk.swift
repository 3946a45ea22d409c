// The least that a first capture does with each file: open, stat, read, stat, close.

internal import Glibc
internal import SystemPackage

/// Reads all files of a tree; several processes share nothing.
enum FileWalk {
    /// Reads every `parts`th of the root's entries, and what is below.
    static func run(_ tree: FilePath, part: Int, of parts: Int) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var index = 0
        let root = open(tree.string, O_RDONLY | O_DIRECTORY)
        try forEachEntry(of: root) { name, type in
            index += 1
            if index % parts == part { try forEachFile(name, type, in: root) { try read($0, in: $1, buffer) } }
        }
    }

    /// Calls `body` with the name and the directory of every file at or below a name.
    static func forEachFile(
        _ name: UnsafePointer<CChar>, _ type: Int, in directory: CInt,
        _ body: (UnsafePointer<CChar>, CInt) throws -> Void
    ) throws {
        if type == DT_DIR {
            let child = openat(directory, name, O_RDONLY | O_DIRECTORY)
            return try forEachEntry(of: child) { try forEachFile($0, $1, in: child, body) }
        }
        if type == DT_REG { try body(name, directory) }
    }

    private static func read(
        _ name: UnsafePointer<CChar>, in directory: CInt, _ buffer: UnsafeMutableRawBufferPointer
    ) throws {
        let file = try checked(openat(directory, name, O_RDONLY))
        defer { close(file) }
        var status = stat()
        _ = try checked(fstat(file, &status))
        while try checked(Glibc.read(file, buffer.baseAddress, buffer.count)) == buffer.count {}
        _ = try checked(fstat(file, &status))
    }

    /// Calls `body` with the name and type of each entry, and closes the directory.
    static func forEachEntry(of directory: CInt, _ body: (UnsafePointer<CChar>, Int) throws -> Void) throws {
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

    static func checked<Number: SignedInteger>(_ result: Number) throws -> Number {
        guard result >= 0 else { throw Errno(rawValue: errno) }
        return result
    }
}
