// Why bytes could not be compressed or brought back.

/// Compressing or decompressing failed.
package enum CompressionError: Error, Sendable, Hashable {
    /// zlib found no memory.
    case outOfMemory
    /// More bytes than zlib takes in one call (4 GiB).
    case tooLarge(byteCount: Int)
    /// The bytes are no DEFLATE stream, or one that needs another dictionary (raw DEFLATE cannot tell these apart).
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
        case .tooLarge(let count): "\(count) bytes are too many to compress at once"
        case .corrupt: "the compressed data is damaged"
        case .truncated: "the compressed data ends too early"
        case .tooLong(let expected): "the compressed data holds more than the expected \(expected) bytes"
        case .tooShort(let expected, let found):
            "the compressed data holds \(found) bytes where \(expected) were expected"
        case .trailingBytes(let count): "\(count) bytes follow the end of the compressed data"
        }
    }
}
