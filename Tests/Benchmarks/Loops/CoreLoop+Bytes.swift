// Loops over file bytes: chunking, hashing, compressing.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Compression
internal import TestSupport

extension CoreLoop {
    private static let pieceBytes = 1 << 20
    private static let blockBytes = 64 << 10

    static let chunking = CoreLoop(name: "chunking", operation: "1 MiB cut into chunks", bytes: pieceBytes) {
        let bytes = noise(pieceBytes)
        return { count in
            for _ in 0..<count {
                bytes.withUnsafeBytes { all in
                    var rest = all
                    while !rest.isEmpty {
                        let length = Chunker.standard.firstChunkLength(in: rest)
                        rest = UnsafeRawBufferPointer(rebasing: rest[length...])
                    }
                    consume(rest.count)
                }
            }
        }
    }

    static let hashing = CoreLoop(name: "hash", operation: "SHA-256 of 64 KiB", bytes: blockBytes) {
        let bytes = noise(blockBytes)
        return { count in for _ in 0..<count { consume(ChunkID(hashing: bytes)) } }
    }

    static let deflating = CoreLoop(
        name: "deflate", operation: "64 KiB of lines compressed, level 6", bytes: blockBytes
    ) {
        let bytes = Array(LargeFiles.text(1).prefix(blockBytes))
        return { count in
            var deflater = try Deflater(level: 6)
            for _ in 0..<count {
                var output: [UInt8] = []
                consume(try bytes.withUnsafeBytes { try deflater.deflate($0, into: &output) })
            }
        }
    }

    static let inflating = CoreLoop(
        name: "inflate", operation: "64 KiB of lines decompressed", bytes: blockBytes
    ) {
        let bytes = Array(LargeFiles.text(1).prefix(blockBytes))
        var deflater = try Deflater(level: 6)
        var compressed: [UInt8] = []
        guard try bytes.withUnsafeBytes({ try deflater.deflate($0, into: &compressed) }) else {
            throw BenchmarkError("lines of text do not compress")
        }
        return { count in
            var inflater = try Inflater()
            for _ in 0..<count {
                consume(try compressed.withUnsafeBytes { try inflater.inflate($0, expecting: blockBytes) })
            }
        }
    }

    private static func noise(_ count: Int) -> [UInt8] {
        var random = SeededGenerator(seed: 7)
        return random.noise(count)
    }
}
