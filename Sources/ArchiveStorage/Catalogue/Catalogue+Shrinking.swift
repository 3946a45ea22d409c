// Returns free pages of the catalogue to the file system.

internal import GRDB

extension Catalogue {
    /// The pages of the database (<https://www.sqlite.org/pragma.html#pragma_freelist_count>).
    package struct Pages: Sendable {
        /// Bytes of each page.
        package let size: Int
        package let count: Int
        /// Pages without content.
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

    /// Shortens the database by moving pages from its end into free pages.
    ///
    /// It uses incremental vacuuming (<https://www.sqlite.org/pragma.html#pragma_incremental_vacuum>).
    ///
    /// - Parameter pages: the most pages in one transaction.
    package func shrink(by pages: Int) throws(StorageError) {
        try write(rows: pages) { db in
            // Each row stands for one moved page.
            let rows = try Row.fetchCursor(db, sql: "PRAGMA incremental_vacuum(\(pages))")
            while try rows.next() != nil {}
        }
        checkpoints?.record(changes: pages)
    }
}
