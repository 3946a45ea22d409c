// Pages of the catalogue that hold nothing any more go back to the file system.

internal import GRDB

extension Catalogue {
    /// The pages of the database (<https://www.sqlite.org/pragma.html#pragma_freelist_count>).
    package struct Pages: Sendable {
        /// Bytes of each.
        package let size: Int
        package let count: Int
        /// Those that hold nothing.
        package let free: Int

        package var usedBytes: Int { (count - free) * size }
        package var freeBytes: Int { free * size }
    }

    package func pages() throws(StorageError) -> Pages {
        try readTogether { db in
            func number(_ pragma: String) throws -> Int { try Int.fetchOne(db, sql: "PRAGMA \(pragma)") ?? 0 }
            return Pages(
                size: try number("page_size"), count: try number("page_count"), free: try number("freelist_count"))
        }
    }

    /// Makes the database shorter by moving pages from its end to where others hold nothing
    /// (<https://www.sqlite.org/pragma.html#pragma_incremental_vacuum>).
    ///
    /// - Parameter pages: the most in one transaction.
    package func shrink(by pages: Int) throws(StorageError) {
        try write { db in
            // Each row is one page that was moved.
            let rows = try Row.fetchCursor(db, sql: "PRAGMA incremental_vacuum(\(pages))")
            while try rows.next() != nil {}
        }
        checkpoints?.record(changes: pages)
    }
}
