// Compresses with zlib: raw DEFLATE (RFC 1951), optionally with a preset dictionary.

internal import CZlib

/// Compresses separate runs of bytes and reuses zlib's state between them.
package struct Deflater: ~Copyable {
    // zlib's state points back to its z_stream, so the z_stream must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private var scratch = ScratchBuffer()
    #if Libdeflate
    private let whole: WholeDeflater
    #endif

    /// Creates a compressor.
    ///
    /// - Parameter level: 1 (fastest) … 9 (smallest), as in zlib.
    /// - Throws: `CompressionError.outOfMemory`.
    package init(level: Int) throws(CompressionError) {
        precondition((1...9).contains(level))
        #if Libdeflate
        let whole = try WholeDeflater(level: level)
        #endif
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let largestMemoryLevel: CInt = 9
        let status = deflateInit2_(
            stream, CInt(level), Z_DEFLATED, rawWindowBits, largestMemoryLevel, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            CInt(MemoryLayout<z_stream>.size))
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
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Compresses `input`, and appends the result to `output` if it is smaller than `input`.
    ///
    /// - Parameters:
    ///   - dictionary: bytes that resemble `input`; decompressing needs them too. Only the last 32 KiB are used.
    ///   - output: unchanged if the result is not smaller.
    /// - Returns: whether the result was appended.
    /// - Throws: `CompressionError.tooLarge`.
    package mutating func deflate(
        _ input: UnsafeRawBufferPointer, dictionary: UnsafeRawBufferPointer? = nil, into output: inout [UInt8]
    ) throws(CompressionError) -> Bool {
        guard let inputLength = UInt32(exactly: input.count) else { throw .tooLarge(byteCount: input.count) }
        // No stream is shorter than two bytes. One byte less than the input is enough room: longer results are useless.
        guard inputLength > 2 else { return false }
        let room = scratch.reserve(input.count - 1)
        #if Libdeflate
        if dictionary?.isEmpty ?? true {
            let length = whole.deflate(input, into: UnsafeMutableBufferPointer(start: room, count: input.count - 1))
            output.append(contentsOf: UnsafeBufferPointer(start: room, count: length))
            return length > 0
        }
        #endif
        deflateReset(stream)
        if let dictionary = dictionary?.zlibDictionary {
            deflateSetDictionary(stream, dictionary.bytes, dictionary.length)
        }
        stream.pointee.next_in = input.zlibBytes
        stream.pointee.avail_in = inputLength
        stream.pointee.next_out = room
        stream.pointee.avail_out = inputLength - 1
        let status = CZlib.deflate(stream, Z_FINISH)
        defer { stream.forgetBuffers() }
        guard status == Z_STREAM_END else { return false }
        let length = Int(inputLength - 1 - stream.pointee.avail_out)
        output.append(contentsOf: UnsafeBufferPointer(start: room, count: length))
        return true
    }
}

/// Memory for one result, reused and grown as needed.
private struct ScratchBuffer: ~Copyable {
    private var memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 0)

    deinit { memory.deallocate() }

    /// Returns at least `count` bytes (more than 0) of uninitialised memory, valid until the next call.
    mutating func reserve(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        if memory.count < count {
            memory.deallocate()
            memory = .allocate(capacity: count)
        }
        guard let start = memory.baseAddress else { preconditionFailure("allocated memory without address") }
        return start
    }
}

// Only this value reaches the z_stream and its memory, and it has one owner at a time.
extension Deflater: @unchecked Sendable {}
