// A segment's row in the catalogue.

package import ArchiveFormat
internal import GRDB

/// The state of a segment; the raw values are stored in the catalogue.
package enum SegmentState: Int64, Sendable {
    /// Blocks may be appended.
    case open = 0
    /// It will never change.
    case sealed = 1
    /// It is about to be dropped: its chunks can be read, but no longer count as stored.
    case condemned = 2
    /// It is sealed and has left the local disk, or is about to: nothing new depends on it.
    case away = 3
}

/// A segment as the catalogue lists it.
package struct ListedSegment: Sendable, Hashable {
    /// The segment's number in this catalogue.
    package let number: Int64
    /// Its path below the archive's `segments`.
    package let path: String
    /// The bytes from its start that are indexed.
    package let indexedLength: Int
    package let state: SegmentState
    /// The id in its header; nil if the header is damaged.
    package let name: SegmentID?

    /// Whether it will never change.
    package var isSealed: Bool { state != .open }

    static let columns = "id, path, indexedLength, state, name"

    init(_ row: Row) throws {
        number = try row.value(0)
        path = try row.value(1)
        indexedLength = try row.value(2)
        let name: [UInt8]? = row.hasNull(atIndex: 4) ? nil : try row.bytes(4)
        // A packed location has 31 bits for the number.
        guard (0..<1 << 31).contains(number), indexedLength >= 0, let state = SegmentState(rawValue: try row.value(3)),
            name.map({ $0.count == SegmentID.byteCount }) ?? true
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a segment's row is invalid") }
        self.state = state
        self.name = name.map { $0.withUnsafeBytes { SegmentID(exactly: $0) } }
    }
}
