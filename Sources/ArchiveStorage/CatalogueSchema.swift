// The tables of the catalogue.

internal import GRDB

/// What the catalogue keeps and how it is found.
///
/// Paths, titles, labels and details are UTF-8 or bytes of any kind, kept as blobs: SQLite's texts end at a NUL.
enum CatalogueSchema {
    /// Brings an empty database to this schema; later ones will be migrations after it.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("catalogue of format 1") { db in
            for table in [segments, snapshots, gaps, states, operations] { try db.execute(sql: table) }
        }
        return migrator
    }

    private static let segments = """
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
        """

    /// In the order of time, as lists go through rows that lie side by side; what nothing is found by is in one column
    /// (`SnapshotFacts`), as each costs a list of many.
    private static let snapshots = """
        CREATE TABLE snapshot (
            root INTEGER NOT NULL REFERENCES root,
            seconds INTEGER NOT NULL,
            nanoseconds INTEGER NOT NULL,
            id BLOB NOT NULL,
            storedBytes INTEGER NOT NULL,
            facts BLOB NOT NULL,
            label BLOB,
            PRIMARY KEY (root, seconds, nanoseconds, id)
        ) WITHOUT ROWID;
        CREATE UNIQUE INDEX snapshotByID ON snapshot (id);
        CREATE INDEX snapshotOfAnyRootByTime ON snapshot (seconds, nanoseconds, id);
        CREATE INDEX snapshotByLabel ON snapshot (label, seconds, nanoseconds, id) WHERE label IS NOT NULL;
        CREATE TABLE forgotten (id BLOB PRIMARY KEY NOT NULL) WITHOUT ROWID;
        """

    private static let gaps = """
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
        """

    private static let states = """
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
        """

    private static let operations = """
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
        """
}
