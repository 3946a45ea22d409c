// Decides whether two contents have the same bytes although they are cut in different ways.

package import ArchiveFormat

/// Compares a content in the archive with bytes that were cut in another way.
///
/// Each writer chooses where to cut a file, so different slices do not prove different bytes. A chunk's id is the hash
/// of its bytes. So the new bytes are cut as in the archive and hashed, and nothing has to be unpacked.
package struct EqualBytes {
    /// Returns the slices in a list; nil if it cannot be read.
    package let slices: (ListedSlices) throws -> [Slice]?
    /// Whether the archive has a chunk.
    package let contains: (ChunkID) throws -> Bool
    /// Reads `count` bytes at `offset`; fewer at the end.
    package typealias Reading = (_ offset: UInt64, _ count: Int) throws -> [UInt8]

    package init(slices: @escaping (ListedSlices) throws -> [Slice]?, contains: @escaping (ChunkID) throws -> Bool) {
        self.slices = slices
        self.contains = contains
    }

    private static let stepBytes = 1 << 20

    /// Whether the bytes that `read` returns are those of `known`.
    ///
    /// - Parameter other: the content that results from cutting the bytes that `read` returns.
    package func areSame(_ known: Content, _ other: Content, read: Reading) throws -> Bool {
        if known == other { return true }
        guard known.size == other.size, known.size > 0 else { return false }
        if case .inline(let bytes) = known { return try read(0, bytes.count) == bytes }
        var left = SliceWalk(known, slices: slices)
        var right = SliceWalk(other, slices: slices)
        var offset: UInt64 = 0
        while let slice = try left.next() {
            let counterpart = try right.next()
            if let counterpart, slice.length == counterpart.length {
                if slice == counterpart {
                    offset += slice.length
                    continue
                }
                if slice.chunk != nil, counterpart.chunk != nil { return false }
            }
            // From here on, the two are cut in different ways, or one of them has a hole.
            guard try isThere(slice, at: offset, read) else { return false }
            offset += slice.length
            while let slice = try left.next() {
                guard try isThere(slice, at: offset, read) else { return false }
                offset += slice.length
            }
        }
        return left.isWhole && offset == known.size
    }

    private func isThere(_ slice: Slice, at offset: UInt64, _ read: Reading) throws -> Bool {
        guard let chunk = slice.chunk else { return try isZero(offset, slice.length, read) }
        guard slice.length <= UInt64(BlockHeader.rawLengthLimit), try contains(chunk) else { return false }
        let bytes = try read(offset, Int(slice.length))
        return bytes.count == Int(slice.length) && ChunkID(hashing: bytes) == chunk
    }

    private func isZero(_ offset: UInt64, _ length: UInt64, _ read: Reading) throws -> Bool {
        var position: UInt64 = 0
        while position < length {
            let bytes = try read(offset + position, Int(min(length - position, UInt64(EqualBytes.stepBytes))))
            guard !bytes.isEmpty, bytes.allSatisfy({ $0 == 0 }) else { return false }
            position += UInt64(bytes.count)
        }
        return true
    }
}

/// A content's slices in order; inline bytes are one slice.
private struct SliceWalk {
    private let slices: (ListedSlices) throws -> [Slice]?
    private var ready: ArraySlice<Slice> = []
    private var lists: ArraySlice<ListedSlices> = []
    /// Whether every list so far could be read.
    private(set) var isWhole = true

    init(_ content: Content, slices: @escaping (ListedSlices) throws -> [Slice]?) {
        self.slices = slices
        switch content {
        case .none, .linkTarget: break
        case .inline(let bytes): ready = [Slice(length: UInt64(bytes.count), chunk: ChunkID(hashing: bytes))]
        case .slices(let own): ready = own[...]
        case .sliceLists(let all): lists = all[...]
        }
    }

    mutating func next() throws -> Slice? {
        while ready.isEmpty, isWhole, let list = lists.popFirst() {
            guard let found = try slices(list) else {
                isWhole = false
                return nil
            }
            ready = found[...]
        }
        return ready.popFirst()
    }
}
