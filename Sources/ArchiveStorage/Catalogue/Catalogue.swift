// The SQLite index of the segments: where chunks are, which snapshots there are. It holds nothing that the segments
// do not hold, so it can be deleted at any time.

internal import ArchiveFormat
internal import FileIO
internal import GRDB
internal import GRDBSQLite
internal import Glibc
internal import Synchronization
package import SystemPackage

/// The index of an archive's segments.
///
/// One connection, used by one thread at a time; other processes use connections of their own. Commits are not synced
/// to disk one by one: after a power failure the newest rows may be gone, and are read from the segments again.
package final class Catalogue: Sendable {
    let queue: DatabaseQueue
    /// The work of the archive object that this catalogue is of.
    let counters = StorageCounters()
    /// The database file; the archive's directory where the catalogue is in memory.
    let path: FilePath
    /// Which file it is; nil where the catalogue is in memory.
    private let file: FileIdentity?
    /// Nil where the catalogue is in memory.
    let checkpoints: CatalogueCheckpoints?
    /// Whether anything was written over this connection.
    private let isWriting = Atomic(false)

    /// Waits for another process that is writing.
    ///
    /// What is written takes well under a millisecond mostly; SQLite's own handler sleeps for whole ones, more each time.
    ///
    /// - Parameter attempt: how often that was done already for the same lock.
    /// - Returns: false after a minute.
    private static func wait(_ attempt: Int) -> Bool {
        switch attempt {
        case ..<100: usleep(50)
        case ..<1000: usleep(1000)
        case ..<7000: usleep(10_000)
        default: return false
        }
        return true
    }

    /// Opens the catalogue at `path`, made anew where it is missing.
    ///
    /// - Throws: `StorageError` where the file cannot be opened or is no usable catalogue.
    package init(at path: FilePath) throws(StorageError) {
        self.path = path
        checkpoints = CatalogueCheckpoints(path)
        var configuration = Configuration()
        configuration.busyMode = .callback(Catalogue.wait)
        configuration.journalMode = .wal
        configuration.prepareDatabase { db in
            Catalogue.limit(db)
            try db.execute(
                sql: """
                    PRAGMA auto_vacuum = INCREMENTAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 0;
                    PRAGMA cache_size = -2048
                    """)
        }
        try Catalogue.checkFiles(at: path)
        do {
            queue = try DatabaseQueue(path: path.string, configuration: configuration)
            try queue.writeWithoutTransaction { try CatalogueSchema.prepare($0) }
        } catch {
            throw Catalogue.failure(error, path)
        }
        file = FileIdentity(at: path)
    }

    /// Whether its path still leads to it: what others enter is in another file else.
    func isInPlace() throws(StorageError) -> Bool {
        guard let file else { return true }
        return try storing { () throws(FileError) in try FileIdentity.find(path) } == file
    }

    /// A catalogue in memory, for an archive that cannot be written to.
    ///
    /// - Parameter archive: the archive's directory, for errors.
    package init(inMemoryFor archive: FilePath) throws(StorageError) {
        path = archive
        file = nil
        checkpoints = nil
        do {
            var configuration = Configuration()
            configuration.prepareDatabase { Catalogue.limit($0) }
            queue = try DatabaseQueue(configuration: configuration)
            try queue.writeWithoutTransaction { try CatalogueSchema.prepare($0) }
        } catch {
            throw Catalogue.failure(error, archive)
        }
    }

    /// Has SQLite refuse rows that nothing in a block can be the reason for (sqlite.org/c3ref/limit.html).
    private static func limit(_ db: Database) {
        sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_LENGTH, 2 * CInt(BlockHeader.rawLengthLimit))
    }

    deinit {
        // Then closing the last connection leaves no log behind.
        finishCheckpoints()
    }

    /// Waits until the log is as short as it is to be kept.
    package func finishCheckpoints() {
        checkpoints?.end()
    }

    /// Closes the database: what uses it from now on fails.
    func close() throws(StorageError) {
        finishCheckpoints()
        do { try queue.close() } catch { throw Catalogue.failure(error, path) }
    }

    /// The database and what SQLite keeps beside it (sqlite.org/tempfiles.html).
    private static func files(at path: FilePath) -> [FilePath] {
        ["", "-wal", "-shm", "-journal"].map { FilePath(path.string + $0) }
    }

    /// Refuses to have SQLite open anything but files: it would wait at a FIFO.
    ///
    /// They are not opened for that: another connection of this process would lose its locks, and the next process would
    /// write into the middle of what this one writes (sqlite.org/howtocorrupt.html, 2.2).
    private static func checkFiles(at path: FilePath) throws(StorageError) {
        for file in files(at: path) {
            do { try Descriptor.checkFile(at: file) } catch {
                if error.code == .noSuchFileOrDirectory { continue }
                guard error.code == .notSupported else { throw StorageError(error) }
                throw StorageError(.damaged, path, error.description, remedy: "remove what is there")
            }
        }
    }

    /// Deletes the catalogue at `path` with its journals.
    package static func delete(at path: FilePath) {
        for file in files(at: path) { unlink(file.string) }
    }

    /// Runs `body`, one statement that reads; a transaction around it would cost more than the statement.
    func read<Result>(_ body: (Database) throws -> Result) throws(StorageError) -> Result {
        counters.questions.add()
        do { return try queue.unsafeRead(body) } catch { throw Catalogue.failure(error, path) }
    }

    /// Runs `body`, several statements that read one state of the catalogue, whoever writes meanwhile.
    func readTogether<Result>(_ body: (Database) throws -> Result) throws(StorageError) -> Result {
        counters.questions.add()
        do { return try queue.read(body) } catch { throw Catalogue.failure(error, path) }
    }

    /// Another number after each change, whoever made it (<https://www.sqlite.org/pragma.html#pragma_data_version>).
    package func changeNumber() throws(StorageError) -> ChangeNumber {
        try read { db in
            ChangeNumber(own: db.totalChangesCount, others: try Int.fetchOne(db, sql: "PRAGMA data_version") ?? 0)
        }
    }

    /// Runs `body` in one transaction.
    func write<Result>(_ body: (Database) throws -> Result) throws(StorageError) -> Result {
        counters.transactions.add()
        do {
            let (result, changes) = try queue.write { db in
                // Ids come from all over the table; lists read each page once, and fresh memory costs more than that.
                if !isWriting.exchange(true, ordering: .relaxed) {
                    try db.execute(sql: "PRAGMA cache_size = -16384")
                }
                let before = db.totalChangesCount
                return (try body(db), db.totalChangesCount - before)
            }
            checkpoints?.record(changes: changes)
            return result
        } catch {
            throw Catalogue.failure(error, path)
        }
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
        case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM:
            return StorageError(.readOnly, path, message, remedy: "make the archive's directory writable")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG:
            return StorageError(.damaged, path, message, remedy: "run 'archiver repair --catalogue'")
        default:
            return StorageError(.system, path, message, remedy: "run 'archiver repair --catalogue' if this stays")
        }
    }
}

/// How often a catalogue was changed, over one connection and over all others.
package struct ChangeNumber: Sendable, Hashable {
    fileprivate let own: Int
    fileprivate let others: Int
}
