// Finding what two runs of bytes share: the delta of one against the other.

/// Makes one delta after the other, with its tables kept between them.
///
/// The source is indexed at every sixteenth byte; the target is looked up at every byte that is not copied yet, and what
/// is found is extended to both sides (the greedy algorithm of J. MacDonald, "File System Support for Delta
/// Compression", 2000, which git uses as well). So time and memory grow with the lengths, whatever the bytes are.
package struct DeltaEncoder: ~Copyable {
    /// For each hash, the first block of the source that has it, plus 1; 0 for none.
    private var heads: [UInt32] = []
    /// For each block, the next one with the same hash, plus 1.
    private var links: [UInt32] = []

    private static let blockBytes = 16
    /// Shorter copies cost more as instructions than DEFLATE takes for the bytes.
    private static let shortestCopy = 64
    /// Blocks with one hash that are tried.
    private static let candidatesLimit = 24

    package init() {}

    /// The delta that makes `target` of `source`.
    ///
    /// - Parameter limit: the most bytes that it may have.
    /// - Returns: nil where it has more.
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

    /// The longest copy that holds the block at `position` and begins at `start` at the earliest.
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
        // Backwards, so that the first block of several that are equal is found first.
        for block in stride(from: blocks - 1, through: 0, by: -1) {
            let slot = DeltaEncoder.slot(source, block * DeltaEncoder.blockBytes, slots)
            // Of a run of equal blocks the first is enough: a copy goes on from there.
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

    /// How many bytes are equal from two places on.
    private static func commonLength(
        _ left: UnsafeRawBufferPointer, _ leftStart: Int, _ right: UnsafeRawBufferPointer, _ rightStart: Int
    ) -> Int {
        let limit = min(left.count - leftStart, right.count - rightStart)
        var length = 0
        while length + 8 <= limit {
            let difference =
                left.loadUnaligned(fromByteOffset: leftStart + length, as: UInt64.self)
                ^ right.loadUnaligned(fromByteOffset: rightStart + length, as: UInt64.self)
            // Little-endian: the lowest bits that differ are of the first byte that does.
            if difference != 0 { return length + difference.littleEndian.trailingZeroBitCount / 8 }
            length += 8
        }
        while length < limit, left[leftStart + length] == right[rightStart + length] { length += 1 }
        return length
    }
}
