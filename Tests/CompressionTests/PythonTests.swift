// Exchanges streams with Python's zlib in both directions; skipped if there is no Python.

import Compression
import Foundation
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct PythonTests {
    /// A Python script that checks our streams and writes its own.
    ///
    /// It reads cases (lengths of dictionary, compressed and raw bytes, then these bytes), checks that each one
    /// decompresses, compresses the raw bytes itself and writes the result.
    private static let script = """
        import struct, sys, zlib
        source, target = open(sys.argv[1], "rb"), open(sys.argv[2], "wb")
        while header := source.read(12):
            lengths = struct.unpack("<III", header)
            dictionary, packed, raw = (source.read(length) for length in lengths)
            extra = {"zdict": dictionary} if dictionary else {}
            inflater = zlib.decompressobj(-15, **extra)
            if inflater.decompress(packed) != raw or not inflater.eof or inflater.unused_data:
                sys.exit("a stream decompresses to something else")
            deflater = zlib.compressobj(6, zlib.DEFLATED, -15, 8, 0, **extra)
            packed = deflater.compress(raw) + deflater.flush()
            target.write(struct.pack("<I", len(packed)) + packed)
        """

    @Test("Python and archiver read each other's streams", .enabled(if: PythonTests.hasPython))
    func bothWays() throws {
        var random = SeededGenerator("Python")
        var deflater = try Deflater(level: 6)
        var cases = [(dictionary: [UInt8], raw: [UInt8])]()
        var source = Data()
        while cases.count < 40 {
            let length = Int.random(in: 3..<(1 << Int.random(in: 3...17, using: &random)), using: &random)
            let raw = random.text(length)
            let dictionary = Bool.random(using: &random) ? [] : random.text(Int.random(in: 1...70_000, using: &random))
            var packed = [UInt8]()
            guard try deflater.deflate(raw, dictionary: dictionary, into: &packed) else { continue }
            cases.append((dictionary, raw))
            for part in [dictionary, packed, raw] {
                withUnsafeBytes(of: UInt32(part.count).littleEndian) { source.append(contentsOf: $0) }
            }
            for part in [dictionary, packed, raw] { source.append(contentsOf: part) }
        }

        let scratch = try TemporaryDirectory()
        defer { withExtendedLifetime(scratch) {} }
        let (input, output) = (scratch.url.appending(path: "input"), scratch.url.appending(path: "output"))
        try source.write(to: input)
        #expect(try Self.python(["-c", Self.script, input.path, output.path]) == 0, "seed \(random.seed)")

        var packed = try Data(contentsOf: output)[...]
        var inflater = try Inflater()
        for (index, item) in cases.enumerated() {
            let length = packed.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            packed = packed.dropFirst(4)
            let back = try inflater.inflate(
                packed.prefix(length), dictionary: item.dictionary, expecting: item.raw.count)
            packed = packed.dropFirst(length)
            #expect(back == item.raw, "case \(index), seed \(random.seed)")
        }
        #expect(packed.isEmpty)
    }

    private static let hasPython = (try? python(["-c", "import zlib"])) == 0

    private static func python(_ arguments: [String]) throws -> Int32 {
        try ChildProcess.run(["python3"] + arguments).status
    }
}
