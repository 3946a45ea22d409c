// A part of a local segment as the content of an object.

internal import ArchiveFormat
package import ArchiveStorage
internal import Crypto
package import ObjectStore

/// The bytes of a segment in a range that never changes: behind a durable commit.
package struct SegmentRange: ObjectSource {
    private let segment: Segment
    package let range: Range<Int>

    package init(_ segment: Segment, _ range: Range<Int>) {
        self.segment = segment
        self.range = range
    }

    package var length: UInt64 { UInt64(range.count) }

    package func read(_ part: Range<UInt64>) throws -> [UInt8] {
        let start = range.lowerBound + Int(part.lowerBound)
        return try segment.read(at: start, count: part.count)
    }

    private static let pieceBytes = 1 << 20

    /// The SHA-256 of the bytes.
    ///
    /// - Parameter isCancelled: polled between pieces.
    package func sha256(_ isCancelled: () -> Bool = { false }) throws -> [UInt8] {
        var hash = SHA256()
        var position = range.lowerBound
        while position < range.upperBound {
            if isCancelled() { throw StorageError.cancelled(segment.path) }
            let bytes = try segment.read(
                at: position, count: min(SegmentRange.pieceBytes, range.upperBound - position))
            hash.update(data: bytes)
            position += bytes.count
        }
        return Array(hash.finalize())
    }
}

/// Sends an object no faster than allowed.
package struct PacedSource: ObjectSource {
    private let source: any ObjectSource
    package let pieceBytes: UInt64
    private let pause: @Sendable (_ bytes: Int) throws -> Void

    /// - Parameters:
    ///   - pieceBytes: the most bytes to send at a time.
    ///   - pause: called before each read with its number of bytes; may block.
    package init(
        _ source: any ObjectSource, pieceBytes: UInt64, _ pause: @escaping @Sendable (_ bytes: Int) throws -> Void
    ) {
        (self.source, self.pieceBytes, self.pause) = (source, pieceBytes, pause)
    }

    package var length: UInt64 { source.length }
    package var unpaced: any ObjectSource { source }

    package func read(_ range: Range<UInt64>) throws -> [UInt8] {
        try pause(range.count)
        return try source.read(range)
    }
}
