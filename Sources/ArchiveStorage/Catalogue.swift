// The SQLite index of the segments: where chunks are, which snapshots there are. It holds nothing that the segments
// do not hold, so it can be deleted at any time.

internal import ArchiveFormat
internal import FileIO
internal import Foundation
internal import GRDB
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
    /// Nil where the catalogue is in memory.
    private let checkpoints: CatalogueCheckpoints?

    /// How long to wait for another process that is writing, in seconds.
    private static let patience: Double = 60

    /// Opens the catalogue at `path`, made anew where it is missing.
    ///
    /// - Throws: `StorageError` where the file cannot be opened or is no usable catalogue.
    package init(at path: FilePath) throws(StorageError) {
        self.path = path
        checkpoints = CatalogueCheckpoints(path)
        var configuration = Configuration()
        configuration.busyMode = .timeout(Catalogue.patience)
        configuration.journalMode = .wal
        configuration.prepareDatabase { db in
            try db.execute(
                sql: """
                    PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY;
                    PRAGMA wal_autocheckpoint = 0
                    """)
        }
        do {
            queue = try DatabaseQueue(path: path.string, configuration: configuration)
            try Catalogue.migrator.migrate(queue)
        } catch {
            throw Catalogue.failure(error, path)
        }
    }

    /// A catalogue in memory, for an archive that cannot be written to.
    ///
    /// - Parameter archive: the archive's directory, for errors.
    package init(inMemoryFor archive: FilePath) throws(StorageError) {
        path = archive
        checkpoints = nil
        do {
            queue = try DatabaseQueue()
            try Catalogue.migrator.migrate(queue)
        } catch {
            throw Catalogue.failure(error, archive)
        }
    }

    deinit {
        // Then closing the last connection leaves no log behind.
        finishCheckpoints()
    }

    /// Waits until the log is as short as it is to be kept.
    package func finishCheckpoints() {
        checkpoints?.end()
    }

    /// Deletes the catalogue at `path` with its journal.
    package static func delete(at path: FilePath) {
        for suffix in ["", "-wal", "-shm"] {
            _ = try? FileManager.default.removeItem(atPath: path.string + suffix)
        }
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("segments, chunks, roots, snapshots") { db in
            try db.execute(
                sql: """
                    CREATE TABLE segment (
                        id INTEGER PRIMARY KEY,
                        path TEXT NOT NULL UNIQUE,
                        indexedLength INTEGER NOT NULL,
                        isSealed INTEGER NOT NULL
                    );
                    CREATE TABLE chunk (
                        id BLOB PRIMARY KEY NOT NULL,
                        location INTEGER NOT NULL
                    ) WITHOUT ROWID;
                    CREATE TABLE root (
                        id INTEGER PRIMARY KEY,
                        path BLOB NOT NULL,
                        host TEXT NOT NULL,
                        UNIQUE (path, host)
                    );
                    CREATE TABLE snapshot (
                        id BLOB PRIMARY KEY NOT NULL,
                        root INTEGER NOT NULL REFERENCES root,
                        seconds INTEGER NOT NULL,
                        nanoseconds INTEGER NOT NULL,
                        cause TEXT NOT NULL,
                        label TEXT,
                        parent BLOB,
                        tree BLOB NOT NULL,
                        files INTEGER NOT NULL,
                        directories INTEGER NOT NULL,
                        others INTEGER NOT NULL,
                        bytes INTEGER NOT NULL,
                        added INTEGER NOT NULL,
                        modified INTEGER NOT NULL,
                        removed INTEGER NOT NULL,
                        problems INTEGER NOT NULL,
                        storedBytes INTEGER NOT NULL
                    ) WITHOUT ROWID;
                    CREATE INDEX snapshotByTime ON snapshot (root, seconds, nanoseconds);
                    CREATE INDEX snapshotByLabel ON snapshot (label) WHERE label IS NOT NULL;
                    """)
        }
        migrator.registerMigration("gaps") { db in
            // The detail is UTF-8 as a blob: SQLite's texts end at a NUL.
            try db.execute(
                sql: """
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
                    """)
        }
        migrator.registerMigration("saved states") { db in
            try db.execute(
                sql: """
                    CREATE TABLE state (
                        id BLOB PRIMARY KEY NOT NULL,
                        title BLOB NOT NULL,
                        host TEXT NOT NULL,
                        seconds INTEGER NOT NULL,
                        nanoseconds INTEGER NOT NULL,
                        label BLOB,
                        type BLOB NOT NULL,
                        version INTEGER NOT NULL,
                        bytes INTEGER NOT NULL,
                        storedBytes INTEGER NOT NULL
                    ) WITHOUT ROWID;
                    CREATE INDEX stateByTitle ON state (title, seconds, nanoseconds);
                    CREATE INDEX stateByLabel ON state (label) WHERE label IS NOT NULL;
                    CREATE TABLE forgotten (id BLOB PRIMARY KEY NOT NULL) WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("operations") { db in
            try db.execute(
                sql: """
                    CREATE TABLE operation (
                        id BLOB PRIMARY KEY NOT NULL,
                        root INTEGER NOT NULL REFERENCES root,
                        kind TEXT NOT NULL,
                        seconds INTEGER NOT NULL,
                        nanoseconds INTEGER NOT NULL,
                        "before" BLOB,
                        snapshot BLOB,
                        path BLOB NOT NULL,
                        target BLOB
                    ) WITHOUT ROWID;
                    CREATE INDEX operationByTime ON operation (root, seconds, nanoseconds);
                    """)
        }
        migrator.registerMigration("snapshots of all roots by time") { db in
            // With it the newest of a hundred thousand are there at once; without it all are sorted.
            try db.execute(sql: "CREATE INDEX snapshotOfAnyRootByTime ON snapshot (seconds, nanoseconds)")
        }
        migrator.registerMigration("snapshots in the order of time") { db in
            // Lists go through rows that lie side by side. Labels are blobs, as states have them.
            try db.execute(
                sql: """
                    CREATE TABLE snapshotInOrder (
                        root INTEGER NOT NULL REFERENCES root,
                        seconds INTEGER NOT NULL,
                        nanoseconds INTEGER NOT NULL,
                        id BLOB NOT NULL,
                        added INTEGER NOT NULL,
                        modified INTEGER NOT NULL,
                        removed INTEGER NOT NULL,
                        bytes INTEGER NOT NULL,
                        storedBytes INTEGER NOT NULL,
                        cause TEXT NOT NULL,
                        label BLOB,
                        problems INTEGER NOT NULL,
                        files INTEGER NOT NULL,
                        directories INTEGER NOT NULL,
                        others INTEGER NOT NULL,
                        parent BLOB,
                        tree BLOB NOT NULL,
                        PRIMARY KEY (root, seconds, nanoseconds, id)
                    ) WITHOUT ROWID;
                    INSERT INTO snapshotInOrder
                        SELECT root, seconds, nanoseconds, id, added, modified, removed, bytes, storedBytes, cause,
                            CAST(label AS BLOB), problems, files, directories, others, parent, tree
                        FROM snapshot ORDER BY root, seconds, nanoseconds, id;
                    DROP TABLE snapshot;
                    ALTER TABLE snapshotInOrder RENAME TO snapshot;
                    CREATE UNIQUE INDEX snapshotByID ON snapshot (id);
                    CREATE INDEX snapshotOfAnyRootByTime ON snapshot (seconds, nanoseconds, id);
                    CREATE INDEX snapshotByLabel ON snapshot (label, seconds, nanoseconds, id)
                        WHERE label IS NOT NULL;
                    """)
        }
        return migrator
    }

    /// Runs `body`, one statement that reads; a transaction around it would cost more than the statement.
    func read<Result>(_ body: (Database) throws -> Result) throws(StorageError) -> Result {
        do { return try queue.unsafeRead(body) } catch { throw Catalogue.failure(error, path) }
    }

    /// Runs `body` in one transaction.
    func write<Result>(_ body: (Database) throws -> Result) throws(StorageError) -> Result {
        counters.transactions.add()
        do {
            let (result, changes) = try queue.write { db in
                let before = db.totalChangesCount
                return (try body(db), db.totalChangesCount - before)
            }
            checkpoints?.note(changes: changes)
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
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH:
            return StorageError(.damaged, path, message, remedy: "run 'archiver repair --catalogue'")
        default:
            return StorageError(.system, path, message, remedy: "run 'archiver repair --catalogue' if this stays")
        }
    }
}
