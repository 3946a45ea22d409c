// Damaged, truncated and hostile streams cause a typed error and use no more memory than expected.

import Compression
import Glibc
import TestSupport
import Testing

@Suite struct DamageTests {
    private static func compress(_ input: [UInt8]) throws -> [UInt8] {
        var deflater = try Deflater(level: 6)
        var output = [UInt8]()
        try #require(try deflater.deflate(input, into: &output))
        return output
    }

    @Test("a stream of another length than expected is an error")
    func wrongLength() throws {
        var random = SeededGenerator("wrong length")
        let input = random.text(5_000)
        let output = try Self.compress(input)
        var inflater = try Inflater()
        #expect(throws: CompressionError.tooLong(expected: 4_999)) { try inflater.inflate(output, expecting: 4_999) }
        #expect(throws: CompressionError.tooLong(expected: 0)) { try inflater.inflate(output, expecting: 0) }
        #expect(throws: CompressionError.tooShort(expected: 5_001, found: 5_000)) {
            try inflater.inflate(output, expecting: 5_001)
        }
        #expect(throws: CompressionError.tooLarge(byteCount: -1)) { try inflater.inflate(output, expecting: -1) }
        #expect(throws: CompressionError.tooLarge(byteCount: .max)) { try inflater.inflate(output, expecting: .max) }
        #expect(try inflater.inflate(output, expecting: 5_000) == input)
    }

    @Test("bytes after the end of a stream are an error")
    func trailingBytes() throws {
        var random = SeededGenerator("trailing bytes")
        let input = random.text(1_000)
        var inflater = try Inflater()
        let output = try Self.compress(input) + [0, 0, 0]
        #expect(throws: CompressionError.trailingBytes(3)) { try inflater.inflate(output, expecting: 1_000) }
    }

    @Test("a stream that is cut off anywhere is an error")
    func cuts() throws {
        var random = SeededGenerator("cuts")
        let input = random.text(2_000)
        let output = try Self.compress(input)
        var inflater = try Inflater()
        for cut in 0..<output.count {
            #expect(throws: CompressionError.truncated, "cut \(cut), seed \(random.seed)") {
                try inflater.inflate(output[..<cut], expecting: 2_000)
            }
        }
    }

    @Test("unpacking a stream with a damaged byte fails or gives the expected length")
    func damagedBytes() throws {
        var random = SeededGenerator("damaged bytes")
        let input = random.text(3_000)
        let output = try Self.compress(input)
        var inflater = try Inflater()
        var errors = 0
        for position in output.indices {
            for _ in 0..<8 {
                var damaged = output
                damaged[position] ^= UInt8.random(in: 1...255, using: &random)
                do throws(CompressionError) {
                    let back = try inflater.inflate(damaged, expecting: 3_000)
                    #expect(back.count == 3_000, "position \(position), seed \(random.seed)")
                } catch {
                    errors += 1
                }
            }
        }
        #expect(errors > output.count, "seed \(random.seed)")
        #expect(try inflater.inflate(output, expecting: 3_000) == input, "a failure must not affect the next call")
    }

    @Test("noise never crashes the decompressor")
    func noise() throws {
        var random = SeededGenerator("noise")
        var inflater = try Inflater()
        for _ in 0..<5_000 {
            let noise = random.noise(Int.random(in: 0...300, using: &random))
            let expected = Int.random(in: 0...1_000, using: &random)
            do throws(CompressionError) {
                #expect(try inflater.inflate(noise, expecting: expected).count == expected, "seed \(random.seed)")
            } catch {
                continue
            }
        }
    }

    @Test("a decompression bomb uses no more memory than the expected length")
    func bomb() throws {
        let bomb = Self.zeros(atLeast: 256 << 20)
        var inflater = try Inflater()
        let before = try Self.peakResidentBytes()
        #expect(throws: CompressionError.tooLong(expected: 1_000)) { try inflater.inflate(bomb, expecting: 1_000) }
        #expect(try Self.peakResidentBytes() - before < 64 << 20)
    }

    /// A stream of at least `byteCount` zeros, written by hand in fixed Huffman codes (RFC 1951, 3.2.6).
    private static func zeros(atLeast byteCount: Int) -> [UInt8] {
        let header = [1, 1, 0]
        let literalZero = [0, 0, 1, 1, 0, 0, 0, 0]
        // Length 258 (code 285), distance 1 (code 0).
        let match = [1, 1, 0, 0, 0, 1, 0, 1] + [0, 0, 0, 0, 0]
        let bits = header + literalZero + Array(repeating: match, count: 16).joined()
        let bytes = stride(from: 0, to: bits.count - 7, by: 8).map { start in
            (0..<8).reduce(UInt8(0)) { $0 | UInt8(bits[start + $1]) << UInt8($1) }
        }
        // Eight matches of 13 bits repeat every 13 bytes.
        let period = bytes[2..<15]
        return Array(bytes[..<2]) + Array(repeating: period, count: byteCount / (8 * 258) + 1).joined()
    }

    /// The peak memory of this process (proc_pid_status(5), VmHWM).
    private static func peakResidentBytes() throws -> Int {
        let file = try #require(fopen("/proc/self/status", "r"))
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, CInt(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard text.hasPrefix("VmHWM:") else { continue }
            return try #require(Int(text.filter(\.isNumber))) * 1024
        }
        throw Unmeasured()
    }

    private struct Unmeasured: Error {}
}
