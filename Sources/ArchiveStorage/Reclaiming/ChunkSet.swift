// A set of very many chunks in little memory.

package import ArchiveFormat

/// A set of chunks, stored as the first 64 bits of their ids: 11 to 22 bytes a chunk.
///
/// It has false positives, once in 2^64 by chance, and no false negatives.
package struct ChunkSet: Sendable {
    // Open addressing with linear probing (Knuth, TAOCP 6.4, algorithm L); 0 is an empty slot.
    private var slots: [UInt64]
    package private(set) var count = 0
    /// Ids can be forged to begin alike; a random factor keeps them from colliding.
    private let factor = UInt64.random(in: .min ... .max) | 1

    private static let leastSlots = 1 << 10

    package init() { slots = [UInt64](repeating: 0, count: ChunkSet.leastSlots) }

    /// Adds `id`.
    ///
    /// - Returns: whether it was not in the set.
    @discardableResult
    package mutating func insert(_ id: ChunkID) -> Bool {
        guard insert(ChunkSet.key(id.prefix)) else { return false }
        count += 1
        if count * 4 > slots.count * 3 { grow() }
        return true
    }

    package func contains(_ id: ChunkID) -> Bool { contains(beginning: id.prefix) }

    /// Whether the set has the chunk that `prefix` names.
    package func contains(_ prefix: ChunkPrefix) -> Bool { contains(beginning: prefix.first) }

    private func contains(beginning prefix: UInt64) -> Bool {
        let key = ChunkSet.key(prefix)
        var index = start(of: key)
        while slots[index] != 0 {
            if slots[index] == key { return true }
            index = (index + 1) & (slots.count - 1)
        }
        return false
    }

    private static func key(_ prefix: UInt64) -> UInt64 { prefix == 0 ? 1 : prefix }

    private func start(of key: UInt64) -> Int {
        Int(truncatingIfNeeded: (key &* factor) >> 20) & (slots.count - 1)
    }

    private mutating func insert(_ key: UInt64) -> Bool {
        var index = start(of: key)
        while slots[index] != 0 {
            if slots[index] == key { return false }
            index = (index + 1) & (slots.count - 1)
        }
        slots[index] = key
        return true
    }

    private mutating func grow() {
        let old = slots
        slots = [UInt64](repeating: 0, count: old.count * 2)
        for key in old where key != 0 { _ = insert(key) }
    }
}
