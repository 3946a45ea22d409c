// The catalogue's pins: snapshots and states that are kept regardless of the policy.

package import ArchiveFormat
internal import FileIO
internal import Foundation
internal import GRDB

extension Catalogue {
    /// The chunk with the latest statement about a record's pin; nil if there is none.
    package func pinRecord(of target: ChunkID) throws(StorageError) -> ChunkID? {
        try read { db in
            let statement = try db.cachedStatement(sql: "SELECT record FROM pin WHERE target = ?")
            return try Row.fetchOne(statement, arguments: [Data(target.bytes)]).flatMap { ChunkID(try $0.bytes(0)) }
        }
    }

    /// The pins by the chunk of the pinned record, including expired pins.
    package func pins() throws(StorageError) -> [ChunkID: PinRecord] {
        let sql = """
            SELECT target, seconds, nanoseconds, untilSeconds, untilNanoseconds, reason, sequence FROM pin WHERE NOT isRemoved
            """
        return try read { db in
            var pins: [ChunkID: PinRecord] = [:]
            for row in try Row.fetchAll(db, sql: sql) {
                let pin = try PinRecord(row)
                pins[pin.target] = pin
            }
            return pins
        }
    }

    /// The pin of a record; nil if it has none.
    package func pin(of target: ChunkID) throws(StorageError) -> PinRecord? {
        let sql = """
            SELECT target, seconds, nanoseconds, untilSeconds, untilNanoseconds, reason, sequence FROM pin
            WHERE target = ? AND NOT isRemoved
            """
        return try read { db in
            try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [Data(target.bytes)]).map(PinRecord.init)
        }
    }

    /// The sequence of the next statement about a record's pin.
    package func nextSequence(ofPin target: ChunkID) throws(StorageError) -> UInt64 {
        try nextSequence("pin WHERE target = ?", [Data(target.bytes)])
    }
}

extension PinRecord: PlainRecord {
    fileprivate init(_ row: Row) throws {
        guard let target = ChunkID(try row.bytes(0)) else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        self.init(
            target: target, time: try row.time(seconds: 1, nanoseconds: 2),
            until: row.hasNull(atIndex: 3) ? nil : try row.time(seconds: 3, nanoseconds: 4),
            reason: (try row.optional(5) as Data?).map { String(decoding: $0, as: UTF8.self) },
            sequence: UInt64(clamping: try row.value(6) as Int64))
    }

    func insert(as id: ChunkID, into db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO pin VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (target) DO UPDATE
                SET sequence = excluded.sequence, seconds = excluded.seconds, nanoseconds = excluded.nanoseconds,
                    record = excluded.record, untilSeconds = excluded.untilSeconds,
                    untilNanoseconds = excluded.untilNanoseconds, reason = excluded.reason, isRemoved = excluded.isRemoved
                WHERE (excluded.sequence, excluded.seconds, excluded.nanoseconds, excluded.record)
                    > (sequence, seconds, nanoseconds, record)
                """)
        try statement.execute(arguments: [
            Data(target.bytes), Int64(clamping: sequence), time.seconds, time.nanoseconds, Data(id.bytes),
            until?.seconds, until?.nanoseconds, reason.map { Data($0.utf8) }, isRemoved,
        ])
    }

    func isListed(as id: ChunkID, in db: Database) throws -> Bool {
        try RecordKind.isRecorded(of: [target], sequence, at: time, in: "pin", "target", db)
    }
}

extension RecordKind {
    /// The latest statement about each record's pin.
    static let pins = RecordKind(
        plain: PinRecord.self,
        schema: """
            CREATE TABLE pin (
                target BLOB PRIMARY KEY NOT NULL,
                sequence INTEGER NOT NULL,
                seconds INTEGER NOT NULL,
                nanoseconds INTEGER NOT NULL,
                record BLOB NOT NULL,
                untilSeconds INTEGER,
                untilNanoseconds INTEGER,
                reason BLOB,
                isRemoved INTEGER NOT NULL
            ) WITHOUT ROWID;
            """, name: { "pin \($0)" })
}
