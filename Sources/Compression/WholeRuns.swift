// Compresses and decompresses runs without a dictionary with libdeflate, in half the time that zlib takes. It needs the
// package trait `Libdeflate`; without it this file is empty and zlib does everything.

#if Libdeflate

internal import CLibdeflate

/// Compresses complete runs.
final class WholeDeflater {
    private let compressor: OpaquePointer

    /// - Parameter level: the level in zlib's scale, 1 to 9.
    init(level: Int) throws(CompressionError) {
        // libdeflate's level 1 compresses better than zlib's level 3; above that, both scales are alike.
        guard let compressor = libdeflate_alloc_compressor(CInt(level <= 3 ? 1 : level)) else { throw .outOfMemory }
        self.compressor = compressor
    }

    deinit { libdeflate_free_compressor(compressor) }

    /// Compresses `input` into `room`.
    ///
    /// - Returns: the number of bytes written; 0 if the result does not fit.
    func deflate(_ input: UnsafeRawBufferPointer, into room: UnsafeMutableBufferPointer<UInt8>) -> Int {
        libdeflate_deflate_compress(compressor, input.baseAddress, input.count, room.baseAddress, room.count)
    }
}

/// Decompresses complete runs.
final class WholeInflater {
    private let decompressor: OpaquePointer

    init() throws(CompressionError) {
        guard let decompressor = libdeflate_alloc_decompressor() else { throw .outOfMemory }
        self.decompressor = decompressor
    }

    deinit { libdeflate_free_decompressor(decompressor) }

    /// Decompresses `input`, which must hold exactly `rawLength` bytes.
    ///
    /// - Returns: nil if it does not; zlib then reports the reason.
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
