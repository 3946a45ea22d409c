// Limits the work of one read: blocks depend on others, so a small forged archive could make a read endless.

internal import ArchiveFormat

/// The blocks that one read has unpacked, and those that it is unpacking.
struct UnpackingWork {
    /// Nested blocks that are being unpacked.
    private var steps = 0
    /// Raw bytes of all blocks so far.
    private var bytes = 0
    /// Raw bytes of the nested blocks that are being unpacked.
    private var heldBytes = 0

    /// More than the format's depth limit: if two writers stored a base at the same time, the copy that is found may be
    /// deeper than the one that the depth was computed from.
    static let stepsLimit = 4 * BlockHeader.depthLimit
    /// The bytes of a chain of the largest blocks; writers make smaller ones.
    private static let bytesLimit = BlockHeader.depthLimit * BlockHeader.rawLengthLimit
    private static let heldBytesLimit = 128 << 20

    /// Begins to unpack a block.
    ///
    /// - Returns: whether the limits allow it.
    mutating func begin(_ header: BlockHeader) -> Bool {
        steps += 1
        bytes += header.rawLength
        heldBytes += header.rawLength
        return steps <= UnpackingWork.stepsLimit + 1 && bytes <= UnpackingWork.bytesLimit
            && heldBytes <= UnpackingWork.heldBytesLimit
    }

    /// Ends the unpacking of a block.
    mutating func end(_ header: BlockHeader) {
        steps -= 1
        heldBytes -= header.rawLength
    }
}
