// How much of each segment is needed.

internal import ArchiveFormat

/// How much live data the segments hold, according to the catalogue.
struct SegmentSurvey {
    /// The blocks of one segment.
    struct Tally {
        /// Bytes of all blocks.
        var bytes = 0
        /// Bytes of the needed blocks.
        var neededBytes = 0
        /// Bytes of the needed blocks that have dead bases.
        var dependentBytes = 0

        var freeBytes: Int { bytes - neededBytes }
    }

    /// A block with dead bases.
    struct Dependent {
        let location: BlockLocation
        let bases: [ChunkPrefix]
    }

    /// By segment number.
    private var tallies: [Int64: Tally] = [:]
    /// All blocks with dead bases, needed or not.
    private(set) var dependents: [Dependent] = []
    /// The packed locations of the copies of live chunks that reads use; sorted and unique.
    private let needed: [Int64]

    /// - Parameter live: the chunks that stay.
    init(_ catalogue: Catalogue, live: ChunkSet) throws(StorageError) {
        needed = try SegmentSurvey.copies(of: live, catalogue)
        var index = 0
        let needed = needed
        var (tallies, dependents): ([Int64: Tally], [Dependent]) = ([:], [])
        try catalogue.forEachBlock { location, block in
            while index < needed.count, needed[index] < location.packed { index += 1 }
            let isNeeded = block.isLasting || (index < needed.count && needed[index] == location.packed)
            tallies[location.segment, default: Tally()].bytes += block.length
            if isNeeded { tallies[location.segment, default: Tally()].neededBytes += block.length }
            let dead = block.bases.filter { !live.contains($0) }
            if dead.isEmpty { return }
            dependents.append(Dependent(location: location, bases: dead))
            if isNeeded { tallies[location.segment, default: Tally()].dependentBytes += block.length }
        }
        (self.tallies, self.dependents) = (tallies, dependents)
    }

    /// How much of a segment is needed.
    func tally(of segment: Int64) -> Tally { tallies[segment] ?? Tally() }

    /// Whether reads of live chunks use the block at `location`.
    func isNeeded(_ location: BlockLocation) -> Bool {
        let wanted = location.packed
        var (low, high) = (0, needed.count)
        while low < high {
            let middle = (low + high) / 2
            if needed[middle] < wanted { low = middle + 1 } else { high = middle }
        }
        return low < needed.count && needed[low] == wanted
    }

    /// The locations of the newest copies of live chunks; of all copies if the newest one has bases.
    ///
    /// A chunk that was stored again may depend on a chunk that depends on the older copy, which is then needed, too.
    private static func copies(of live: ChunkSet, _ catalogue: Catalogue) throws(StorageError) -> [Int64] {
        var places: [Int64] = []
        places.reserveCapacity(live.count)
        var (last, newest): (ChunkID?, BlockLocation?) = (nil, nil)
        var further: [(newest: BlockLocation, copy: BlockLocation)] = []
        try catalogue.forEachChunk { id, location in
            guard id == last else {
                last = id
                newest = live.contains(id) ? location : nil
                if newest != nil { places.append(location.packed) }
                return true
            }
            if let newest { further.append((newest, location)) }
            return true
        }
        for (newest, copy) in further {
            if try catalogue.block(at: newest)?.bases.isEmpty ?? true { continue }
            places.append(copy.packed)
        }
        places.sort()
        var distinct = places.startIndex
        for place in places where distinct == 0 || places[distinct - 1] != place {
            places[distinct] = place
            distinct += 1
        }
        places.removeSubrange(distinct...)
        return places
    }
}
