// The catalogue's late labels: labels that were set after the snapshots and states were made.

package import ArchiveFormat
package import FileIO
internal import Foundation
internal import GRDB

extension Catalogue {
    /// The sequence of the next statement about a record's label.
    package func nextSequence(ofLabel target: ChunkID) throws(StorageError) -> UInt64 {
        try nextSequence("lateLabel WHERE target = ?", [Data(target.bytes)])
    }

    /// The chunk with the latest statement about a record's label; nil if there is none.
    func labelRecord(of target: ChunkID) throws(StorageError) -> ChunkID? {
        try read { db in
            let statement = try db.cachedStatement(sql: "SELECT record FROM lateLabel WHERE target = ?")
            return try Row.fetchOne(statement, arguments: [Data(target.bytes)]).flatMap { ChunkID(try $0.bytes(0)) }
        }
    }

    /// The label of a record: the late label if there is one, otherwise its own.
    package func label(of target: ChunkID, else own: String?) throws(StorageError) -> String? {
        try read { db in
            let statement = try db.cachedStatement(sql: "SELECT label FROM lateLabel WHERE target = ?")
            guard let row = try Row.fetchOne(statement, arguments: [Data(target.bytes)]) else { return own }
            return (try row.optional(0) as Data?).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// The snapshots' labels that begin with `text`, each once.
    ///
    /// It needs one index lookup for each label, regardless of how many snapshots have it.
    package func labels(beginning text: String, limit: Int) throws(StorageError) -> [String] {
        let sql = "SELECT MIN(label) FROM snapshot WHERE label IS NOT NULL AND label >= ?"
        return try readTogether { db in
            let next = try db.cachedStatement(sql: sql)
            var labels: [String] = []
            var least = Data(text.utf8)
            while labels.count < limit, let bytes = try Data.fetchOne(next, arguments: [least]),
                bytes.starts(with: text.utf8)
            {
                labels.append(String(decoding: bytes, as: UTF8.self))
                least = bytes + [0]
            }
            return labels
        }
    }

    /// The snapshots of a root that have a label, the newest first.
    package func labelledSnapshots(
        root: Int64, since: Timestamp, until: Timestamp, limit: Int
    ) throws(StorageError) -> [ListedSnapshot] {
        let sql = """
            SELECT \(SnapshotReader.columns) FROM snapshot INDEXED BY snapshotByLabel
            WHERE label IS NOT NULL AND root = ? AND seconds BETWEEN ? AND ?
            ORDER BY seconds DESC, nanoseconds DESC, id DESC LIMIT ?
            """
        return try read { db in
            var found: [ListedSnapshot] = []
            var reader = SnapshotReader(db)
            try db.cachedStatement(sql: sql).forEachRow([root, since.seconds, until.seconds, limit]) { row in
                found.append(try reader.snapshot(row))
                return true
            }
            return found
        }
    }

    /// The SQL for the label of a record that is entered: the late label if there is one, otherwise its own.
    ///
    /// - Parameters:
    ///   - id: the SQL parameter of the record's id.
    ///   - own: the SQL parameter of its own label.
    static func label(of id: String, else own: String) -> String {
        """
        CASE WHEN EXISTS (SELECT 1 FROM lateLabel WHERE target = \(id))
            THEN (SELECT label FROM lateLabel WHERE target = \(id)) ELSE \(own) END
        """
    }
}

extension LabelRecord: PlainRecord {
    func insert(as id: ChunkID, into db: Database) throws {
        let label = CatalogueValue(label.map { Array($0.utf8) })
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO lateLabel VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (target) DO UPDATE
                SET sequence = excluded.sequence, seconds = excluded.seconds, nanoseconds = excluded.nanoseconds,
                    record = excluded.record, label = excluded.label
                WHERE (excluded.sequence, excluded.seconds, excluded.nanoseconds, excluded.record)
                    > (sequence, seconds, nanoseconds, record)
                """)
        try statement.run([
            .id(target), .integer(Int64(clamping: sequence)), .integer(time.seconds),
            .integer(Int64(time.nanoseconds)), .id(id), label,
        ])
        guard db.changesCount > 0 else { return }
        for table in ["snapshot", "state"] {
            try db.cachedStatement(sql: "UPDATE \(table) SET label = ? WHERE id = ?").run([label, .id(target)])
        }
    }

    func isListed(as id: ChunkID, in db: Database) throws -> Bool {
        try RecordKind.isRecorded(of: [target], sequence, at: time, in: "lateLabel", "target", db)
    }
}

extension RecordKind {
    /// The latest label of each snapshot or state; the tables `snapshot` and `state` have it, too.
    static let labels = RecordKind(
        plain: LabelRecord.self,
        schema: """
            CREATE TABLE lateLabel (
                target BLOB PRIMARY KEY NOT NULL,
                sequence INTEGER NOT NULL,
                seconds INTEGER NOT NULL,
                nanoseconds INTEGER NOT NULL,
                record BLOB NOT NULL,
                label BLOB
            ) WITHOUT ROWID;
            """, name: { "label \($0)" })
}
