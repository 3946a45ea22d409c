// The catalogue's blocks: the length and the bases of each, without reading it.

package import ArchiveFormat
internal import Foundation
internal import GRDB

/// A block as the catalogue lists it.
package struct StoredBlock: Sendable, Hashable {
    /// Bytes of header and payload in the segment.
    package let length: Int
    /// The number of blocks in the longest chain of bases below it.
    package let depth: Int
    /// The bases of a delta, in order.
    package let bases: [ChunkPrefix]
    /// Whether it holds a record that stays even if everything is forgotten.
    package let isLasting: Bool

    package init(_ header: BlockHeader) {
        length = header.blockLength
        depth = header.depth
        bases = header.bases
        // What a table in a payload lists may be needed.
        isLasting = header.chunks.isEmpty || header.chunks.contains { $0.kind.isLasting }
    }

    fileprivate static let columns = "location, length, depth, bases, isLasting"

    private static var invalidRow: DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a block's row is invalid")
    }

    /// The length in a block's row: no block is empty, and sums of lengths must not overflow.
    fileprivate static func length(_ stored: Int64) throws -> Int {
        guard (1...Int64(ArchiveManifest.Parameters.segmentBytesLimit)).contains(stored) else { throw invalidRow }
        return Int(stored)
    }

    fileprivate init(_ row: CatalogueRow) throws {
        let bytes = row.bytes(3)
        let depth = row.integer(2)
        length = try StoredBlock.length(row.integer(1))
        guard bytes.count.isMultiple(of: ChunkPrefix.byteCount), (0...Int64(BlockHeader.depthLimit)).contains(depth)
        else { throw StoredBlock.invalidRow }
        isLasting = row.integer(4) != 0
        self.depth = Int(depth)
        bases = stride(from: 0, to: bytes.count, by: ChunkPrefix.byteCount).map { start in
            ChunkPrefix(exactly: UnsafeRawBufferPointer(rebasing: bytes[start..<(start + ChunkPrefix.byteCount)]))
        }
    }
}

extension Catalogue {
    /// The block at `location`; nil if no indexed segment has one there.
    package func block(at location: BlockLocation) throws(StorageError) -> StoredBlock? {
        var found: StoredBlock?
        try forEachBlock("SELECT \(StoredBlock.columns) FROM block WHERE location = ?", [location.packed]) {
            found = $1
        }
        return found
    }

    /// Calls `body` with each block of a segment, in order.
    package func forEachBlock(
        ofSegment number: Int64, _ body: (BlockLocation, StoredBlock) throws -> Void
    ) throws(StorageError) {
        let range = BlockLocation.packed(ofSegment: number)
        try forEachBlock(
            "SELECT \(StoredBlock.columns) FROM block WHERE location >= ? AND location < ? ORDER BY location",
            [range.lowerBound, range.upperBound], body)
    }

    /// Calls `body` with each block of all segments, in the order of locations; `body` must not use the catalogue.
    package func forEachBlock(_ body: (BlockLocation, StoredBlock) throws -> Void) throws(StorageError) {
        try forEachBlock("SELECT \(StoredBlock.columns) FROM block ORDER BY location", [], body)
    }

    /// Calls `body` with the packed location and the length of each block, in the order of locations.
    func forEachBlockLength(_ body: (Int64, Int64) -> Void) throws(StorageError) {
        try read { db in
            try db.cachedStatement(sql: "SELECT location, length FROM block ORDER BY location").forEachRow([]) { row in
                body(row.integer(0), Int64(try StoredBlock.length(row.integer(1))))
                return true
            }
        }
    }

    private func forEachBlock(
        _ sql: String, _ arguments: StatementArguments, _ body: (BlockLocation, StoredBlock) throws -> Void
    ) throws(StorageError) {
        try read { db in
            try db.cachedStatement(sql: sql).forEachRow(arguments) { row in
                try body(BlockLocation(packed: row.integer(0)), StoredBlock(row))
                return true
            }
        }
    }

    func insert(_ blocks: [(location: BlockLocation, block: StoredBlock)], into db: Database) throws {
        let statement = try db.cachedStatement(sql: "INSERT OR REPLACE INTO block VALUES (?, ?, ?, ?, ?)")
        for (location, block) in blocks {
            try statement.run([
                .integer(location.packed), .integer(Int64(block.length)), .integer(Int64(block.depth)),
                .blob(block.bases.flatMap(\.bytes)), .integer(block.isLasting ? 1 : 0),
            ])
        }
    }
}
