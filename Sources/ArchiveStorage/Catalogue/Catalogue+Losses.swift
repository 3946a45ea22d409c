// The catalogue's losses: chunks that no segment has any more, and the roots that may miss them.

package import ArchiveFormat
internal import Foundation
internal import GRDB

/// A mark that the next capture of a root must examine all of it, as parts of its latest state may be lost.
package struct HealingMark: Sendable, Hashable {
    fileprivate let root: Int64
    /// Increases with every further loss.
    fileprivate let number: Int64
}

extension Catalogue {
    /// Chunks that are lost although the catalogue has locations for them.
    package func losses() throws(StorageError) -> [ChunkID] {
        try read { db in
            var ids: [ChunkID] = []
            try db.makeStatement(sql: "SELECT id FROM loss ORDER BY id").forEachRow([]) { row in
                ids.append(try row.id(0))
                return true
            }
            return ids
        }
    }

    /// Replaces the recorded losses, and marks roots for a full capture.
    ///
    /// - Parameter roots: the roots' numbers.
    package func record(losses: [ChunkID], ofRoots roots: [Int64]) throws(StorageError) {
        if losses.isEmpty, roots.isEmpty, try self.losses().isEmpty { return }
        try write { db in
            try db.execute(sql: "DELETE FROM loss")
            let statement = try db.cachedStatement(sql: "INSERT OR IGNORE INTO loss VALUES (?)")
            for id in losses { try statement.execute(arguments: [Data(id.bytes)]) }
            let mark = "INSERT OR REPLACE INTO healing SELECT ?, COALESCE(MAX(number), 0) + 1 FROM healing"
            for root in roots { try db.execute(sql: mark, arguments: [root]) }
        }
    }

    /// Records that segments have lost chunks: every root is marked for a full capture.
    func recordLossesOfAnyRoot() throws(StorageError) {
        try write { db in
            let number = try Int64.fetchOne(db, sql: "SELECT COALESCE(MAX(number), 0) + 1 FROM healing")
            try db.execute(sql: "INSERT OR REPLACE INTO healing SELECT id, ? FROM root", arguments: [number])
        }
    }

    /// Marks the root at `path` on `machine` for a full capture.
    package func recordLoss(ofRoot path: [UInt8], machine: MachineID) throws(StorageError) {
        try write { db in
            let number = try Int64.fetchOne(db, sql: "SELECT COALESCE(MAX(number), 0) + 1 FROM healing")
            try db.execute(
                sql: "INSERT OR REPLACE INTO healing SELECT id, ? FROM root WHERE path = ? AND machine = ?",
                arguments: [number, Data(path), Data(machine.bytes)])
        }
    }

    /// The mark of the root at `path` on `machine`; nil if it has none.
    package func healingMark(ofRoot path: [UInt8], machine: MachineID) throws(StorageError) -> HealingMark? {
        let sql = """
            SELECT healing.root, number FROM root CROSS JOIN healing
            WHERE path = ? AND machine = ? AND healing.root = root.id
            """
        return try read { db in
            try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [Data(path), Data(machine.bytes)])
                .map { HealingMark(root: $0[0], number: $0[1]) }
        }
    }

    /// Removes `mark` after a full capture; a mark set since then stays.
    package func remove(_ mark: HealingMark) throws(StorageError) {
        try write { db in
            try db.execute(
                sql: "DELETE FROM healing WHERE root = ? AND number = ?", arguments: [mark.root, mark.number])
        }
    }

    /// Removes the losses of chunks that were just stored, and the lost copies of these chunks.
    func recordStored(_ chunks: [(id: ChunkID, location: BlockLocation)], in db: Database) throws {
        if try Row.fetchOne(db.cachedStatement(sql: "SELECT 1 FROM loss LIMIT 1")) == nil { return }
        let found = try db.cachedStatement(sql: "DELETE FROM loss WHERE id = ?")
        let lost = try db.cachedStatement(sql: "DELETE FROM chunk WHERE id = ? AND location <> ?")
        for chunk in chunks {
            let id = Data(chunk.id.bytes)
            try found.execute(arguments: [id])
            if db.changesCount > 0 { try lost.execute(arguments: [id, chunk.location.packed]) }
        }
    }
}
