// The least that a first capture does with the bytes of files: read, hash, deflate.

internal import ArchiveFormat
internal import Compression
internal import FileIO
internal import Glibc
internal import SystemPackage

/// Reads, hashes and deflates all files of a tree in several processes, each every so many files of all.
struct FilePacking: ~Copyable {
    private var deflater: Deflater
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 4096)
    private var filled = 0
    private var deflated: [UInt8] = []

    /// Packs the tree: starts the other processes and does its own share.
    static func run(_ tree: FilePath, processes: Int) throws {
        let others = try (1..<max(1, processes)).map { part in
            try RunningProgram(
                Helper.command("pack", tree.string, String(processes), "--part", String(part)), output: .discarded)
        }
        try run(tree, part: 0, of: processes)
        for other in others { _ = try other.finish() }
    }

    /// Packs every `parts`th file.
    static func run(_ tree: FilePath, part: Int, of parts: Int) throws {
        var packing = try FilePacking()
        var index = 0
        try TreeSize.forEachFile(below: tree) { path, _ in
            index += 1
            if index % parts == part { try packing.add(path) }
        }
        try packing.deflate()
    }

    /// With the level of first captures.
    private init() throws { deflater = try Deflater(level: 3) }

    deinit { buffer.deallocate() }

    /// Hashes a file piece by piece, and deflates it together with its neighbours.
    private mutating func add(_ path: FilePath) throws {
        let file = try Descriptor.open(path, O_RDONLY | O_NOFOLLOW)
        while true {
            let free = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = try file.read(into: free, path: path)
            _ = ChunkID(hashing: UnsafeRawBufferPointer(rebasing: free[..<count]))
            filled += count
            if count < free.count { return }
            try deflate()
        }
    }

    private mutating func deflate() throws {
        deflated.removeAll(keepingCapacity: true)
        _ = try deflater.deflate(UnsafeRawBufferPointer(rebasing: buffer[..<filled]), into: &deflated)
        filled = 0
    }
}
