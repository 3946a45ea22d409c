// The catalogue's notices of roots: which roots were moved, and which are retired.

package import ArchiveFormat
package import FileIO
internal import Foundation
internal import GRDB

/// A notice of a root and the chunk that holds it.
package struct StoredNotice: Sendable, Hashable {
    package let id: ChunkID
    package let record: RootNotice

    package init(id: ChunkID, record: RootNotice) {
        self.id = id
        self.record = record
    }

    /// A notice to be stored.
    package init(_ record: RootNotice) {
        self.init(id: ChunkID(hashing: record.encoded()), record: record)
    }
}

/// The place by which a record names its root; the path may have belonged to another root before.
struct RootPlace: Hashable {
    var path: [UInt8]
    var machine: MachineID
    var time: Timestamp
    /// Its sequence; nil for records that have only a time.
    var sequence: UInt64?
}

extension RootPlace {
    init(_ snapshot: ListedSnapshot) {
        self.init(
            path: snapshot.rootPath, machine: snapshot.machine, time: snapshot.time, sequence: snapshot.sequence)
    }
}

extension Catalogue {
    /// The newest notice of the root at `path`; nil if there is none.
    package func latestNotice(path: [UInt8], machine: MachineID) throws(StorageError) -> RootNotice? {
        let sql = """
            SELECT \(StoredNotice.columns) FROM notice WHERE path = ? AND machine = ?
            ORDER BY seconds DESC, nanoseconds DESC LIMIT 1
            """
        return try read { db in
            try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [Data(path), Data(machine.bytes)])
                .map { try StoredNotice($0).record }
        }
    }

    /// The time of the newest notice of any root; nil if there is none.
    package func latestNoticeTime() throws(StorageError) -> Timestamp? {
        let sql = "SELECT seconds, nanoseconds FROM notice ORDER BY seconds DESC, nanoseconds DESC LIMIT 1"
        return try read { db in try Row.fetchOne(db, sql: sql).map { try $0.time(seconds: 0, nanoseconds: 1) } }
    }

    /// All notices, without the machines' names: the catalogue does not store them.
    package func notices() throws(StorageError) -> Set<StoredNotice> {
        let sql = "SELECT \(StoredNotice.columns) FROM notice"
        return try read { db in Set(try Row.fetchAll(db, sql: sql).map(StoredNotice.init)) }
    }

    /// The present place of `snapshot`: its root's path and machine, and its sequence there.
    package func place(
        of snapshot: Snapshot
    ) throws(StorageError) -> (path: [UInt8], machine: MachineID, sequence: UInt64) {
        let place = RootPlace(
            path: snapshot.rootPath, machine: snapshot.machine, time: snapshot.time, sequence: snapshot.sequence)
        return try read { db in
            let present = try Catalogue.present(place, in: db)
            return (present.path, present.machine, present.sequence ?? snapshot.sequence)
        }
    }

    /// The present place of the root that was at `path` on `machine` at `time`.
    package func place(
        ofRoot path: [UInt8], on machine: MachineID, at time: Timestamp
    ) throws(StorageError) -> (path: [UInt8], machine: MachineID) {
        try read { db in
            let present = try Catalogue.present(RootPlace(path: path, machine: machine, time: time), in: db)
            return (present.path, present.machine)
        }
    }

    /// The present place of `operation`: its root's path and machine, and its sequence there.
    package func place(
        of operation: OperationRecord
    ) throws(StorageError) -> (path: [UInt8], machine: MachineID, sequence: UInt64) {
        let place = RootPlace(
            path: operation.rootPath, machine: operation.machine, time: operation.time, sequence: operation.sequence)
        return try read { db in
            let present = try Catalogue.present(place, in: db)
            return (present.path, present.machine, present.sequence ?? operation.sequence)
        }
    }

    /// The present place of a record that was entered at `place`.
    static func present(_ place: RootPlace, in db: Database) throws -> RootPlace {
        // A record with a sequence is moved by it, whatever its time.
        let isConcerned =
            place.sequence == nil
            ? "(seconds, nanoseconds) >= (?5, ?6)"
            : "CASE WHEN through IS NULL THEN (seconds, nanoseconds) >= (?5, ?6) ELSE through >= ?7 END"
        let moves = try db.cachedStatement(
            sql: """
                SELECT newPath, newMachine, seconds, nanoseconds, shift FROM notice
                WHERE path = ?1 AND machine = ?2 AND kind = 'moved' AND (seconds, nanoseconds) > (?3, ?4)
                    AND \(isConcerned)
                ORDER BY seconds, nanoseconds, id LIMIT 1
                """)
        var place = place
        // Each move is later than the previous one, so the loop ends: a text, which is later than any number, is refused.
        var last = Timestamp(seconds: .min)
        while true {
            var values: [CatalogueValue] = [
                .blob(place.path), .blob(place.machine.bytes), .integer(last.seconds),
                .integer(Int64(last.nanoseconds)), .integer(place.time.seconds),
                .integer(Int64(place.time.nanoseconds)),
            ]
            if let sequence = place.sequence { values.append(.integer(Int64(clamping: sequence))) }
            let move = try moves.firstRow(values) { row in
                (
                    path: row.isNull(0) ? nil : Array(row.bytes(0)), machine: MachineID(Array(row.bytes(1))),
                    time: try row.time(seconds: 2, nanoseconds: 3), shift: UInt64(clamping: try row.exactInteger(4))
                )
            }
            guard let move, let path = move.path else { return place }
            place.path = path
            place.machine = move.machine ?? place.machine
            last = move.time
            place.sequence = place.sequence.map {
                FormatLimits.sum($0, move.shift, Snapshot.sequenceLimit)
            }
        }
    }

    /// Enters `notice`; if a root was moved, its earlier records become those of the root at the new path.
    func insert(_ notice: StoredNotice, into db: Database) throws {
        let record = notice.record
        let machine = Data(record.machine.bytes)
        try db.execute(
            sql: "INSERT OR IGNORE INTO notice VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                Data(notice.id.bytes), Data(record.rootPath), machine, record.kind.rawValue, record.time.seconds,
                record.time.nanoseconds, record.newPath.map { Data($0) }, record.newMachine.map { Data($0.bytes) },
                record.through.map { Int64(clamping: $0) }, Int64(clamping: record.shift),
            ])
        guard record.kind == .moved, db.changesCount > 0,
            let old = try Row.fetchOne(
                db, sql: "SELECT id, host FROM root WHERE path = ? AND machine = ?",
                arguments: [Data(record.rootPath), machine])
        else { return }
        let place = RootPlace(path: record.rootPath, machine: record.machine, time: record.time)
        let number: Int64 = try old.value(0)
        let new = try Catalogue.enterRoot(ofRecordAt: place, host: old.value(1), into: db)
        if new == number, record.shift == 0 { return }
        for root in [number, new] { try forgetChanges(ofRoot: root, in: db) }
        let tables = RecordKind.all.compactMap(\.ofRoots)
        for rows in tables {
            var sets = "root = ?1"
            var arguments: StatementArguments = [new, number]
            let isMoved: String
            switch rows.order {
            case .time(let columns):
                isMoved = "(\(columns)) <= (?3, ?4)"
                arguments += [record.time.seconds, record.time.nanoseconds]
            case .sequence:
                sets += ", sequence = MIN(sequence, \(Int64.max) - ?3) + ?3"
                isMoved = record.through == nil ? "(seconds, nanoseconds) <= (?4, ?5)" : "sequence <= ?4"
                arguments += [Int64(clamping: record.shift)]
                arguments +=
                    record.through.map { [Int64(clamping: $0)] } ?? [record.time.seconds, record.time.nanoseconds]
            }
            try db.execute(
                sql: "UPDATE OR REPLACE \(rows.table) SET \(sets) WHERE root = ?2 AND \(isMoved)", arguments: arguments)
        }
        for root in [number, new] { try Catalogue.recordSteps(ofRoot: root, in: db) }
        let uses = tables.map { "NOT EXISTS (SELECT 1 FROM \($0.table) WHERE root = ?1)" }
        try db.execute(
            sql: "DELETE FROM root WHERE id = ?1 AND \(uses.joined(separator: " AND "))", arguments: [number])
    }
}

