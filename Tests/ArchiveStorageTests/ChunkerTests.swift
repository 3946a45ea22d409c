// Content-defined chunking: lengths, stability under insertion, and cuts that never change.

import ArchiveFormat
import ArchiveStorage
import TestSupport
import TestTraits
import Testing

@Suite("Cutting files into chunks", .blocking)
struct ChunkerTests {
    private let chunker = Chunker.standard

    private func lengths(_ bytes: [UInt8], _ chunker: Chunker = .standard) -> [Int] {
        bytes.withUnsafeBytes { buffer in
            var lengths: [Int] = []
            var start = 0
            while start < buffer.count {
                // The least that callers must pass: they read that much ahead.
                let ahead = buffer[start..<min(buffer.count, start + chunker.maximum)]
                let length = chunker.firstChunkLength(in: UnsafeRawBufferPointer(rebasing: ahead))
                lengths.append(length)
                start += length
            }
            return lengths
        }
    }

    private func ids(_ bytes: [UInt8]) -> [ChunkID] {
        var start = 0
        return lengths(bytes).map { length in
            defer { start += length }
            return ChunkID(hashing: Array(bytes[start..<(start + length)]))
        }
    }

    @Test("chunk lengths stay within the limits, and their average is near the target")
    func limits() {
        var random = SeededGenerator()
        let size = 16 << 20
        for bytes in [random.noise(size), random.text(size), [UInt8](repeating: 0, count: size)] {
            let lengths = lengths(bytes)
            #expect(lengths.reduce(0, +) == size)
            #expect(lengths.dropLast().allSatisfy { $0 >= chunker.minimum }, "TEST_SEED=\(random.seed)")
            #expect(lengths.allSatisfy { $0 <= chunker.maximum }, "TEST_SEED=\(random.seed)")
        }
        let count = lengths(random.noise(64 << 20)).count
        let average = (64 << 20) / count
        #expect((96 << 10...192 << 10).contains(average), "TEST_SEED=\(random.seed): \(average)")
    }

    @Test("a file up to the minimum length is one chunk, and an empty file has none")
    func short() {
        for count in [1, 2, 65_535, 65_536] { #expect(lengths([UInt8](repeating: 7, count: count)) == [count]) }
        #expect(lengths([]).isEmpty)
    }

    @Test("inserting a byte at the start or in the middle of 8 MiB changes only a few chunks")
    func insertion() {
        var random = SeededGenerator()
        let bytes = random.noise(8 << 20)
        let before = ids(bytes)
        for place in [0, 4 << 20] {
            var changed = bytes
            changed.insert(0x42, at: place)
            let after = ids(changed)
            let new = Set(after).subtracting(before)
            #expect((1...4).contains(new.count), "TEST_SEED=\(random.seed): \(new.count) of \(after.count)")
            #expect(after.suffix(20) == before.suffix(20), "TEST_SEED=\(random.seed)")
        }
    }

    @Test("another seed cuts files at different places")
    func seeds() {
        var random = SeededGenerator(seed: 2)
        let bytes = random.noise(8 << 20)
        func ends(_ seed: UInt64) -> Set<Int> {
            var end = 0
            return Set(
                lengths(bytes, Chunker(seed: seed)).dropLast().map { length in
                    end += length
                    return end
                })
        }
        #expect(ends(0).count > 20 && ends(7).count > 20)
        #expect(ends(0).isDisjoint(with: ends(7)))
        #expect(ends(7) == ends(7))
    }

    @Test("the examples of the table in the format document are right")
    func examples() {
        #expect(Chunker.gear(seed: 0).prefix(2) == [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4])
    }

    @Test("chunk boundaries never change, so that chunks of older versions are deduplicated")
    func golden() {
        var random = SeededGenerator(seed: 1)
        let expected = [
            220_209, 143_729, 133_479, 189_236, 133_302, 222_106, 158_876, 162_745, 73_107, 179_635, 131_268, 175_687,
            173_773,
        ]
        #expect(lengths(random.noise(2 << 20)) == expected)
    }
}
