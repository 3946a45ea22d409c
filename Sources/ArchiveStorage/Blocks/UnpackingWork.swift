// How much one read may unpack: blocks stand on others, and what is small on disk could else be made endless to read.

internal import ArchiveFormat

/// The blocks that one read has unpacked, and those that it is in the midst of.
struct UnpackingWork {
    /// Blocks that are being unpacked one for another.
    private var steps = 0
    /// Raw bytes of all blocks so far.
    private var bytes = 0
    /// Raw bytes of the blocks that are being unpacked one for another.
    private var heldBytes = 0

    /// More than the format's depth: where two writers stored a base at the same time, the copy that is found may stand
    /// on more blocks than the one that the depth was counted from.
    static let stepsLimit = 4 * BlockHeader.depthLimit
    /// A chain of the greatest blocks; writers make smaller ones.
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

    /// Ends what `begin` began.
    mutating func end(_ header: BlockHeader) {
        steps -= 1
        heldBytes -= header.rawLength
    }
}
