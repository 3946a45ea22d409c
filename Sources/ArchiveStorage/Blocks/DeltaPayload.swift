// The payload of a delta block: the length of the delta, and the delta, compressed if that helps.

internal import Compression
internal import FileIO

/// The layout and limits of a delta block's payload.
enum DeltaPayload {
    /// How many bytes a delta may be longer than the raw payload: it may have to insert all of it.
    static let excessLimit = 16

    /// The size of the DEFLATE dictionary: the last bytes of the joined bases, as many as DEFLATE's window holds.
    ///
    /// What a delta inserts is often similar to the bases.
    static let dictionaryByteCount = 32_768

    /// The dictionary for these bases.
    static func dictionary(_ bases: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bases.suffix(dictionaryByteCount))
    }

    /// The first bytes of a payload with a delta of `count` bytes.
    static func length(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        LEB128.append(count, to: &bytes)
        return bytes
    }

    /// Unpacks a payload.
    ///
    /// - Parameters:
    ///   - bases: the bytes of the block's bases, joined.
    ///   - rawLength: the length of the result in bytes.
    static func unpack(
        _ payload: UnsafeRawBufferPointer, bases: UnsafeRawBufferPointer, rawLength: Int
    ) throws(CompressionError) -> [UInt8] {
        guard let (length, start) = LEB128.number(in: payload, at: 0) else { throw .corrupt }
        // So a damaged length cannot make the reader allocate more memory than the block needs.
        guard length <= rawLength + excessLimit else { throw .tooLarge(byteCount: length) }
        let packed = UnsafeRawBufferPointer(rebasing: payload[start...])
        if packed.count == length { return try Delta.apply(packed, to: bases, expecting: rawLength) }
        var inflater = try Inflater()
        let delta = try inflater.inflate(packed, dictionary: dictionary(bases), expecting: length)
        return try delta.withRawBytes { delta throws(CompressionError) in
            try Delta.apply(delta, to: bases, expecting: rawLength)
        }
    }
}
