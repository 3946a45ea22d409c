// Limits the work of one read: blocks depend on others, so a small forged archive could make a read endless.

internal import ArchiveFormat
internal import Threading

/// The blocks that one read has unpacked, and those that it is unpacking.
///
/// Each block is unpacked once, however often it is named as a base.
struct UnpackingWork {
    /// Nested blocks that are being unpacked.
    private var steps = 0
    /// Raw bytes of all blocks so far.
    private var bytes = 0
    /// The bases so far: the cache may be too small for all of them.
    private var unpacked: [BlockLocation: DecodedBlock] = [:]

    /// More than the format's depth limit: if two writers stored a base at the same time, the copy that is found may be
    /// deeper than the one that the depth was computed from.
    static let stepsLimit = 4 * BlockHeader.depthLimit
    /// The most raw bytes of a block and all blocks below it.
    static let bytesLimit = 128 << 20

    /// Begins to unpack a block.
    ///
    /// - Returns: whether the limits allow it.
    mutating func begin(_ header: BlockHeader) -> Bool {
        steps += 1
        bytes += header.rawLength
        return steps <= UnpackingWork.stepsLimit + 1 && bytes <= UnpackingWork.bytesLimit
    }

    /// Ends the unpacking of a block.
    mutating func end() { steps -= 1 }

    /// Keeps a block that is the base of another one, until the read ends.
    mutating func keep(_ block: DecodedBlock, at location: BlockLocation) {
        if steps > 1 { unpacked[location] = block }
    }

    /// A block that this read has unpacked.
    func block(at location: BlockLocation) -> DecodedBlock? { unpacked[location] }
}

/// Bounds the work of many reads: in a forged archive each of a hundred thousand small blocks can take the most work.
final class UnpackingBudget: Sendable {
    private let left = Locked<Int?>(nil)

    /// - Parameter bytes: the raw bytes that may be unpacked from now on; nil for any number.
    func limit(to bytes: Int?) { left.withLock { $0 = bytes } }

    func raise(by bytes: Int) {
        left.withLock { left in left = left.map { $0.addingReportingOverflow(bytes).overflow ? .max : $0 + bytes } }
    }

    /// Takes the bytes of a block that is about to be unpacked.
    ///
    /// - Returns: false if the budget is used up.
    func spend(_ bytes: Int) -> Bool {
        left.withLock { left in
            guard let known = left else { return true }
            guard known > 0 else { return false }
            // Less than nothing may be left, so that what the last block took too much is paid back before the next one.
            left = known - bytes
            return true
        }
    }
}

extension ArchiveStore {
    /// Reads may unpack this many bytes from now on, without what is cached, and then fail.
    ///
    /// - Parameter bytes: nil for any number.
    package func limitUnpacking(to bytes: Int?) { reader.budget.limit(to: bytes) }

    /// Reads may unpack more bytes.
    package func raiseUnpacking(by bytes: Int) { reader.budget.raise(by: bytes) }
}

/// How much must be unpacked to read a block.
package struct UnpackingCost: Sendable, Hashable {
    /// The blocks in its longest chain, with itself.
    var steps: Int
    /// Raw bytes of the block and of all blocks below it, each counted as often as it is named: never too few.
    var bytes: Int

    init(rawLength: Int, bases: [UnpackingCost]) {
        steps = 1 + (bases.map(\.steps).max() ?? 0)
        bytes = bases.reduce(rawLength) { $0.addingReportingOverflow($1.bytes).overflow ? .max : $0 + $1.bytes }
    }

    var isAllowed: Bool { steps <= UnpackingWork.stepsLimit + 1 && bytes <= UnpackingWork.bytesLimit }
}

extension ArchiveStore {
    /// Whether every reader can unpack a block of `rawLength` bytes with these bases: no writer makes another one.
    func mayDepend(rawLength: Int, on bases: [BaseChunk]) throws(StorageError) -> Bool {
        let costs = bases.compactMap(\.cost)
        if costs.count == bases.count, UnpackingCost(rawLength: rawLength, bases: costs).isAllowed { return true }
        var walk = BaseWalk(store: self, bytes: rawLength)
        for base in bases {
            guard let steps = try walk.steps(from: ChunkPrefix(base.id), left: UnpackingWork.stepsLimit),
                steps <= UnpackingWork.stepsLimit
            else { return false }
        }
        return true
    }
}

/// A walk over the headers of all blocks below one, each visited once.
private struct BaseWalk {
    let store: ArchiveStore
    var bytes: Int
    /// The blocks visited so far, with the lengths of their chains.
    private var known: [BlockLocation: Int] = [:]

    init(store: ArchiveStore, bytes: Int) {
        self.store = store
        self.bytes = bytes
    }

    /// The length of the chain from a chunk's block down; nil if it is too long, or if all blocks so far are too large.
    mutating func steps(from prefix: ChunkPrefix, left: Int) throws(StorageError) -> Int? {
        // A base that is not stored yet is in a block without bases, as far as this can tell.
        guard let (_, location) = try store.catalogue.chunk(beginning: prefix) else { return 1 }
        if let steps = known[location] { return steps }
        guard left > 0 else { return nil }
        let header = try store.reader.header(at: location)
        bytes += header.rawLength
        guard bytes <= UnpackingWork.bytesLimit else { return nil }
        var most = 0
        for base in header.bases {
            guard let steps = try steps(from: base, left: left - 1) else { return nil }
            most = max(most, steps)
        }
        known[location] = most + 1
        return most + 1
    }
}
