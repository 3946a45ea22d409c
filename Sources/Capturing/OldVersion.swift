// Finds the chunks of a file's previous version that a new chunk most resembles.

internal import ArchiveFormat

/// Follows a file's old version in parallel with the new one.
///
/// A chunk that both versions have determines the position in the old version. A run of new chunks after it corresponds
/// to as many bytes of the old version. So a page that was changed in place finds the chunk that it was in. An
/// insertion ends within the old chunk that it was inserted into, so that chunk is a base of the run too. For a large
/// file, only some lists of slices are in memory at a time.
struct OldVersion {
    private struct Piece {
        let range: Range<UInt64>
        /// The piece's chunk; nil for a hole.
        let chunk: ChunkID?
        /// The index of the piece's list.
        let list: Int
    }

    private let lists: [ListedSlices]
    private let slices: (ListedSlices) throws -> [Slice]?
    /// The pieces of the lists in `loaded`, in order.
    private var pieces: [Piece] = []
    private var loaded = 0..<0
    /// The offset at which each chunk begins; its first one if it occurs several times.
    private var starts: [ChunkID: UInt64] = [:]
    /// The probable offset in the old version of the new version's next bytes.
    private var position: UInt64 = 0
    private var end: UInt64 = 0
    /// The offset in the old version at which the last common chunk ends.
    private var common: UInt64 = 0
    /// The lists that bases came from since the last call of `takeLists`.
    private var touched: Range<Int>?

    /// How many lists stay in memory; each covers about 64 MiB of the file.
    private static let listsLimit = 4
    /// More bases seldom help, and each has to be unpacked first.
    private static let basesLimit = 4
    /// The longest run of new chunks, in bytes, that may be an insertion; a longer one is probably a change.
    private static let insertionLimit: UInt64 = 4 << 20

    /// - Parameters:
    ///   - content: the previous content at the path; nil if there was none.
    ///   - slices: returns the slices in a list, or nil if the list cannot be read.
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

    /// Returns the old chunks that the next `length` bytes probably correspond to, in order.
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
        // Appended bytes are most similar to the file's end.
        if found.isEmpty, let last = pieces.last, range.lowerBound >= end, let chunk = last.chunk {
            touch(last.list)
            found = [chunk]
        }
        return Array(found.prefix(OldVersion.basesLimit))
    }

    /// Records that the new version continues with `chunk`, of `length` bytes.
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

    /// Records that the new version continues with a hole of `length` bytes.
    mutating func passHole(_ length: UInt64) { position += length }

    /// Returns the old lists that the chunks since the last call most resemble, in order.
    mutating func takeLists() -> [ChunkID] {
        defer { touched = nil }
        guard let touched else { return [] }
        return lists[touched.clamped(to: lists.indices)].suffix(OldVersion.basesLimit).map(\.list)
    }

    // MARK: Lists

    /// Loads the next list.
    ///
    /// - Returns: false if there is none or it cannot be read.
    private mutating func loadNext() throws -> Bool {
        guard loaded.upperBound < lists.count else { return false }
        let list = loaded.upperBound
        loaded = loaded.lowerBound..<(list + 1)
        // Without its lengths, the offsets of later lists are unknown.
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

    /// The index of the first piece that ends after `offset`.
    private func firstPiece(endingBehind offset: UInt64) -> Int {
        var (low, high) = (0, pieces.count)
        while low < high {
            let middle = (low + high) / 2
            if pieces[middle].range.upperBound > offset { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
