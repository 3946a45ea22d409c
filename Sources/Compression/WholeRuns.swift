// Runs of bytes without a dictionary, compressed and decompressed whole by libdeflate where the package is built with
// it (the trait `Libdeflate`): the same DEFLATE, in half the time. Without it there is nothing here, and zlib does all.

#if Libdeflate

internal import CLibdeflate

/// Compresses whole runs.
final class WholeDeflater {
    private let compressor: OpaquePointer

    /// - Parameter level: zlib's effort, 1 to 9.
    init(level: Int) throws(CompressionError) {
        // libdeflate's first level leaves less than zlib's third does; from there on both count alike.
        guard let compressor = libdeflate_alloc_compressor(CInt(level <= 3 ? 1 : level)) else { throw .outOfMemory }
        self.compressor = compressor
    }

    deinit { libdeflate_free_compressor(compressor) }

    /// Compresses `input` into `room`.
    ///
    /// - Returns: bytes written; 0 where the result does not fit.
    func deflate(_ input: UnsafeRawBufferPointer, into room: UnsafeMutableBufferPointer<UInt8>) -> Int {
        libdeflate_deflate_compress(compressor, input.baseAddress, input.count, room.baseAddress, room.count)
    }
}

/// Decompresses whole runs.
final class WholeInflater {
    private let decompressor: OpaquePointer

    init() throws(CompressionError) {
        guard let decompressor = libdeflate_alloc_decompressor() else { throw .outOfMemory }
        self.decompressor = decompressor
    }

    deinit { libdeflate_free_decompressor(decompressor) }

    /// Decompresses `input`, which must hold exactly `rawLength` bytes.
    ///
    /// - Returns: nil where it does not; zlib says why.
    func inflate(_ input: UnsafeRawBufferPointer, expecting rawLength: Int) -> [UInt8]? {
        var isWhole = false
        let output = [UInt8](unsafeUninitializedCapacity: rawLength) { room, count in
            var read = 0
            var written = 0
            let result = libdeflate_deflate_decompress_ex(
                decompressor, input.baseAddress, input.count, room.baseAddress, rawLength, &read, &written)
            isWhole = result == LIBDEFLATE_SUCCESS && read == input.count && written == rawLength
            count = isWhole ? rawLength : 0
        }
        return isWhole ? output : nil
    }
}

#endif
