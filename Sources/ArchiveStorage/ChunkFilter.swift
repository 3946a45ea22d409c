// What an archive surely does not hold, told without asking its catalogue: a Bloom filter of chunk ids.

internal import ArchiveFormat

/// A set of chunk ids that may take others for its own, one in some hundreds, but never forgets one.
///
/// Bloom, "Space/time trade-offs in hash coding with allowable errors" (1970), with 16 bits an id and four probes by
/// double hashing (Kirsch and Mitzenmacher, 2006). Ids are hashes already: their first 64 bits serve as both. It grows
/// by further layers, each twice as large.
struct ChunkFilter {
    private struct Layer {
        private static let bitsPerID = 16
        private static let probes: UInt64 = 4

        let capacity: Int
        private(set) var count = 0
        private var words: [UInt64]

        init(capacity: Int) {
            self.capacity = capacity
            words = [UInt64](repeating: 0, count: capacity * Layer.bitsPerID / UInt64.bitWidth)
        }

        private func bit(_ probe: UInt64, of prefix: UInt64) -> (word: Int, mask: UInt64) {
            let step = prefix >> 32 | 1
            let index = (prefix & 0xFFFF_FFFF &+ probe &* step) % UInt64(words.count * UInt64.bitWidth)
            return (Int(index / 64), 1 << (index % 64))
        }

        mutating func insert(_ prefix: UInt64) {
            for probe in 0..<Layer.probes {
                let bit = bit(probe, of: prefix)
                words[bit.word] |= bit.mask
            }
            count += 1
        }

        func mayContain(_ prefix: UInt64) -> Bool {
            for probe in 0..<Layer.probes {
                let bit = bit(probe, of: prefix)
                if words[bit.word] & bit.mask == 0 { return false }
            }
            return true
        }
    }

    private static let firstCapacity = 1 << 14

    private var layers: [Layer] = []

    /// Adds `id`.
    mutating func insert(_ id: ChunkID) {
        if layers.last.map({ $0.count >= $0.capacity }) ?? true {
            layers.append(Layer(capacity: layers.last.map { $0.capacity * 2 } ?? ChunkFilter.firstCapacity))
        }
        layers[layers.count - 1].insert(id.prefix)
    }

    /// Whether `id` may have been added; false where it surely was not.
    func mayContain(_ id: ChunkID) -> Bool {
        layers.contains { $0.mayContain(id.prefix) }
    }
}
