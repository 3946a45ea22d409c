// Which chunks of a file's version before a new chunk most resembles.

internal import ArchiveFormat

/// Goes through a file's old version beside the new one.
///
/// A chunk that both versions have tells where the old version's reading stands; behind it, as many bytes of the old
/// version belong to a run of new chunks as the run is long. So each page that was changed in place finds the chunk it
/// was in. What was inserted ends within the old chunk that it was inserted into: that one is a base of the run, too. Of a large file some lists of slices
/// are in memory at a time.
struct OldVersion {
    private struct Piece {
        let range: Range<UInt64>
        /// Nil for a hole.
        let chunk: ChunkID?
        /// The index of its list.
        let list: Int
    }

    private let lists: [ListedSlices]
    private let slices: (ListedSlices) throws -> [Slice]?
    /// The pieces of the lists in `loaded`, in order.
    private var pieces: [Piece] = []
    private var loaded = 0..<0
    /// Where chunks begin; of those that occur several times, the first place.
    private var starts: [ChunkID: UInt64] = [:]
    /// Where the new version's next bytes probably are in the old one.
    private var position: UInt64 = 0
    private var end: UInt64 = 0
    /// Where the last chunk that both versions have ends in the old one.
    private var common: UInt64 = 0
    /// Lists that pieces were taken from since somebody asked.
    private var touched: Range<Int>?

    /// More lists than this, of some 64 MiB of the file each, are not kept.
    private static let listsLimit = 4
    /// More bases seldom help, and each has to be unpacked first.
    private static let basesLimit = 4
    /// Longer runs of new chunks, in bytes, are rather changes than an insertion.
    private static let insertionLimit: UInt64 = 4 << 20

    /// - Parameters:
    ///   - content: what the path held before; nil for nothing.
    ///   - slices: gives the slices in a list, nil where it cannot be read.
    init(_ content: Content?, slices: @escaping (ListedSlices) throws -> [Slice]?) {
        self.slices = slices
        switch content {
        case .slices(let own):
            lists = []
            add(own, list: 0)
        case .sliceLists(let all): lists = all
        default: lists = []
        }
    }

    /// The chunks that lie where the next `length` bytes probably come from, in their order.
    mutating func bases(for length: Int) throws -> [ChunkID] {
        let range = position..<(position + UInt64(length))
        while end < range.upperBound, try loadNext() {}
        var found: [ChunkID] = []
        func add(_ piece: Piece) {
            touch(piece.list)
            if let chunk = piece.chunk { found.append(chunk) }
        }
        var index = firstPiece(endingBehind: range.lowerBound)
        let cut = firstPiece(endingBehind: common)
        if cut < index, range.lowerBound - common <= OldVersion.insertionLimit { add(pieces[cut]) }
        while index < pieces.count, pieces[index].range.lowerBound < range.upperBound {
            add(pieces[index])
            index += 1
        }
        // What was appended to a file is most like its end.
        if found.isEmpty, let last = pieces.last, range.lowerBound >= end, let chunk = last.chunk {
            touch(last.list)
            found = [chunk]
        }
        return Array(found.prefix(OldVersion.basesLimit))
    }

    /// Records that the new version goes on with `chunk`, of `length` bytes.
    mutating func pass(_ chunk: ChunkID, length: Int) {
        let expected = firstPiece(endingBehind: position)
        if expected < pieces.count, pieces[expected].chunk == chunk {
            position = pieces[expected].range.upperBound
        } else if let start = starts[chunk] {
            position = start + UInt64(length)
        } else {
            position += UInt64(length)
            return
        }
        common = position
    }

    /// Records that the new version goes on with a hole.
    mutating func passHole(_ length: UInt64) { position += length }

    /// The lists of the old version that what was passed since the last call most resembles, in order.
    mutating func takeLists() -> [ChunkID] {
        defer { touched = nil }
        guard let touched else { return [] }
        return lists[touched.clamped(to: lists.indices)].suffix(OldVersion.basesLimit).map(\.list)
    }

    // MARK: Lists

    /// - Returns: whether there was another list.
    private mutating func loadNext() throws -> Bool {
        guard loaded.upperBound < lists.count else { return false }
        let list = loaded.upperBound
        loaded = loaded.lowerBound..<(list + 1)
        // Without its lengths, nothing is known of what lies behind it.
        guard let slices = try slices(lists[list]) else {
            loaded = lists.count..<lists.count
            return false
        }
        add(slices, list: list)
        if loaded.count > OldVersion.listsLimit { dropFirst() }
        return true
    }

    private mutating func add(_ slices: [Slice], list: Int) {
        for slice in slices {
            let (upper, isOver) = end.addingReportingOverflow(slice.length)
            guard !isOver, upper <= UInt64(Int64.max) else { return }
            pieces.append(Piece(range: end..<upper, chunk: slice.chunk, list: list))
            if let chunk = slice.chunk, starts[chunk] == nil { starts[chunk] = end }
            end = upper
        }
    }

    private mutating func dropFirst() {
        let count = pieces.firstIndex { $0.list > loaded.lowerBound } ?? pieces.count
        for piece in pieces.prefix(count) {
            if let chunk = piece.chunk, starts[chunk] == piece.range.lowerBound { starts[chunk] = nil }
        }
        pieces.removeFirst(count)
        loaded = (loaded.lowerBound + 1)..<loaded.upperBound
    }

    private mutating func touch(_ list: Int) {
        touched = min(touched?.lowerBound ?? list, list)..<max(touched?.upperBound ?? 0, list + 1)
    }

    /// The index of the first piece that ends behind `offset`.
    private func firstPiece(endingBehind offset: UInt64) -> Int {
        var (low, high) = (0, pieces.count)
        while low < high {
            let middle = (low + high) / 2
            if pieces[middle].range.upperBound > offset { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
