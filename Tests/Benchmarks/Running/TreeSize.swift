// The files below a directory, and their sizes.

internal import FileIO
internal import Glibc
internal import SystemPackage

/// Files below a directory.
enum TreeSize {
    /// The sum of the lengths of all files at `path` and below it, in bytes.
    static func bytes(_ path: FilePath) throws -> Int {
        var sum = 0
        try forEachFile(below: path) { sum += Int($1.size) }
        return sum
    }

    /// The length of one file, in bytes.
    static func file(_ path: FilePath) throws -> Int {
        Int(try FileStatus.read(Descriptor.open(path, O_RDONLY)).size)
    }

    /// The first file below `path` in walk order with at least `bytes` bytes.
    static func firstFile(below path: FilePath, ofAtLeast bytes: Int) throws -> FilePath {
        struct Found: Error { let path: FilePath }
        do {
            try forEachFile(below: path) { if $1.size >= bytes { throw Found(path: $0) } }
        } catch let found as Found {
            return found.path
        }
        throw BenchmarkError("\(path) holds no file of \(bytes) bytes")
    }

    /// The number of objects at `path` and below it.
    static func entries(_ path: FilePath) throws -> Int {
        var count = 1
        try forEach(below: path) { _, _ in count += 1 }
        return count
    }

    /// Calls `body` with every regular file below `path`, in walk order.
    static func forEachFile(below path: FilePath, _ body: (FilePath, FileStatus) throws -> Void) throws {
        try forEach(below: path) { if $1.kind == .file { try body($0, $1) } }
    }

    private static func forEach(below path: FilePath, _ body: (FilePath, FileStatus) throws -> Void) throws {
        let directory = try Descriptor.open(path, O_RDONLY | O_DIRECTORY)
        for record in try DirectoryReader.list(directory, path: .root) {
            // Programs may clean up their stores during the walk.
            guard let status = try FileStatus.read(CName(record.name), in: directory) else { continue }
            let child = path.appending(String(decoding: record.name, as: UTF8.self))
            try body(child, status)
            if status.kind == .directory { try forEach(below: child, body) }
        }
    }
}
