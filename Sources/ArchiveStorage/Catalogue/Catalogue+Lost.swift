// The catalogue's lost segments: those that are missing, and that nobody expects back.

package import ArchiveFormat
package import FileIO
internal import Foundation
internal import GRDB

extension Catalogue {
    /// The first statement about each segment that was recorded as lost.
    package func lostSegments() throws(StorageError) -> [SegmentID: (time: Timestamp, reason: String?)] {
        try read { db in
            var lost: [SegmentID: (time: Timestamp, reason: String?)] = [:]
            for row in try Row.fetchAll(db, sql: "SELECT name, seconds, nanoseconds, reason FROM lostSegment") {
                let reason = (try row.optional(3) as Data?).map { String(decoding: $0, as: UTF8.self) }
                lost[try SegmentID(checking: row.bytes(0))] = (try row.time(seconds: 1, nanoseconds: 2), reason)
            }
            return lost
        }
    }
}

extension LostSegments: PlainRecord {
    func insert(as id: ChunkID, into db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO lostSegment VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE
                SET seconds = excluded.seconds, nanoseconds = excluded.nanoseconds, record = excluded.record,
                    reason = excluded.reason
                WHERE (excluded.seconds, excluded.nanoseconds, excluded.record) < (seconds, nanoseconds, record)
                """)
        for segment in segments {
            try statement.execute(arguments: [
                Data(segment.bytes), time.seconds, time.nanoseconds, Data(id.bytes), reason.map { Data($0.utf8) },
            ])
        }
    }

    func isListed(as id: ChunkID, in db: Database) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: "SELECT 1 FROM lostSegment WHERE name = ? AND (seconds, nanoseconds) <= (?, ?)")
        return try segments.allSatisfy { segment in
            let row = try Row.fetchOne(
                statement, arguments: [Data(segment.bytes), time.seconds, time.nanoseconds])
            return row != nil
        }
    }
}

extension RecordKind {
    /// The segments that are known to be lost.
    static let lostSegments = RecordKind(
        plain: LostSegments.self,
        schema: """
            CREATE TABLE lostSegment (
                name BLOB PRIMARY KEY NOT NULL,
                seconds INTEGER NOT NULL,
                nanoseconds INTEGER NOT NULL,
                record BLOB NOT NULL,
                reason BLOB
            ) WITHOUT ROWID;
            """, name: { "record of lost segments \($0)" })
}
