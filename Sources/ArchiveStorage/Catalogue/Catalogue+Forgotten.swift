// The catalogue's forgotten records, and those that are listed again.

package import ArchiveFormat
package import FileIO
internal import Foundation
internal import GRDB

/// A forgotten snapshot or saved state.
package struct ListedForgotten: Sendable, Hashable {
    /// The chunk that holds its record.
    package let id: ChunkID
    /// When it was forgotten.
    package let time: Timestamp
    /// Why it was forgotten.
    package let reason: ForgettingReason
}

extension Catalogue {
    /// Forgets snapshots and states, even those not found yet, unless they were unforgotten later.
    func insert(_ forgotten: ForgottenRecords, into db: Database) throws {
        let ofState = try db.cachedStatement(sql: "DELETE FROM state WHERE id = ?")
        let ofSnapshot = try db.cachedStatement(sql: "DELETE FROM snapshot WHERE id = ?")
        let size = try db.cachedStatement(
            sql: """
                UPDATE forgotten SET storedBytes = (
                    SELECT storedBytes FROM snapshot WHERE id = ?1 UNION ALL SELECT storedBytes FROM state WHERE id = ?1)
                WHERE id = ?1 AND EXISTS (
                    SELECT 1 FROM snapshot WHERE id = ?1 UNION ALL SELECT 1 FROM state WHERE id = ?1)
                """)
        for id in forgotten.records {
            guard try record(id, isKept: false, forgotten.sequence, at: forgotten.time, forgotten.reason, in: db) else {
                continue
            }
            try size.run([.id(id)])
            try ofState.run([.id(id)])
            if db.changesCount > 0 { continue }
            try forgetChanges(beforeRemovalOf: SnapshotID(id), in: db)
            try ofSnapshot.run([.id(id)])
        }
    }

