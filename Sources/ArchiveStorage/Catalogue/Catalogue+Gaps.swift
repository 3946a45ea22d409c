// The catalogue's gaps.

package import ArchiveFormat
package import FileIO
internal import Foundation
internal import GRDB

/// A gap and the chunk that holds it.
package struct ListedGap: Sendable, Hashable {
    package let id: ChunkID
    package let record: GapRecord

    init(id: ChunkID, record: GapRecord) {
        self.id = id
        self.record = record
    }

    /// A gap to be stored; equal gaps have equal ids.
    init(_ record: GapRecord) {
        self.init(id: ChunkID(hashing: record.encoded()), record: record)
    }
}

extension Catalogue {
    /// The gaps that overlap the time from `since` to `until`, by start.
    ///
    /// - Parameters:
    ///   - root: only gaps of this root, by its number.
    ///   - since: only gaps that end at this time or after.
    ///   - until: only gaps that start at this time or before.
    package func gaps(
        root: Int64? = nil, since: Timestamp? = nil, until: Timestamp? = nil
    ) throws(StorageError) -> [GapRecord] {
        var conditions: [String] = []
        var arguments = StatementArguments()
        if let root {
            conditions.append("gap.root = ?")
            arguments += [root]
        }
        if let since {
            conditions.append("(endSeconds, endNanoseconds) >= (?, ?)")
            arguments += [since.seconds, since.nanoseconds]
        }
        if let until {
            conditions.append("(startSeconds, startNanoseconds) <= (?, ?)")
            arguments += [until.seconds, until.nanoseconds]
        }
        let restriction = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        let sql = """
            SELECT root.path, root.host, cause, startSeconds, startNanoseconds, endSeconds, endNanoseconds, detail,
                root.machine
            FROM gap JOIN root ON root.id = gap.root
            \(restriction)
            ORDER BY startSeconds, startNanoseconds, endSeconds, endNanoseconds, gap.id
            """
        return try read { db in
            var gaps: [GapRecord] = []
            var paths = Repeated<[UInt8]>()
            var hosts = Repeated<String>()
            var causes = Repeated<GapCause>()
            var machines = Repeated<MachineID>()
            try db.cachedStatement(sql: sql).forEachRow(arguments) { row in
                let cause = try causes.value(of: row.bytes(2)) {
                    guard let cause = GapCause(rawValue: try row.text(2)) else {
                        throw DatabaseError(resultCode: .SQLITE_CORRUPT)
                    }
                    return cause
                }
                let gap = GapRecord(
                    rootPath: paths.value(of: row.bytes(0)) { Array(row.bytes(0)) },
                    host: try hosts.value(of: row.bytes(1)) { try row.text(1) }, cause: cause,
                    start: try row.time(seconds: 3, nanoseconds: 4), end: try row.time(seconds: 5, nanoseconds: 6),
                    detail: row.isNull(7) ? nil : String(decoding: row.bytes(7), as: UTF8.self),
                    machine: machines.value(of: row.bytes(8)) { MachineID(Array(row.bytes(8))) ?? .unknown })
                gaps.append(gap)
                return true
            }
            return gaps
        }
    }

    /// Whether the gap in the chunk `id` is listed.
    func hasGap(_ id: ChunkID) throws(StorageError) -> Bool {
        try read { db in
            try Row.fetchOne(db, sql: "SELECT 1 FROM gap WHERE id = ?", arguments: [Data(id.bytes)]) != nil
        }
    }

    func insert(_ gap: ListedGap, into db: Database) throws {
        let record = gap.record
        let place = RootPlace(path: record.rootPath, machine: record.machine, time: record.start)
        let root = try Catalogue.enterRoot(ofRecordAt: place, host: record.host, into: db)
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO gap VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
            .run([
                .id(gap.id), .integer(root), .text(record.cause.rawValue), .integer(record.start.seconds),
                .integer(Int64(record.start.nanoseconds)), .integer(record.end.seconds),
                .integer(Int64(record.end.nanoseconds)), CatalogueValue(record.detail.map { Array($0.utf8) }),
            ])
    }
}

extension ListedGap: ListedRecord {
    var time: Timestamp { record.start }

    func insert(into db: Database, of catalogue: Catalogue) throws { try catalogue.insert(self, into: db) }
}

extension RecordKind {
    static let gaps = RecordKind(
        schema: """
            CREATE TABLE gap (
                id BLOB PRIMARY KEY NOT NULL,
                root INTEGER NOT NULL REFERENCES root,
                cause TEXT NOT NULL,
                startSeconds INTEGER NOT NULL,
                startNanoseconds INTEGER NOT NULL,
                endSeconds INTEGER NOT NULL,
                endNanoseconds INTEGER NOT NULL,
                detail BLOB
            ) WITHOUT ROWID;
            CREATE INDEX gapByStart ON gap (root, startSeconds, startNanoseconds);
            """, ofRoots: .init(table: "gap", order: .time("startSeconds, startNanoseconds")), name: { "gap \($0)" }
    ) { (record: GapRecord, found) in
        ListedGap(id: found.id, record: record)
    }
}
