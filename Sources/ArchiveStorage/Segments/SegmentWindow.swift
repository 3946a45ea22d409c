// Reads a segment from start to end: small blocks in few reads, large ones without their payloads.

internal import ArchiveFormat
internal import FileIO

/// The bytes of a segment around the last block that was read.
struct SegmentWindow {
    private let segment: Segment
    private var start = 0
    private var bytes: [UInt8] = []
    private var reach = SegmentWindow.leastReach

    private static let leastReach = 16 << 10
    private static let mostReach = 256 << 10

    init(_ segment: Segment) { self.segment = segment }

    /// Whether the segment has `magic` at `offset`.
    mutating func begins(with magic: [UInt8], at offset: Int) throws(StorageError) -> Bool {
        try fill(from: offset, count: magic.count)
        return bytes[(offset - start)...].starts(with: magic)
    }

    /// The header of the block at `offset`.
    ///
    /// - Parameter verifyingPayload: whether to check the payload too; otherwise a long payload is not read.
    mutating func blockHeader(at offset: Int, verifyingPayload: Bool) throws(StorageError) -> BlockHeader {
        try fill(from: offset, count: BlockHeader.prefixLength)
        let length = try decoding(at: offset) { bytes throws(FormatError) in
            try BlockHeader.headerLength(ofPrefix: bytes)
        }
        try fill(from: offset, count: length)
        let header = try decoding(at: offset) { bytes throws(FormatError) in
            if bytes.count < length { throw .truncated }
            return try BlockHeader(
                decoding: UnsafeRawBufferPointer(rebasing: bytes[..<length]), at: segment.place(offset))
        }
        guard verifyingPayload else { return header }
        try fill(from: offset, count: header.blockLength)
        try decoding(at: offset) { bytes throws(FormatError) in
            try header.verify(payload: UnsafeRawBufferPointer(rebasing: bytes.prefix(header.blockLength)[length...]))
        }
        return header
    }

    /// Fills the window with `count` bytes from `offset`, fewer only at the end of the file.
    private mutating func fill(from offset: Int, count: Int) throws(StorageError) {
        let end = start + bytes.count
        if offset >= start, offset + count <= end { return }
        // A read that continues in or just after the window is sequential, so it fetches more.
        reach = (start...end).contains(offset) ? min(2 * reach, SegmentWindow.mostReach) : SegmentWindow.leastReach
        bytes = try segment.read(at: offset, atMost: max(count, reach))
        start = offset
    }

    private func decoding<Value>(
        at offset: Int, _ body: (UnsafeRawBufferPointer) throws(FormatError) -> Value
    ) throws(StorageError) -> Value {
        try segment.decoding(at: offset) { () throws(FormatError) in
            try bytes.withRawBytes { bytes throws(FormatError) in
                try body(UnsafeRawBufferPointer(rebasing: bytes[(offset - start)...]))
            }
        }
    }
}
