// The least that a first capture does with the bytes of files: read, hash, deflate.

internal import ArchiveFormat
internal import Compression
internal import Glibc
internal import SystemPackage

/// Reads, hashes and deflates files, each of several processes its share of all.
struct FilePacking: ~Copyable {
    private var deflater: Deflater
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 4096)
    private var filled = 0
    private var deflated: [UInt8] = []

    /// Packs every `parts`th file.
    static func run(_ tree: FilePath, part: Int, of parts: Int) throws {
        var packing = try FilePacking()
        var index = 0
        let root = open(tree.string, O_RDONLY | O_DIRECTORY)
        try FileWalk.forEachEntry(of: root) { name, type in
            try FileWalk.forEachFile(name, type, in: root) { name, directory in
                index += 1
                if index % parts == part { try packing.add(name, in: directory) }
            }
        }
        try packing.deflate()
    }

    /// With the level of first captures.
    private init() throws { deflater = try Deflater(level: 3) }

    deinit { buffer.deallocate() }

    /// Hashes a file piece by piece, and deflates it together with its neighbours.
    private mutating func add(_ name: UnsafePointer<CChar>, in directory: CInt) throws {
        let file = try FileWalk.checked(openat(directory, name, O_RDONLY))
        defer { close(file) }
        while true {
            let free = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = try FileWalk.checked(read(file, free.baseAddress, free.count))
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