    /// Records that a record is forgotten or kept.
    ///
    /// - Returns: whether that is new. The last statement counts; of two at the same place and time, the one that keeps
    ///   the record.
    fileprivate func record(
        _ id: ChunkID, isKept: Bool, _ sequence: UInt64, at time: Timestamp, _ reason: ForgettingReason = .asked,
        in db: Database
    ) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO forgotten VALUES (?, ?, ?, ?, ?, ?, 0) ON CONFLICT (id) DO UPDATE
                SET sequence = excluded.sequence, seconds = excluded.seconds, nanoseconds = excluded.nanoseconds,
                    isKept = excluded.isKept, reason = excluded.reason
                WHERE (excluded.sequence, excluded.seconds, excluded.nanoseconds, excluded.isKept)
                    > (sequence, seconds, nanoseconds, isKept)
                """)
        try statement.run([
            .id(id), .integer(Int64(clamping: sequence)), .integer(time.seconds), .integer(Int64(time.nanoseconds)),
            .integer(isKept ? 1 : 0), .integer(Int64(clamping: reason.rawValue)),
        ])
        return db.changesCount > 0
    }

    /// Records the stored bytes of a forgotten record that was found after the statement that forgets it.
    func recordStoredBytes(_ storedBytes: UInt64, ofForgotten id: ChunkID, in db: Database) throws {
        try db.cachedStatement(sql: "UPDATE forgotten SET storedBytes = ? WHERE id = ? AND NOT isKept")
            .run([.integer(Int64(clamping: storedBytes)), .id(id)])
    }

    /// The sum of `storedBytes` of the records forgotten from `since` to `until`, both included.
    package func forgottenBytes(since: Timestamp?, until: Timestamp) throws(StorageError) -> UInt64 {
        let low = since ?? .least
        return try read { db in
            // In floating point: a damaged catalogue may have sums larger than any integer.
            let sum = try Double.fetchOne(
                db,
                sql: """
                    SELECT TOTAL(storedBytes) FROM forgotten
                    WHERE NOT isKept AND (seconds, nanoseconds) >= (?, ?) AND (seconds, nanoseconds) <= (?, ?)
                    """, arguments: [low.seconds, low.nanoseconds, until.seconds, until.nanoseconds])
            return UInt64(exactly: (sum ?? 0).rounded()) ?? (sum ?? 0 > 0 ? .max : 0)
        }
    }

    /// Whether the record in the chunk `id` is forgotten.
    package func isForgotten(_ id: ChunkID) throws(StorageError) -> Bool {
        try read { db in
            let sql = "SELECT 1 FROM forgotten WHERE id = ? AND NOT isKept"
            return try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [Data(id.bytes)]) != nil
        }
    }

    /// The sequence of the next statement that forgets or keeps these records.
    func nextSequence(ofForgetting ids: Set<ChunkID>) throws(StorageError) -> UInt64 {
        var next: UInt64 = 1
        for id in ids { next = max(next, try nextSequence("forgotten WHERE id = ?", [Data(id.bytes)])) }
        return next
    }

    /// The forgotten records, by the time when they were forgotten, then by id.
    ///
    /// - Parameters:
    ///   - since: only those forgotten at this time or after.
    ///   - until: only those forgotten at this time or before.
    package func forgotten(
        since: Timestamp? = nil, until: Timestamp? = nil, newestFirst: Bool = false, limit: Int? = nil
    ) throws(StorageError) -> [ListedForgotten] {
        let order = newestFirst ? "DESC" : "ASC"
        let (low, high) = (since ?? .least, until ?? .greatest)
        let sql = """
            SELECT id, seconds, nanoseconds, reason FROM forgotten
            WHERE NOT isKept AND (seconds, nanoseconds) >= (?, ?) AND (seconds, nanoseconds) <= (?, ?)
            ORDER BY seconds \(order), nanoseconds \(order), id \(order) LIMIT ?
            """
        return try read { db in
            var found: [ListedForgotten] = []
            let arguments: StatementArguments = [
                low.seconds, low.nanoseconds, high.seconds, high.nanoseconds, limit ?? -1,
            ]
            try db.cachedStatement(sql: sql).forEachRow(arguments) { row in
                found.append(try ListedForgotten(row))
                return true
            }
            return found
        }
    }

    /// The forgotten records whose ids begin with these hex digits, at most `limit`.
    package func forgotten(idPrefix: String, limit: Int) throws(StorageError) -> [ListedForgotten] {
        guard let range = Catalogue.idRange(idPrefix) else { return [] }
        let sql = """
            SELECT id, seconds, nanoseconds, reason FROM forgotten
            WHERE NOT isKept AND id BETWEEN ? AND ? ORDER BY id LIMIT ?
            """
        return try read { db in
            var found: [ListedForgotten] = []
            try db.cachedStatement(sql: sql).forEachRow([range.low, range.high, limit]) { row in
                found.append(try ListedForgotten(row))
                return true
            }
            return found
        }
    }
}

extension ListedForgotten {
    fileprivate init(_ row: CatalogueRow) throws {
        id = try row.id(0)
        time = try row.time(seconds: 1, nanoseconds: 2)
        reason = ForgettingReason(rawValue: row.number(3))
    }
}

extension Timestamp {
    fileprivate static var least: Timestamp { Timestamp(seconds: .min) }
    fileprivate static var greatest: Timestamp { Timestamp(seconds: .max, nanoseconds: 999_999_999) }
}

extension ForgottenRecords: ListedRecord {
    func insert(into db: Database, of catalogue: Catalogue) throws { try catalogue.insert(self, into: db) }

    func isListed(in db: Database) throws -> Bool? {
        try RecordKind.isRecorded(of: records, sequence, at: time, in: "forgotten", "id", db)
    }
}

/// Records to be listed again.
struct ListedAgain: ListedRecord {
    let record: UnforgottenRecords
    /// The readable ones among them.
    let listed: [ChunkID: any ListedRecord]

    var time: Timestamp { record.time }

    func insert(into db: Database, of catalogue: Catalogue) throws {
        for id in record.records where try catalogue.record(id, isKept: true, record.sequence, at: record.time, in: db)
        {
            try listed[id]?.insert(into: db, of: catalogue)
        }
    }

    func isListed(in db: Database) throws -> Bool? {
        try RecordKind.isRecorded(of: record.records, record.sequence, at: time, in: "forgotten", "id", db)
    }
}

extension RecordKind {
    /// The latest statement about each record: that it is forgotten, or that it is kept.
    static let forgotten = RecordKind(
        schema: """
            CREATE TABLE forgotten (
                id BLOB PRIMARY KEY NOT NULL,
                sequence INTEGER NOT NULL,
                seconds INTEGER NOT NULL,
                nanoseconds INTEGER NOT NULL,
                isKept INTEGER NOT NULL,
                reason INTEGER NOT NULL,
                storedBytes INTEGER NOT NULL
            ) WITHOUT ROWID;
            CREATE INDEX forgottenByTime ON forgotten (seconds, nanoseconds, id) WHERE NOT isKept;
            """, name: { "record of forgetting \($0)" }
    ) { (record: ForgottenRecords, _) in
        record
    }

    static let unforgotten = RecordKind(
        .unforgotten, shape: UnforgottenRecords.shape, schema: "", name: { "record of unforgetting \($0)" }
    ) { (store, found, bytes) throws(StorageError) in
        try store.listedAgain(try store.record(found.id, from: bytes))
    }
}

extension ArchiveStore {
    /// Prepares to list forgotten records again; unreadable ones are left out.
    func listedAgain(_ record: UnforgottenRecords) throws(StorageError) -> ListedAgain {
        var listed: [ChunkID: any ListedRecord] = [:]
        for id in record.records {
            do throws(StorageError) { listed[id] = try listedRecord(id) } catch {
                guard error.code == .damaged, error.path != layout.catalogue else { throw error }
            }
        }
        return ListedAgain(record: record, listed: listed)
    }

    /// The snapshot or state in the chunk `id`; nil if no segment has it as such a record.
    package func forgottenValue(_ id: ChunkID) throws(StorageError) -> ForgottenValue? {
        switch try listedRecord(id) {
        case let snapshot as NewSnapshot: .snapshot(snapshot.listed)
        case let state as ListedState: .state(state)
        default: nil
        }
    }

    private func listedRecord(_ id: ChunkID) throws(StorageError) -> (any ListedRecord)? {
        // A file's content may have the same bytes and id.
        for copy in try catalogue.copies(beginning: ChunkPrefix(id)) where copy.id == id {
            let header = try blockHeader(at: copy.location)
            for found in FoundRecord.all(in: header, at: copy.location.offset) where found.id == id {
                guard found.kind == .snapshot || found.kind == .state,
                    let kind = RecordKind.all.first(where: { $0.kind == found.kind })
                else { continue }
                return try kind.read(self, found)
            }
        }
        return nil
    }
}

/// A forgotten snapshot or state, as lists show it.
package enum ForgottenValue: Sendable, Hashable {
    case snapshot(ListedSnapshot)
    case state(ListedState)
}
