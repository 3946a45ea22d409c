// What the snapshots' trees need, as it was counted for earlier surveys of the space.

package import ArchiveFormat
internal import Foundation
internal import GRDB

extension Catalogue {
    /// Calls `body` with the number and the bytes of each part of the index of usage, in order.
    ///
    /// - Parameter body: returns false if the bytes are no part.
    package func forEachUsagePart(
        _ body: (Int64, UnsafeRawBufferPointer) throws -> Bool
    ) throws(StorageError) {
        try read { db in
            try db.cachedStatement(sql: "SELECT number, part FROM usage ORDER BY number").forEachRow([]) { row in
                guard try body(row.integer(0), row.bytes(1)) else {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a part of the index of usage is invalid")
                }
                return true
            }
        }
    }

    /// Enters a part of the index of usage.
    ///
    /// - Parameters:
    ///   - last: the number of the part that it follows; 0 for the first.
    ///   - isReplacing: whether it has everything of the parts before it that still matters: they are removed.
    /// - Returns: the part's number; nil if another process has entered one in the meantime.
    package func enter(
        usagePart bytes: [UInt8], after last: Int64, isReplacing: Bool = false
    ) throws(StorageError) -> Int64? {
        try write { db in
            let newest = try Int64.fetchOne(db, sql: "SELECT MAX(number) FROM usage") ?? 0
            guard newest == last, last < .max else { return nil }
            if isReplacing { try db.execute(sql: "DELETE FROM usage") }
            try db.execute(sql: "INSERT INTO usage VALUES (?, ?)", arguments: [last + 1, Data(bytes)])
            return last + 1
        }
    }

    /// The trees of a root's snapshots, in the snapshots' order.
    package func trees(root: Int64) throws(StorageError) -> [(snapshot: SnapshotID, tree: ChunkID)] {
        let sql = "SELECT id, facts FROM snapshot WHERE root = ? ORDER BY sequence, seconds, nanoseconds, id"
        return try read { db in
            var trees: [(snapshot: SnapshotID, tree: ChunkID)] = []
            var causes = Repeated<Cause?>()
            try db.cachedStatement(sql: sql).forEachRow([root]) { row in
                guard let facts = SnapshotFacts(row.bytes(1), &causes) else {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT)
                }
                trees.append((SnapshotID(try row.id(0)), facts.tree))
                return true
            }
            return trees
        }
    }
}
