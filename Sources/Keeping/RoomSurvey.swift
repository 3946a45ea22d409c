// How many bytes become free as snapshots go one after another.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO

/// The bytes that become free with each of several groups of records, if they go in their order.
///
/// A block is freed with the last group that needs it. Groups are visited from the last to the first, so that each node
/// is read once. A block with bases also needs the block at the lower end of each chain: without it, it would be
/// rewritten with that content.
struct RoomSurvey {
    /// The records that go together.
    enum Group {
        case forgotten([ChunkID])
        case snapshots([SnapshotID])
    }

    /// The bytes that become free with each group; the first number is what nothing needs now.
    private(set) var freedBytes: [UInt64]
    /// The files with the most bytes among what always stays, the largest first.
    private(set) var largest: [(path: RelativePath, versions: Int, snapshot: SnapshotID, bytes: UInt64)] = []

    private let store: ArchiveStore
    /// For each needed chunk, the position in `freedBytes` of the group that it goes with.
    private var positions: [UInt64: Int32] = [:]
    private var blocks: [Int64: Block] = [:]
    /// Where the bases of deltas are, by the beginnings of their ids.
    private var bases: [UInt64: Int64] = [:]

    private struct Block {
        let length: Int
        let bases: [ChunkPrefix]
        var position: Int32
    }

    private struct File {
        var path: RelativePath
        var snapshot: SnapshotID
        var chunks: [ChunkID]
        var versions = 1
        var length: UInt64
    }

    /// The position of what always stays.
    private static let always = Int32.max
    private static let largestLimit = 3

    /// - Parameters:
    ///   - always: the snapshots that stay; all saved states stay, too.
    ///   - groups: the others, in the order in which they go.
    init(_ store: ArchiveStore, always: [SnapshotID], groups: [Group], _ mark: consuming LiveMark) throws {
        self.store = store
        freedBytes = [UInt64](repeating: 0, count: groups.count + 1)
        var files: [File] = []
        var positions: [UInt64: Int32] = [:]
        for id in always {
            let onEntry = { (entry: Entry, chunks: [ChunkID]) in
                guard entry.kind == .file, !chunks.isEmpty else { return }
                let length = entry.size
                // The newest snapshot is named; all kept versions count.
                if let index = files.firstIndex(where: { $0.path == entry.path }) {
                    files[index].chunks += chunks
                    files[index].versions += 1
                    return
                }
                guard files.count < RoomSurvey.largestLimit || length > files.last?.length ?? 0 else { return }
                files.append(File(path: entry.path, snapshot: id, chunks: chunks, length: length))
                files.sort { $0.length > $1.length }
                files.removeLast(max(0, files.count - RoomSurvey.largestLimit))
            }
            try mark.visit(snapshot: id, onEntry: onEntry) { positions[$0.prefix] = RoomSurvey.always }
        }
        try mark.visitStates { positions[$0.prefix] = RoomSurvey.always }
        for (index, group) in groups.enumerated().reversed() {
            let add = { (id: ChunkID) in
                if positions[id.prefix] == nil { positions[id.prefix] = Int32(index + 1) }
            }
            switch group {
            case .snapshots(let ids): for id in ids { try mark.visit(snapshot: id, add) }
            case .forgotten(let ids): for id in ids { try mark.visitIfReadable(forgotten: id, add) }
            }
        }
        self.positions = positions
        try readBlocks()
        try placeChunks()
        keepRoots()
        for block in blocks.values where block.position < RoomSurvey.always {
            freedBytes[Int(block.position)] += UInt64(max(0, block.length))
        }
        for file in files {
            var counted: Set<Int64> = []
            var bytes: UInt64 = 0
            for place in try file.chunks.flatMap({ try places(of: $0) }) where counted.insert(place).inserted {
                bytes += UInt64(max(0, blocks[place]?.length ?? 0))
            }
            largest.append((file.path, file.versions, file.snapshot, bytes))
        }
        largest.sort { $0.bytes > $1.bytes }
    }

    private mutating func readBlocks() throws {
        var (blocks, bases): ([Int64: Block], [UInt64: Int64]) = ([:], [:])
        let away = try store.catalogue.awaySegments()
        try store.catalogue.forEachBlock { location, block in
            blocks[location.packed] = Block(
                length: away.contains(location.segment) ? 0 : block.length, bases: block.bases,
                position: block.isLasting ? RoomSurvey.always : 0)
            for base in block.bases { bases[base.first] = -1 }
        }
        (self.blocks, self.bases) = (blocks, bases)
    }

    /// Gives each block the position of the last chunk in it.
    private mutating func placeChunks() throws {
        var (blocks, bases) = (blocks, bases)
        var (last, newest): (ChunkID?, Int64) = (nil, 0)
        try store.catalogue.forEachChunk { id, location in
            let position = positions[id.prefix] ?? 0
            if id != last {
                (last, newest) = (id, location.packed)
                if bases[id.prefix] != nil { bases[id.prefix] = newest }
            } else if blocks[newest]?.bases.isEmpty ?? true {
                // Reads use the newest copy; another one is needed only if that has bases.
                return true
            }
            if let known = blocks[location.packed]?.position, known < position {
                blocks[location.packed]?.position = position
            }
            return true
        }
        (self.blocks, self.bases) = (blocks, bases)
    }

    /// Keeps the lower ends of the chains that needed blocks depend on.
    private mutating func keepRoots() {
        for (place, block) in blocks where block.position > 0 && !block.bases.isEmpty {
            for root in roots(below: place) where root != place {
                if let known = blocks[root]?.position, known < block.position {
                    blocks[root]?.position = block.position
                }
            }
        }
    }

    /// The blocks without bases that the block at `place` depends on; the block itself if it has no bases.
    private func roots(below place: Int64) -> [Int64] {
        var (waiting, seen, roots): ([Int64], Set<Int64>, [Int64]) = ([place], [], [])
        while let next = waiting.popLast() {
            guard seen.insert(next).inserted, let block = blocks[next] else { continue }
            if block.bases.isEmpty { roots.append(next) }
            waiting += block.bases.compactMap { bases[$0.first] }
        }
        return roots
    }

    private func places(of id: ChunkID) throws -> [Int64] {
        guard let place = try store.catalogue.location(of: id)?.packed else { return [] }
        return Set([place] + roots(below: place)).sorted()
    }

    // MARK: Keeping more

    private struct TooMuch: Error {}

    /// Keeps a snapshot that would go, if that costs at most `limit` bytes.
    ///
    /// - Parameter position: everything up to this position goes, except the snapshots kept before.
    /// - Returns: the bytes that stay for it; nil if they are more than `limit`.
    mutating func keep(_ id: SnapshotID, upTo position: Int, limit: UInt64) throws -> UInt64? {
        var chunks: [ChunkID] = []
        var places: Set<Int64> = []
        var bytes: UInt64 = 0
        let going = Int32(position)
        var mark = LiveMark(store)
        mark.isKnown = { [positions] in positions[$0.prefix] ?? 0 > going }
        do {
            try mark.visit(snapshot: id) { chunk in
                if positions[chunk.prefix] ?? 0 > going { return }
                chunks.append(chunk)
                for place in try self.places(of: chunk) where places.insert(place).inserted {
                    guard let block = blocks[place], block.position <= going else { continue }
                    bytes += UInt64(max(0, block.length))
                }
                if bytes > limit { throw TooMuch() }
            }
        } catch is TooMuch {
            return nil
        }
        for chunk in chunks { positions[chunk.prefix] = RoomSurvey.always }
        for place in places { blocks[place]?.position = RoomSurvey.always }
        return bytes
    }
}