extension StoredNotice {
    fileprivate static let columns =
        "id, path, machine, kind, seconds, nanoseconds, newPath, newMachine, through, shift"

    fileprivate init(_ row: Row) throws {
        let newPath: Data? = try row.optional(6)
        let newMachine: Data? = try row.optional(7)
        let through: Int64? = try row.optional(8)
        let shift: Int64 = try row.value(9)
        guard let id = ChunkID(try row.bytes(0)), let kind = RootNoticeKind(rawValue: try row.value(3)),
            let machine = MachineID(try row.bytes(2))
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        self.init(
            id: id,
            record: RootNotice(
                rootPath: try row.bytes(1), host: "", kind: kind, time: try row.time(seconds: 4, nanoseconds: 5),
                machine: machine, newPath: newPath.map { Array($0) },
                newMachine: newMachine.flatMap { MachineID(Array($0)) }, through: through.map { UInt64(clamping: $0) },
                shift: UInt64(clamping: shift)))
    }

    /// The notice as stored in the catalogue.
    package var withoutHost: StoredNotice {
        let record = RootNotice(
            rootPath: record.rootPath, host: "", kind: record.kind, time: record.time, machine: record.machine,
            newPath: record.newPath, newMachine: record.newMachine, through: record.through, shift: record.shift)
        return StoredNotice(id: id, record: record)
    }
}

extension StoredNotice: ListedRecord {
    var time: Timestamp { record.time }

    func insert(into db: Database, of catalogue: Catalogue) throws { try catalogue.insert(self, into: db) }
}

extension RecordKind {
    /// Notices of roots, with paths and machines as in the records.
    static let notices = RecordKind(
        schema: """
            CREATE TABLE notice (
                id BLOB PRIMARY KEY NOT NULL,
                path BLOB NOT NULL,
                machine BLOB NOT NULL,
                kind TEXT NOT NULL,
                seconds INTEGER NOT NULL,
                nanoseconds INTEGER NOT NULL,
                newPath BLOB,
                newMachine BLOB,
                through INTEGER,
                shift INTEGER NOT NULL
            ) WITHOUT ROWID;
            CREATE INDEX noticeByRoot ON notice (path, machine, seconds, nanoseconds);
            """, name: { "root notice \($0)" }
    ) { (record: RootNotice, found) in
        StoredNotice(id: found.id, record: record)
    }
}
