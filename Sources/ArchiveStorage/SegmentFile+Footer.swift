// What the footer of a sealed segment gives: its blocks without reading them, and a proof that it is whole.

package import ArchiveFormat
internal import FileIO

extension SegmentFile {
    private static let hashedStep = 1 << 20

    /// The blocks of a sealed segment, by its index alone; nil where it is not sealed.
    ///
    /// - Throws: `StorageError` where the index is damaged; the blocks may well be whole.
    package func index() throws(StorageError) -> [SegmentFooter.Block]? {
        guard let trailer = try SegmentScan.footer(of: self) else { return nil }
        let bytes = try read(at: trailer.indexOffset, count: trailer.indexLength)
        return try decoding(at: trailer.indexOffset) { () throws(FormatError) in
            try bytes.withRawBytes { bytes throws(FormatError) in
                try SegmentFooter.blocks(decodingIndex: bytes, trailer: trailer, segment: place(0).segment)
            }
        }
    }

    /// Whether every byte of a sealed segment is the one that was sealed; nil where it is not sealed.
    package func isAsSealed() throws(StorageError) -> Bool? {
        guard let trailer = try SegmentScan.footer(of: self) else { return nil }
        let end = trailer.indexOffset + trailer.indexLength + SegmentFooter.Trailer.hashedByteCount
        return try hash(upTo: end).finish() == trailer.segmentHash
    }

    /// The hash of the first `length` bytes, not finished yet.
    ///
    /// - Parameter pause: called now and then meanwhile.
    func hash(upTo length: Int, pause: () -> Void = {}) throws(StorageError) -> SegmentHash {
        var hash = SegmentHash()
        var offset = 0
        while offset < length {
            let bytes = try read(at: offset, count: min(SegmentFile.hashedStep, length - offset))
            hash.update(bytes)
            offset += bytes.count
            pause()
        }
        return hash
    }
}
