// Copies of the catalogue: made while others use it, and loaded into memory where an archive is only read.

package import ArchiveFormat
package import FileIO
internal import GRDB
internal import GRDBSQLite
internal import Glibc
package import SystemPackage

/// A copy of the catalogue, and of archive.json.
package struct CatalogueCopy: Sendable {
    package let manifest: ArchiveManifest
    /// An SQLite database.
    package let database: [UInt8]

    /// The longest database that is loaded; SQLite's own limit for one in memory is a GiB.
    package static let databaseLimit = 512 << 20

    package init(manifest: ArchiveManifest, database: [UInt8]) {
        self.manifest = manifest
        self.database = database
    }

    /// Where the header of a database has the versions for writing and reading (sqlite.org/fileformat2.html, 1.3).
    private static let versions = 18...19
    private static let versionWithoutLog: UInt8 = 1
    private static let headerBytes = 100

    /// Makes an empty database that is in memory have the content of `database`.
    static func load(_ database: [UInt8], into db: Database) throws {
        let count = database.count
        guard count >= headerBytes, count <= databaseLimit, let room = sqlite3_malloc64(sqlite3_uint64(count)) else {
            throw DatabaseError(resultCode: .SQLITE_NOTADB)
        }
        database.withUnsafeBytes { room.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(room), byteCount: count) }
        // There is no write-ahead log in memory.
        for place in versions { room.storeBytes(of: versionWithoutLog, toByteOffset: place, as: UInt8.self) }
        // SQLite frees the room, also if it refuses it (sqlite.org/c3ref/deserialize.html).
        let result = sqlite3_deserialize(
            db.sqliteConnection, "main", room.assumingMemoryBound(to: UInt8.self), Int64(count), Int64(count),
            UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE))
        guard result == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: result)) }
    }
}

extension ArchiveStore {
    /// Copies the catalogue, as it is at one moment, into a file that only its owner may read; an older one is removed.
    ///
    /// It has a connection of its own: neither readers nor writers of the catalogue wait for it.
    package func copyCatalogue(to file: EnclosedPath) throws(StorageError) {
        do {
            _ = try file.remove()
            _ = try file.openOrCreate(O_WRONLY)
            var configuration = Configuration.usual
            configuration.busyMode = .callback(Catalogue.wait)
            let queue = try DatabaseQueue(path: catalogue.path.string, configuration: configuration)
            try queue.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [file.path.string]) }
        } catch let error as FileError {
            throw StorageError(error)
        } catch {
            throw StorageError(.system, file.path, "the catalogue cannot be copied: \(error)")
        }
    }

    /// The segments that a copy of the catalogue lists.
    package static func segments(ofCatalogueAt path: FilePath) throws(StorageError) -> [ListedSegment] {
        do {
            var configuration = Configuration.usual
            configuration.readonly = true
            return try DatabaseQueue(path: path.string, configuration: configuration).read { db in
                try Row.fetchAll(db, sql: "SELECT \(ListedSegment.columns) FROM segment ORDER BY path")
                    .map(ListedSegment.init)
            }
        } catch { throw StorageError(.system, path, "the copy of the catalogue cannot be read: \(error)") }
    }
}
