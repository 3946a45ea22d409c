// A Bloom filter of chunk ids: it proves that an archive does not have a chunk, without asking the catalogue.

internal import ArchiveFormat

/// A set of chunk ids with false positives, one in some thousands, and no false negatives.
///
/// A split block Bloom filter: each id sets eight bits, one in each word of one cache line, so a lookup costs one
/// memory access (Putze, Sanders and Singler, "Cache-, hash- and space-efficient Bloom filters", 2007, in the form and
/// with the odd multipliers of Apache Parquet). Ids are hashes already: their first 32 bits choose the line, the next
/// 32 the bits. There are 32 bits for each id, because a false positive waits for the catalogue, which may be busy. The
/// filter grows by further layers, each twice as large.
struct ChunkFilter {
    private typealias Line = SIMD8<UInt64>

    private struct Layer {
        private static let idsPerLine = 16

        let capacity: Int
        private(set) var count = 0
        private var lines: [Line]

        init(capacity: Int) {
            self.capacity = capacity
            lines = [Line](repeating: Line(), count: capacity / Layer.idsPerLine)
        }

        private func index(of prefix: UInt64) -> Int { Int((prefix >> 32 &* UInt64(lines.count)) >> 32) }

        mutating func insert(_ prefix: UInt64, _ bits: Line) {
            lines[index(of: prefix)] |= bits
            count += 1
        }

        func mayContain(_ prefix: UInt64, _ bits: Line) -> Bool { lines[index(of: prefix)] & bits == bits }
    }

    private static let firstCapacity = 1 << 16
    private static let multipliers = SIMD8<UInt32>(
        0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31)

    private var layers: [Layer] = []

    /// Adds `id`.
    mutating func insert(_ id: ChunkID) {
        if layers.last.map({ $0.count >= $0.capacity }) ?? true {
            layers.append(Layer(capacity: layers.last.map { $0.capacity * 2 } ?? ChunkFilter.firstCapacity))
        }
        layers[layers.count - 1].insert(id.prefix, ChunkFilter.bits(of: id.prefix))
    }

    /// Whether `id` may have been added; false means that it certainly was not.
    func mayContain(_ id: ChunkID) -> Bool {
        let bits = ChunkFilter.bits(of: id.prefix)
        // By index, as iterating over the layers would retain and release each.
        return layers.indices.contains { layers[$0].mayContain(id.prefix, bits) }
    }

    private static func bits(of prefix: UInt64) -> Line {
        let numbers = (SIMD8<UInt32>(repeating: UInt32(truncatingIfNeeded: prefix)) &* multipliers) &>> 26
        return Line(repeating: 1) &<< Line(truncatingIfNeeded: numbers)
    }
}
