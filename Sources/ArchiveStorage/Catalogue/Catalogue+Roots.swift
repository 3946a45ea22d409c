// The catalogue's roots.

package import ArchiveFormat
internal import FileIO
internal import Foundation
internal import GRDB

/// A root that has records.
package struct ListedRoot: Sendable, Hashable {
    /// The root's number in this catalogue.
    package let number: Int64
    /// The root's absolute path, as bytes.
    package let path: [UInt8]
    package let machine: MachineID
    /// The machine's name when the latest snapshot was made.
    package let host: String

    init(_ row: Row) throws {
        number = try row.value(0)
        path = try row.bytes(1)
        machine = MachineID(try row.bytes(2)) ?? .unknown
        host = try row.value(3)
    }

    static let columns = "id, path, machine, host"
}

extension Catalogue {
    /// The roots that have snapshots, by path.
    package func roots() throws(StorageError) -> [ListedRoot] {
        let sql = """
            SELECT \(ListedRoot.columns) FROM root
            WHERE EXISTS (SELECT 1 FROM snapshot WHERE snapshot.root = root.id)
            ORDER BY path, host, machine
            """
        return try read { db in try Row.fetchAll(db, sql: sql).map(ListedRoot.init) }
    }

    /// The root with this number; nil if there is none.
    static func root(_ number: Int64, in db: Database) throws -> ListedRoot? {
        let sql = "SELECT \(ListedRoot.columns) FROM root WHERE id = ?"
        return try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [number]).map(ListedRoot.init)
    }

    /// The root at `path` on `machine`; nil if it has no records.
    package func root(path: [UInt8], machine: MachineID) throws(StorageError) -> ListedRoot? {
        let sql = "SELECT \(ListedRoot.columns) FROM root WHERE path = ? AND machine = ?"
        return try read { db in
            try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [Data(path), Data(machine.bytes)])
                .map(ListedRoot.init)
        }
    }

    /// The number of the root of a record that was entered at `place`; enters the root if it is new.
    static func enterRoot(ofRecordAt place: RootPlace, host: String, into db: Database) throws -> Int64 {
        try enterRoot(present(place, in: db), host: host, into: db)
    }

    /// The number of the root that is at `place` now; enters the root if it is new.
    static func enterRoot(_ place: RootPlace, host: String, into db: Database) throws -> Int64 {
        let place: [CatalogueValue] = [.blob(place.path), .blob(place.machine.bytes)]
        let known = try db.cachedStatement(sql: "SELECT id FROM root WHERE path = ? AND machine = ?")
        if let number = try known.firstRow(place, { $0.integer(0) }) { return number }
        try db.cachedStatement(sql: "INSERT INTO root (path, machine, host) VALUES (?, ?, ?)").run(
            place + [.text(host)])
        return db.lastInsertedRowID
    }

    /// Records the name of a root's machine from a snapshot, unless a later snapshot exists.
    func recordHost(_ host: String, ofRoot number: Int64, at sequence: Int64, in db: Database) throws {
        let named = try db.cachedStatement(sql: "SELECT 1 FROM root WHERE id = ? AND host = ?")
        if try Int64.fetchOne(named, arguments: [number, host]) != nil { return }
        try db.execute(
            sql: """
                UPDATE root SET host = ?2
                WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM snapshot WHERE root = ?1 AND sequence > ?3)
                """, arguments: [number, host, sequence])
    }
}
