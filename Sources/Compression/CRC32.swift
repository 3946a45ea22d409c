// CRC-32, which detects damage in headers and payloads before anything is unpacked.

#if Libdeflate
internal import CLibdeflate
#else
internal import CZlib
#endif

/// The CRC-32 of `bytes` (ISO 3309, as in zip and PNG).
///
/// - Parameter continuing: the CRC of the preceding bytes, if `bytes` continue a longer run.
package func crc32(_ bytes: UnsafeRawBufferPointer, continuing: UInt32 = 0) -> UInt32 {
    guard let start = bytes.baseAddress else { return continuing }
    #if Libdeflate
    return libdeflate_crc32(continuing, start, bytes.count)
    #else
    return UInt32(truncatingIfNeeded: crc32_z(UInt(continuing), start.assumingMemoryBound(to: Bytef.self), bytes.count))
    #endif
}
