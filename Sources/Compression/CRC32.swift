// CRC-32: finds damage in headers and tables that no SHA-256 covers.

internal import CZlib

/// The CRC-32 of `bytes` (ISO 3309, the one of zip and PNG).
///
/// - Parameter continuing: the CRC of what came before `bytes`, where they are one part of a longer run.
package func crc32(_ bytes: UnsafeRawBufferPointer, continuing: UInt32 = 0) -> UInt32 {
    guard let start = bytes.baseAddress else { return continuing }
    return UInt32(truncatingIfNeeded: crc32_z(UInt(continuing), start.assumingMemoryBound(to: Bytef.self), bytes.count))
}
