// The Bloom filter of chunk ids: no false negatives and few false positives.

import ArchiveFormat
import TestTraits
import Testing

@testable import ArchiveStorage

@Suite(.blocking) struct ChunkFilterTests {
    private func id(_ text: String) -> ChunkID { ChunkID(hashing: Array(text.utf8)) }

    @Test("added ids are always found, other ids hardly ever", arguments: [0, 1, 10_000, 100_000])
    func membership(count: Int) {
        var filter = ChunkFilter()
        for number in 0..<count {
            filter.insert(id("in \(number)"))
            // Adding a layer keeps the earlier layers.
            if number % 1_000 == 0 { #expect(filter.mayContain(id("in 0"))) }
        }
        #expect((0..<count).allSatisfy { filter.mayContain(id("in \($0)")) })
        let strangers = 20_000
        let mistaken = (0..<strangers).count { filter.mayContain(id("out \($0)")) }
        #expect(count == 0 ? mistaken == 0 : mistaken < strangers / 2_000)
    }
}
