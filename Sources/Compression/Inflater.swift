// Decompresses with zlib, never into more memory than the caller expects.

internal import CZlib

/// Decompresses separate runs of raw DEFLATE (RFC 1951) and reuses zlib's state between them.
package struct Inflater: ~Copyable {
    // zlib's state points back to its z_stream, so the z_stream must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    #if Libdeflate
    private let whole: WholeInflater
    #endif

    /// Creates a decompressor.
    ///
    /// - Throws: `CompressionError.outOfMemory`.
    package init() throws(CompressionError) {
        #if Libdeflate
        let whole = try WholeInflater()
        #endif
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = inflateInit2_(stream, rawWindowBits, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size))
        guard status == Z_OK else {
            stream.deallocate()
            throw .outOfMemory
        }
        self.stream = stream
        #if Libdeflate
        self.whole = whole
        #endif
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Decompresses `input`, which must hold exactly `rawLength` bytes.
    ///
    /// At most `rawLength` + 1 bytes are written, however many bytes `input` would decompress to.
    ///
    /// - Parameters:
    ///   - dictionary: the dictionary that was used for compressing.
    ///   - rawLength: the length of the result in bytes.
    /// - Throws: `CompressionError` if `input` is damaged, cut off or followed by other bytes, or has another length.
    package mutating func inflate(
        _ input: UnsafeRawBufferPointer, dictionary: UnsafeRawBufferPointer? = nil, expecting rawLength: Int
    ) throws(CompressionError) -> [UInt8] {
        guard let inputLength = UInt32(exactly: input.count) else { throw .tooLarge(byteCount: input.count) }
        guard rawLength >= 0, rawLength < UInt32.max else { throw .tooLarge(byteCount: rawLength) }
        let roomLength = UInt32(rawLength) + 1
        if input.isEmpty { throw .truncated }
        #if Libdeflate
        // If this fails, zlib tries again and reports the reason.
        if dictionary?.isEmpty ?? true, let output = whole.inflate(input, expecting: rawLength) { return output }
        #endif
        inflateReset(stream)
        if let dictionary = dictionary?.zlibDictionary {
            guard inflateSetDictionary(stream, dictionary.bytes, dictionary.length) == Z_OK else { throw .outOfMemory }
        }
        stream.pointee.next_in = input.zlibBytes
        stream.pointee.avail_in = inputLength
        stream.pointee.avail_out = roomLength
        var status = Z_OK
        // The extra byte distinguishes a stream that is too long from one with the expected length.
        let output = [UInt8](unsafeUninitializedCapacity: rawLength + 1) { room, count in
            stream.pointee.next_out = room.baseAddress
            status = CZlib.inflate(stream, Z_FINISH)
            count = min(Int(roomLength - stream.pointee.avail_out), rawLength)
        }
        defer { stream.forgetBuffers() }
        if stream.pointee.avail_out == 0 { throw .tooLong(expected: rawLength) }
        switch status {
        case Z_STREAM_END: break
        case Z_OK, Z_BUF_ERROR: throw .truncated
        case Z_MEM_ERROR: throw .outOfMemory
        default: throw .corrupt
        }
        if output.count < rawLength { throw .tooShort(expected: rawLength, found: output.count) }
        if stream.pointee.avail_in > 0 { throw .trailingBytes(Int(stream.pointee.avail_in)) }
        return output
    }
}

// Only this value reaches the z_stream and its memory, and it has one owner at a time.
extension Inflater: @unchecked Sendable {}
