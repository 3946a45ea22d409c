// The first 64 bytes of a segment: its archive, its id, and when it was begun.

internal import Compression
package import FileIO

/// The random id of a segment.
package typealias SegmentID = RandomID<SegmentHeader>

/// The first bytes of a segment.
package struct SegmentHeader: Hashable, Sendable {
    package let archive: ArchiveID
    package let segment: SegmentID
    /// When the segment was begun.
    package let created: Timestamp

    package init(archive: ArchiveID, segment: SegmentID, created: Timestamp) {
        self.archive = archive
        self.segment = segment
        self.created = created
    }

    /// Bytes of an encoded header.
    package static let byteCount = 64
    /// The version of the format that this program writes and reads.
    package static let formatVersion: UInt32 = 1

    private static let magic = Array("ARCHSEG\n".utf8)

    /// Offsets of the fields; all integers are little-endian.
    private enum Offset {
        static let magic = 0
        static let formatVersion = 8
        static let headerLength = 12
        static let archive = 16
        static let segment = 32
        static let createdSeconds = 48
        static let createdNanoseconds = 56
        static let checksum = 60
    }

    /// The header's 64 bytes.
    package func encoded() -> [UInt8] {
        var bytes = SegmentHeader.magic
        bytes.appendLittleEndian(SegmentHeader.formatVersion)
        bytes.appendLittleEndian(UInt32(SegmentHeader.byteCount))
        bytes += archive.bytes
        bytes += segment.bytes
        bytes.appendLittleEndian(created.seconds)
        bytes.appendLittleEndian(created.nanoseconds)
        bytes.appendLittleEndian(bytes.withUnsafeBytes { crc32($0) })
        return bytes
    }

    /// Reads the header at the start of `bytes`.
    ///
    /// - Throws: `unknownVersion` for a newer format, `truncated`, `malformed` or `checksumMismatch`.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
        if bytes.count < SegmentHeader.byteCount { throw .truncated }
        guard bytes.slice(Offset.magic..<Offset.formatVersion).elementsEqual(SegmentHeader.magic) else {
            throw .malformed("not a segment")
        }
        guard crc32(bytes.slice(0..<Offset.checksum)) == bytes.littleEndian(at: Offset.checksum, as: UInt32.self) else {
            throw .checksumMismatch("a segment's header")
        }
        let version = bytes.littleEndian(at: Offset.formatVersion, as: UInt32.self)
        guard version <= SegmentHeader.formatVersion else { throw .unknownVersion(version) }
        guard version == SegmentHeader.formatVersion,
            bytes.littleEndian(at: Offset.headerLength, as: UInt32.self) == UInt32(SegmentHeader.byteCount)
        else { throw .malformed("a segment's version") }
        archive = ArchiveID(exactly: bytes.slice(Offset.archive..<Offset.segment))
        segment = SegmentID(exactly: bytes.slice(Offset.segment..<Offset.createdSeconds))
        created = Timestamp(
            seconds: bytes.littleEndian(at: Offset.createdSeconds, as: Int64.self),
            nanoseconds: bytes.littleEndian(at: Offset.createdNanoseconds, as: UInt32.self))
        guard created.nanoseconds < 1_000_000_000 else { throw .malformed("a segment's time") }
    }
}
