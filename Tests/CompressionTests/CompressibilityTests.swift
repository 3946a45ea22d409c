// Data counts as incompressible only if compression cannot shrink it.

import Compression
import Glibc
import TestSupport
import Testing

@Suite struct CompressibilityTests {
    private static func isIncompressible(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { Compressibility.isLikelyIncompressible($0) }
    }

    @Test("noise and compressed data are incompressible")
    func noise() throws {
        var random = SeededGenerator("noise")
        for count in [4_096, 5_000, 100_000, 1 << 20] {
            #expect(Self.isIncompressible(random.noise(count)), "\(count) bytes, seed \(random.seed)")
        }
        var deflater = try Deflater(level: 9)
        var output = [UInt8]()
        #expect(try deflater.deflate(random.text(500_000), into: &output))
        #expect(Self.isIncompressible(output), "seed \(random.seed)")
    }

    @Test("data of less than 4 KiB is never incompressible")
    func shortData() {
        var random = SeededGenerator("short noise")
        for count in [0, 1, 4_095] {
            #expect(!Self.isIncompressible(random.noise(count)), "\(count) bytes, seed \(random.seed)")
        }
    }

    @Test("patterns, text and numbers are not incompressible")
    func patterns() {
        var random = SeededGenerator("patterns")
        let block = random.noise(1_000)
        let doubles = (0..<20_000).flatMap { _ in
            withUnsafeBytes(of: Double.random(in: 0..<1, using: &random)) { Array($0) }
        }
        #expect(!Self.isIncompressible([UInt8](repeating: 7, count: 100_000)))
        #expect(
            !Self.isIncompressible((0..<100_000).map { UInt8(truncatingIfNeeded: $0) }), "every value equally often")
        #expect(!Self.isIncompressible(Array(repeatElement(block, count: 100).joined())), "seed \(random.seed)")
        #expect(!Self.isIncompressible(random.text(100_000)), "seed \(random.seed)")
        #expect(!Self.isIncompressible(doubles), "seed \(random.seed)")
    }

    @Test(
        "a chunk of a real file is not incompressible if the compressor shrinks it by a tenth",
        arguments: ["/proc/self/exe", "/bin/sh", "/bin/bash", "/etc/passwd"])
    func realFiles(path: String) throws {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var deflater = try Deflater(level: 1)
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        for index in 0..<64 {
            let count = fread(&chunk, 1, chunk.count, file)
            if count == 0 { break }
            let bytes = Array(chunk[..<count])
            var output = [UInt8]()
            let shrinks = try deflater.deflate(bytes, into: &output) && output.count * 10 < count * 9
            #expect(!(shrinks && Self.isIncompressible(bytes)), "chunk \(index) of \(path)")
        }
    }
}
