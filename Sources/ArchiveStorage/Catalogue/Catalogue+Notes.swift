// The catalogue's notes, which users wrote about their roots.

package import ArchiveFormat
package import FileIO
internal import Foundation
internal import GRDB

extension Catalogue {
    /// The notes about roots, by time, with the present places of the roots.
    ///
    /// - Parameters:
    ///   - root: only notes about this root, by its number.
    ///   - since: only notes made at this time or after.
    ///   - until: only notes made at this time or before.
    package func notes(
        root: Int64? = nil, since: Timestamp? = nil, until: Timestamp? = nil
    ) throws(StorageError) -> [StoredRecord<NoteRecord>] {
        var conditions: [String] = []
        var arguments = StatementArguments()
        if let root {
            conditions.append("note.root = ?")
            arguments += [root]
        }
        if let since {
            conditions.append("(seconds, nanoseconds) >= (?, ?)")
            arguments += [since.seconds, since.nanoseconds]
        }
        if let until {
            conditions.append("(seconds, nanoseconds) <= (?, ?)")
            arguments += [until.seconds, until.nanoseconds]
        }
        let restriction = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        let sql = """
            SELECT note.id, root.path, root.host, root.machine, seconds, nanoseconds, text, snapshot
            FROM note JOIN root ON root.id = note.root \(restriction) ORDER BY seconds, nanoseconds, note.id
            """
        return try read { db in try Row.fetchAll(db, sql: sql, arguments: arguments).map(StoredRecord.init(note:)) }
    }
}

extension Catalogue {
    /// The chunks of removed notes that are still in a segment.
    func removedNotes() throws(StorageError) -> Set<ChunkID> {
        try read { db in
            let sql = "SELECT id FROM removedNote WHERE EXISTS (SELECT 1 FROM chunk WHERE chunk.id = removedNote.id)"
            return Set(
                try Row.fetchAll(db, sql: sql).map { row in
                    guard let id = ChunkID(try row.bytes(0)) else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
                    return id
                })
        }
    }
}

extension StoredRecord<NoteRecord> {
    fileprivate init(note row: Row) throws {
        guard let id = ChunkID(try row.bytes(0)) else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        self.init(
            id: id,
            record: NoteRecord(
                rootPath: try row.bytes(1), host: try row.value(2), time: try row.time(seconds: 4, nanoseconds: 5),
                text: String(decoding: try row.bytes(6), as: UTF8.self),
                snapshot: (try row.optional(7) as Data?).flatMap { ChunkID(Array($0)) }.map { SnapshotID($0) },
                machine: MachineID(try row.bytes(3)) ?? .unknown))
    }
}

extension NoteRecord: PlainRecord {
    func insert(as id: ChunkID, into db: Database) throws {
        if let removed {
            let arguments: StatementArguments = [Data(removed.bytes)]
            try db.execute(sql: "INSERT OR IGNORE INTO removedNote VALUES (?)", arguments: arguments)
            return try db.execute(sql: "DELETE FROM note WHERE id = ?", arguments: arguments)
        }
        if try isRemoved(id, in: db) { return }
        let place = RootPlace(path: rootPath, machine: machine, time: time)
        let root = try Catalogue.enterRoot(ofRecordAt: place, host: host, into: db)
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO note VALUES (?, ?, ?, ?, ?, ?)")
            .execute(arguments: [
                Data(id.bytes), root, time.seconds, time.nanoseconds, Data(text.utf8),
                snapshot.map { Data($0.chunk.bytes) },
            ])
    }

    func isListed(as id: ChunkID, in db: Database) throws -> Bool {
        if let removed { return try isRemoved(removed, in: db) }
        let note = try Row.fetchOne(db, sql: "SELECT 1 FROM note WHERE id = ?", arguments: [Data(id.bytes)])
        return try note != nil || isRemoved(id, in: db)
    }

    private func isRemoved(_ id: ChunkID, in db: Database) throws -> Bool {
        let statement = try db.cachedStatement(sql: "SELECT 1 FROM removedNote WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [Data(id.bytes)]) != nil
    }
}

extension RecordKind {
    /// The notes, and the ids of removed ones.
    static let notes = RecordKind(
        plain: NoteRecord.self,
        schema: """
            CREATE TABLE note (
                id BLOB PRIMARY KEY NOT NULL,
                root INTEGER NOT NULL REFERENCES root,
                seconds INTEGER NOT NULL,
                nanoseconds INTEGER NOT NULL,
                text BLOB NOT NULL,
                snapshot BLOB
            ) WITHOUT ROWID;
            CREATE INDEX noteByTime ON note (root, seconds, nanoseconds);
            CREATE TABLE removedNote (id BLOB PRIMARY KEY NOT NULL) WITHOUT ROWID;
            """, ofRoots: .init(table: "note", order: .time("seconds, nanoseconds")), name: { "note \($0)" })
}
