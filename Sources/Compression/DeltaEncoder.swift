// Creates deltas: finds the parts that two runs of bytes share.

/// Creates deltas and reuses its tables between them.
///
/// The encoder indexes every block of 16 bytes of the source. It looks up the target at every byte that is not copied
/// yet and extends each match in both directions. This is the greedy algorithm of J. MacDonald, "File System Support
/// for Delta Compression", 2000, which git uses too. Time and memory grow with the lengths, whatever the bytes are.
package struct DeltaEncoder: ~Copyable {
    /// For each hash, 1 + the first block of the source with that hash; 0 for none.
    private var heads: [UInt32] = []
    /// For each block, 1 + the next block with the same hash; 0 for none.
    private var links: [UInt32] = []

    private static let blockBytes = 16
    /// The shortest copy; instructions for a shorter one cost more than its bytes cost in DEFLATE.
    private static let shortestCopy = 64
    /// The most blocks with the same hash that are tried.
    private static let candidatesLimit = 24

    package init() {}

    /// Returns a delta that turns `source` into `target`.
    ///
    /// - Parameter limit: the greatest length of the delta in bytes.
    /// - Returns: nil if the delta would be longer.
    package mutating func delta(
        of target: UnsafeRawBufferPointer, from source: UnsafeRawBufferPointer, limit: Int
    ) -> [UInt8]? {
        index(source)
        var instructions: [UInt8] = []
        var inserted: [UInt8] = []
        var copyEnd = 0
        var start = 0
        var position = 0
        while position + DeltaEncoder.blockBytes <= target.count {
            guard let copy = longestCopy(at: position, notBefore: start, of: target, from: source) else {
                position += 1
                continue
            }
            LEB128.append(copy.targetStart - start, to: &instructions)
            inserted.append(contentsOf: UnsafeRawBufferPointer(rebasing: target[start..<copy.targetStart]))
            LEB128.append(copy.length, to: &instructions)
            let distance = copy.sourceStart - copyEnd
            LEB128.append(distance >= 0 ? distance << 1 : (-distance << 1) - 1, to: &instructions)
            copyEnd = copy.sourceStart + copy.length
            start = copy.targetStart + copy.length
            position = start
            if instructions.count + inserted.count > limit { return nil }
        }
        if start < target.count {
            LEB128.append(target.count - start, to: &instructions)
            inserted.append(contentsOf: UnsafeRawBufferPointer(rebasing: target[start...]))
        }
        return instructions.count + inserted.count > limit ? nil : instructions + inserted
    }

    private struct Copy {
        let targetStart: Int
        let sourceStart: Int
        let length: Int
    }

    /// The longest copy that covers the block at `position` and begins no earlier than `start`.
    private func longestCopy(
        at position: Int, notBefore start: Int, of target: UnsafeRawBufferPointer, from source: UnsafeRawBufferPointer
    ) -> Copy? {
        var best: Copy?
        var next = heads[DeltaEncoder.slot(target, position, heads.count)]
        var candidates = DeltaEncoder.candidatesLimit
        while next > 0, candidates > 0 {
            let place = Int(next - 1) * DeltaEncoder.blockBytes
            next = links[Int(next - 1)]
            candidates -= 1
            let ahead = DeltaEncoder.commonLength(target, position, source, place)
            guard ahead >= DeltaEncoder.blockBytes else { continue }
            var back = 0
            let farthest = min(position - start, place)
            while back < farthest, target[position - back - 1] == source[place - back - 1] { back += 1 }
            if back + ahead > (best?.length ?? DeltaEncoder.shortestCopy - 1) {
                best = Copy(targetStart: position - back, sourceStart: place - back, length: back + ahead)
            }
        }
        return best
    }

    private mutating func index(_ source: UnsafeRawBufferPointer) {
        let blocks = source.count / DeltaEncoder.blockBytes
        var slots = 256
        while slots < 2 * blocks { slots *= 2 }
        heads.removeAll(keepingCapacity: true)
        heads.append(contentsOf: repeatElement(0, count: slots))
        links.removeAll(keepingCapacity: true)
        links.append(contentsOf: repeatElement(0, count: blocks))
        var following = -1
        // Backwards, so that the first of several equal blocks is found first.
        for block in stride(from: blocks - 1, through: 0, by: -1) {
            let slot = DeltaEncoder.slot(source, block * DeltaEncoder.blockBytes, slots)
            // In a run of equal blocks the first is enough: a copy extends from there.
            links[block] = slot == following ? links[block + 1] : heads[slot]
            heads[slot] = UInt32(block) + 1
            following = slot
        }
    }

    /// The slot of the block at `position` among `count`, a power of two (Fibonacci hashing; Knuth, TAOCP 6.4).
    private static func slot(_ bytes: UnsafeRawBufferPointer, _ position: Int, _ count: Int) -> Int {
        let first = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
        let second = bytes.loadUnaligned(fromByteOffset: position + 8, as: UInt64.self)
        let hash = ((first &* 0x9E37_79B9_7F4A_7C15) ^ (second << 32 | second >> 32)) &* 0xC2B2_AE3D_27D4_EB4F
        return Int(truncatingIfNeeded: hash >> 32) & (count - 1)
    }

    /// The number of equal bytes that follow two positions.
    private static func commonLength(
        _ left: UnsafeRawBufferPointer, _ leftStart: Int, _ right: UnsafeRawBufferPointer, _ rightStart: Int
    ) -> Int {
        let limit = min(left.count - leftStart, right.count - rightStart)
        var length = 0
        while length + 8 <= limit {
            let difference =
                left.loadUnaligned(fromByteOffset: leftStart + length, as: UInt64.self)
                ^ right.loadUnaligned(fromByteOffset: rightStart + length, as: UInt64.self)
            // In little-endian order the lowest different bits belong to the first different byte.
            if difference != 0 { return length + difference.littleEndian.trailingZeroBitCount / 8 }
            length += 8
        }
        while length < limit, left[leftStart + length] == right[rightStart + length] { length += 1 }
        return length
    }
}
