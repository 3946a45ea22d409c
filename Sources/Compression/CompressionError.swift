// The errors of compressing and decompressing.

/// An error in compressing or decompressing.
package enum CompressionError: Error, Sendable, Hashable {
    /// zlib could not allocate memory.
    case outOfMemory
    /// More bytes than zlib accepts in one call (4 GiB).
    case tooLarge(byteCount: Int)
    /// The bytes are not a DEFLATE stream, or they need another dictionary (raw DEFLATE cannot distinguish the two).
    case corrupt
    /// The stream ends too early.
    case truncated
    /// The stream holds more bytes than expected; the rest was not decompressed.
    case tooLong(expected: Int)
    /// The stream holds fewer bytes than expected.
    case tooShort(expected: Int, found: Int)
    /// Bytes follow the end of the stream.
    case trailingBytes(Int)
}

extension CompressionError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .outOfMemory: "not enough memory for zlib"
        case .tooLarge(let count): "\(count) bytes are too many for one call of zlib"
        case .corrupt: "the compressed data is damaged"
        case .truncated: "the compressed data ends too early"
        case .tooLong(let expected): "the compressed data holds more than the expected \(expected) bytes"
        case .tooShort(let expected, let found):
            "the compressed data holds \(found) bytes instead of the expected \(expected)"
        case .trailingBytes(let count): "\(count) bytes follow the end of the compressed data"
        }
    }
}
