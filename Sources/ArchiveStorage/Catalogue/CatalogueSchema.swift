// The tables of the catalogue.

internal import GRDB

/// The tables of the catalogue and their indexes.
///
/// Paths, titles, labels and details are UTF-8 or arbitrary bytes. They are stored as blobs, as SQLite's texts end at a
/// NUL.
enum CatalogueSchema {
    /// Creates the tables in an empty database; any other database must have exactly these tables.
    ///
    /// A database that came with the archive may hold anything under these names, such as a view that never ends or a
    /// trigger. SQLite stores the statements verbatim (sqlite.org/schematab.html), so they are compared character by
    /// character.
    static func prepare(_ db: Database) throws {
        let found = try String.fetchAll(db, sql: "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
        if found.isEmpty {
            try db.inTransaction(.immediate) {
                for statement in statements { try db.execute(sql: statement) }
                return .commit
            }
        } else if Set(found) != Set(statements + [numbers]) || found.count != statements.count + 1 {
            throw DatabaseError(
                resultCode: .SQLITE_CORRUPT, message: "its tables do not match this version of archiver")
        }
    }

    /// The statements that create the tables and indexes, one by one.
    ///
    /// Split as bytes: every command does this at its start, and as characters it takes 20 times as long.
    private static let statements = ([segments, history] + RecordKind.all.map(\.schema)).flatMap { text in
        text.utf8.split(separator: UInt8(ascii: ";")).compactMap { statement -> String? in
            guard let first = statement.firstIndex(where: { $0 > UInt8(ascii: " ") }),
                let last = statement.lastIndex(where: { $0 > UInt8(ascii: " ") })
            else { return nil }
            return String(Substring(statement[first...last]))
        }
    }

    /// The table that SQLite creates for AUTOINCREMENT (sqlite.org/autoinc.html).
    private static let numbers = "CREATE TABLE sqlite_sequence(name,seq)"

    /// Segments, blocks, chunks and roots.
    ///
    /// A chunk has a row for each copy; `loss` names chunks without a readable copy. `segmentCopy` has the files that
    /// are not read because another file has the same segment id. `namedSegment` has the segments that must be there:
    /// other segments name them; if one is lost that was listed, what it held is known. `segment.state` is a `SegmentState`. A segment's
    /// number is never reused: a process may remember locations in it. `reference` has what unknown records and fields
    /// refer to. `usage` has what trees need, in parts that `UsageIndex` writes; their numbers are never reused.
    private static let segments = """
        CREATE TABLE segment (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            path TEXT NOT NULL UNIQUE,
            name BLOB,
            indexedLength INTEGER NOT NULL,
            state INTEGER NOT NULL
        );
        CREATE INDEX segmentCondemned ON segment (state) WHERE state = 2;
        CREATE TABLE segmentCopy (
            path TEXT PRIMARY KEY NOT NULL,
            name BLOB NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE namedSegment (
            name BLOB PRIMARY KEY NOT NULL,
            path TEXT,
            isLost INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE block (
            location INTEGER PRIMARY KEY,
            length INTEGER NOT NULL,
            depth INTEGER NOT NULL,
            bases BLOB NOT NULL,
            isLasting INTEGER NOT NULL
        );
        CREATE TABLE chunk (
            id BLOB NOT NULL,
            location INTEGER NOT NULL,
            PRIMARY KEY (id, location DESC)
        ) WITHOUT ROWID;
        CREATE TABLE loss (id BLOB PRIMARY KEY NOT NULL) WITHOUT ROWID;
        CREATE TABLE reference (
            record BLOB NOT NULL,
            id BLOB NOT NULL,
            PRIMARY KEY (record, id)
        ) WITHOUT ROWID;
        CREATE TABLE usage (
            number INTEGER PRIMARY KEY,
            part BLOB NOT NULL
        );
        CREATE TABLE healing (
            root INTEGER PRIMARY KEY,
            number INTEGER NOT NULL
        );
        CREATE TABLE damage (
            segment TEXT PRIMARY KEY NOT NULL,
            message TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE root (
            id INTEGER PRIMARY KEY,
            path BLOB NOT NULL,
            machine BLOB NOT NULL,
            host TEXT NOT NULL,
            UNIQUE (path, machine)
        );
        """

    /// The changes of each snapshot, by path and by snapshot; `snapshot.history` is a `HistoryState`.
    ///
    /// A path is gone if its latest change removed it; `versions` counts its changes. `change.other` is the other name of a
    /// rename, and `isEdited` whether the content changed with it. A run sums up neighbouring
    /// snapshots without a pause between them, from the one in the key to the last; not every snapshot is in a run.
    private static let history = """
        CREATE TABLE path (
            id INTEGER PRIMARY KEY,
            root INTEGER NOT NULL REFERENCES root,
            path BLOB NOT NULL,
            isGone INTEGER NOT NULL,
            versions INTEGER NOT NULL,
            UNIQUE (root, path)
        );
        CREATE INDEX pathGone ON path (root, path) WHERE isGone;
        CREATE TABLE change (
            path INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            seconds INTEGER NOT NULL,
            root INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            object INTEGER NOT NULL,
            size INTEGER NOT NULL,
            other INTEGER,
            isEdited INTEGER NOT NULL,
            PRIMARY KEY (path, sequence, seconds)
        ) WITHOUT ROWID;
        CREATE INDEX changeBySnapshot ON change (root, sequence, seconds);
        CREATE INDEX changeOfName ON change (path, sequence, seconds) WHERE other IS NOT NULL;
        CREATE TABLE run (
            root INTEGER NOT NULL REFERENCES root,
            sequence INTEGER NOT NULL,
            seconds INTEGER NOT NULL,
            nanoseconds INTEGER NOT NULL,
            id BLOB NOT NULL,
            lastSequence INTEGER NOT NULL,
            lastSeconds INTEGER NOT NULL,
            lastNanoseconds INTEGER NOT NULL,
            lastID BLOB NOT NULL,
            snapshots INTEGER NOT NULL,
            added INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            removed INTEGER NOT NULL,
            storedBytes INTEGER NOT NULL,
            PRIMARY KEY (root, sequence, seconds, nanoseconds, id)
        ) WITHOUT ROWID;
        """
}
