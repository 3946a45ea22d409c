// The payload of a block that stands on bases: the length of a delta, and the delta, compressed where that helps.

internal import Compression
internal import FileIO

/// Parts and rules of the payload of a delta block.
enum DeltaPayload {
    /// How much longer than the raw payload a delta may be: it may well insert all of it.
    static let excessLimit = 16

    /// The last bytes of the bases joined that DEFLATE's window takes, which the delta is compressed with: what it
    /// inserts is much like what is there.
    static let dictionaryByteCount = 32_768

    /// The dictionary that `bases` make.
    static func dictionary(_ bases: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bases.suffix(dictionaryByteCount))
    }

    /// How a payload with a delta of `count` bytes begins.
    static func length(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        LEB128.append(count, to: &bytes)
        return bytes
    }

    /// The raw payload.
    ///
    /// - Parameters:
    ///   - bases: the bytes of the block's bases, joined.
    ///   - rawLength: the length of the result in bytes.
    static func unpack(
        _ payload: UnsafeRawBufferPointer, bases: UnsafeRawBufferPointer, rawLength: Int
    ) throws(CompressionError) -> [UInt8] {
        guard let (length, start) = LEB128.number(in: payload, at: 0) else { throw .corrupt }
        // So damage cannot ask for more memory than the block itself takes.
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
