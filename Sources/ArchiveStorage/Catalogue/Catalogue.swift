// The SQLite index of the segments: where chunks are, and which records there are. It can be rebuilt from the segments,
// so it can be deleted at any time.

internal import ArchiveFormat
internal import Dispatch
internal import FileIO
internal import GRDB
internal import GRDBSQLite
internal import Glibc
internal import Synchronization
package import SystemPackage
internal import Threading

/// The index of an archive's segments.
///
/// It has one connection, used by one thread at a time; other processes use their own connections. Commits are not
/// synced to disk one by one: after a power failure the newest rows may be missing and are read from the segments
/// again.
package final class Catalogue: Sendable {
    /// The connection; nil once it is closed.
    ///
    /// A use that is running when it is closed keeps it open until its end.
    private let connection: Locked<DatabaseQueue?>
    /// The work of the archive object that this catalogue belongs to.
    let counters = StorageCounters()
    /// The database file; the archive's directory if the catalogue is in memory.
    let path: FilePath
    /// The identity of the file; nil if the catalogue is in memory.
    private let file: FileIdentity?
    /// Nil if the catalogue is in memory.
    let checkpoints: CatalogueCheckpoints?
    /// Whether the cache of pages has the size for changing many rows.
    private let hasLargeCache = Atomic(false)

    /// Sizes of the cache of pages in KiB, and up to how many changed rows it is the small one.
    private static let (smallCache, largeCache, fewRows) = (2_048, 16_384, 1_000)

    /// The mode in which free pages are given back on demand (sqlite.org/pragma.html#pragma_auto_vacuum).
    private static let incrementalVacuum = 2

    /// Waits for another process that is writing.
    ///
    /// Most writes take well under a millisecond. SQLite's own handler sleeps for whole milliseconds, longer each time.
    ///
    /// - Parameter attempt: the number of earlier waits for the same lock.
    /// - Returns: false after a minute.
    static func wait(_ attempt: Int) -> Bool {
        switch attempt {
        case ..<100: usleep(50)
        case ..<1000: usleep(1000)
        case ..<7000: usleep(10_000)
        default: return false
        }
        return true
    }

    /// Opens the catalogue at `path`; creates it if it is missing.
    ///
    /// - Throws: `StorageError` if the file cannot be opened or is no usable catalogue.
    package init(at path: FilePath) throws(StorageError) {
        self.path = path
        checkpoints = CatalogueCheckpoints(path)
        var configuration = Configuration.usual
        configuration.busyMode = .callback(Catalogue.wait)
        configuration.prepareDatabase { db in
            Catalogue.limit(db)
            do {
                // Setting it writes, even if it is set already: a command that only reads would sync the file.
                if try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") != Catalogue.incrementalVacuum {
                    try db.execute(sql: "PRAGMA auto_vacuum = \(Catalogue.incrementalVacuum)")
                }
                // The journal is set here, not by the configuration, which would write, too; and only here a failure can
                // be explained.
                try db.execute(
                    sql: """
                        PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 0;
                        PRAGMA cache_size = -\(Catalogue.smallCache); PRAGMA journal_mode = WAL
                        """)
            } catch {
                throw Catalogue.explained(error, db)
            }
        }
        try Catalogue.prepareFiles(at: path)
        do {
            let queue = try DatabaseQueue(path: path.string, configuration: configuration)
            try queue.writeWithoutTransaction { db in
                do { try CatalogueSchema.prepare(db) } catch { throw Catalogue.explained(error, db) }
            }
            connection = Locked(queue)
        } catch {
            throw Catalogue.failure(error, path)
        }
        // SQLite gives its side files the permissions of the database, but not always the group.
        for file in Catalogue.files(at: path) { file.passOn() }
        file = FileIdentity(at: path)
    }

    /// Whether the file is still the one at its path; otherwise other processes write to another file.
    func isInPlace() throws(StorageError) -> Bool {
        guard let file else { return true }
        return try storing { () throws(FileError) in try FileIdentity.find(path) } == file
    }

    /// A catalogue in memory, for an archive that cannot be written to.
    ///
    /// - Parameters:
    ///   - archive: the archive's directory, for errors.
    ///   - database: an earlier copy of the catalogue; nil for an empty one.
    package init(inMemoryFor archive: FilePath, beginningWith database: [UInt8]? = nil) throws(StorageError) {
        path = archive
        file = nil
        checkpoints = nil
        do {
            var configuration = Configuration.usual
            configuration.prepareDatabase { Catalogue.limit($0) }
            let queue = try DatabaseQueue(configuration: configuration)
            try queue.writeWithoutTransaction { db in
                if let database { try CatalogueCopy.load(database, into: db) }
                try CatalogueSchema.prepare(db)
            }
            connection = Locked(queue)
        } catch {
            throw Catalogue.failure(error, archive)
        }
    }

    /// Makes SQLite reject rows larger than any block can require (sqlite.org/c3ref/limit.html).
    private static func limit(_ db: Database) {
        sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_LENGTH, 2 * CInt(BlockHeader.rawLengthLimit))
    }

    /// The first connection that was closed in this process.
    ///
    /// It is kept to the process's end: releasing it starts threads, which takes a tenth of the time of a short command.
    private static let closed = Locked<DatabaseQueue?>(nil)

    deinit {
        // Afterwards, closing the last connection leaves no log behind.
        finishCheckpoints()
        guard let queue = connection.withLock({ $0 }), (try? queue.close()) != nil else { return }
        Catalogue.closed.withLock { $0 = $0 ?? queue }
    }

    /// Waits for running checkpoints, then makes one if the log is long.
    package func finishCheckpoints() {
        checkpoints?.end()
    }

    /// Closes the database; later uses fail.
    func close() {
        finishCheckpoints()
        connection.withLock { $0 = nil }
    }

    /// Releases the pages and statements that SQLite caches.
    func releaseMemory() { connection.withLock { $0 }?.releaseMemory() }

    private func queue() throws(StorageError) -> DatabaseQueue {
        guard let queue = connection.withLock({ $0 }) else {
            throw StorageError.replaced(path.removingLastComponent())
        }
        return queue
    }

    /// The database and its side files (sqlite.org/tempfiles.html).
    private static func files(at path: FilePath) -> [EnclosedPath] {
        ["", "-wal", "-shm", "-journal"].map { EnclosedPath(file: FilePath(path.string + $0)) }
    }

    /// Creates the database file, empty, if it is missing: SQLite would let everyone read it.
    ///
    /// Throws unless the paths are regular files or missing: SQLite would wait at a FIFO, and follow a link.
    ///
    /// The files are not opened for the check. Closing them would release the locks of other connections in this
    /// process, and two processes could write at the same time (sqlite.org/howtocorrupt.html, 2.2).
    private static func prepareFiles(at path: FilePath) throws(StorageError) {
        for file in files(at: path) {
            do throws(FileError) {
                if file.path == path, try file.status == nil { _ = try file.openOrCreate(O_RDWR) }
                try file.check()
            } catch {
                if error.code == .noSuchFileOrDirectory { continue }
                guard error.code == .notSupported else { throw StorageError(error) }
                throw StorageError(.damaged, path, error.description, remedy: "remove it")
            }
        }
    }

    /// Deletes the catalogue at `path` with its journals.
    package static func delete(at path: FilePath) {
        for file in files(at: path) { _ = try? file.remove() }
    }

    /// Runs `body`, one statement that reads; a transaction around it would cost more than the statement.
    func read<Result>(_ body: (Database) throws -> Result) throws(StorageError) -> Result {
        counters.questions.add()
        do { return try queue().unsafeRead(body) } catch { throw failure(error) }
    }

    /// Runs `body`, several statements that read one state of the catalogue, even if other processes write.
    func readTogether<Result>(_ body: (Database) throws -> Result) throws(StorageError) -> Result {
        counters.questions.add()
        do { return try queue().read(body) } catch { throw failure(error) }
    }

    /// A number that differs after each change by any connection
    /// (<https://www.sqlite.org/pragma.html#pragma_data_version>).
    package func changeNumber() throws(StorageError) -> ChangeNumber {
        try read { db in
            ChangeNumber(own: db.totalChangesCount, others: try Int.fetchOne(db, sql: "PRAGMA data_version") ?? 0)
        }
    }

    /// Runs `body` in one transaction.
    ///
    /// - Parameter rows: how many rows it changes, where they may be many.
    func write<Result>(rows: Int? = nil, _ body: (Database) throws -> Result) throws(StorageError) -> Result {
        counters.transactions.add()
        do {
            let (result, changes) = try queue().write { db in
                if let rows { try provideCache(forRows: rows, in: db) }
                let before = db.totalChangesCount
                return (try body(db), db.totalChangesCount - before)
            }
            checkpoints?.record(changes: changes)
            return result
        } catch {
            throw failure(error)
        }
    }

    /// Gives the cache of pages a size for changing so many rows.
    ///
    /// Ids are spread over the table, so many need a larger cache. Small commits and lists do not, and a watcher keeps the
    /// pages for as long as it lives.
    private func provideCache(forRows rows: Int, in db: Database) throws {
        let isLarge = rows > Catalogue.fewRows
        guard hasLargeCache.exchange(isLarge, ordering: .relaxed) != isLarge else { return }
        try db.execute(sql: "PRAGMA cache_size = -\(isLarge ? Catalogue.largeCache : Catalogue.smallCache)")
    }

    /// Gives back the room of the log; waits a minute at most for processes that are reading.
    func truncateLog() {
        _ = try? queue().writeWithoutTransaction { db in try db.checkpoint(.truncate) }
    }

    /// The error; for SQLite, a quota that is used up is an I/O error like any other, and here a full disk.
    private static func explained(_ error: any Error, _ db: Database) -> any Error {
        guard let known = error as? DatabaseError, [.SQLITE_IOERR, .SQLITE_CANTOPEN].contains(known.resultCode),
            sqlite3_system_errno(db.sqliteConnection) == EDQUOT
        else { return error }
        return DatabaseError(resultCode: .SQLITE_FULL, message: "the disk quota is used up")
    }

    private func failure(_ error: any Error) -> StorageError {
        let queue = connection.withLock { $0 }
        let explained = queue?.unsafeRead { db in Catalogue.explained(error, db) }
        return Catalogue.failure(explained ?? error, path)
    }

    private static func failure(_ error: any Error, _ path: FilePath) -> StorageError {
        guard let error = error as? DatabaseError else {
            return error as? StorageError ?? StorageError(.system, path, "cannot use the catalogue \(path): \(error)")
        }
        let reason = error.message ?? "SQLite error \(error.extendedResultCode.rawValue)"
        let message = "cannot use the catalogue \(path): \(reason)"
        switch error.extendedResultCode {
        case .SQLITE_FULL, .SQLITE_IOERR_SHMSIZE:
            return StorageError(.noSpace, path, message, remedy: "free some space on that file system and try again")
        case .SQLITE_CANTOPEN where hasNoRoomForFiles(beside: path):
            return StorageError(
                .noSpace, path, "cannot use the catalogue \(path): its disk has no room for another file",
                remedy: "remove some files on that file system and try again")
        case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM:
            return StorageError(.readOnly, path, message, remedy: StorageError.remedyForRefusal)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG:
            return StorageError(.damaged, path, message, remedy: Advice.rebuildCatalogue.text)
        default:
            return StorageError(.system, path, message, remedy: Advice.rebuildIfThisPersists.text)
        }
    }

    /// Whether the file system of the catalogue has no space or no inodes for SQLite's log and its index.
    private static func hasNoRoomForFiles(beside path: FilePath) -> Bool {
        guard let folder = try? Descriptor.open(path.removingLastComponent(), O_RDONLY | O_DIRECTORY) else {
            return false
        }
        return (try? FileSystem.hasRoom(forFiles: 2, of: folder)) == false
    }
}

/// A value that differs after every change of a catalogue, over this connection or another.
package struct ChangeNumber: Sendable, Hashable, CustomStringConvertible {
    fileprivate let own: Int
    fileprivate let others: Int

    package var description: String { "\(own).\(others)" }
}

extension Configuration {
    /// A configuration with the usual priority: GRDB's own is higher, which the system refuses to most users and logs.
    static var usual: Configuration {
        var configuration = Configuration()
        configuration.qos = .default
        return configuration
    }
}
