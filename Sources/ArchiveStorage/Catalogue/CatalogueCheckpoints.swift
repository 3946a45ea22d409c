// Keeps the catalogue's log short without making any caller wait.

internal import Dispatch
internal import GRDB
internal import Glibc
internal import SystemPackage
internal import Threading

/// Checkpoints SQLite's write-ahead log into the database, over its own connection.
///
/// SQLite would do that in the transaction that makes the log too long: one save in 75 took three times as long. A
/// passive checkpoint blocks neither readers nor writers (<https://www.sqlite.org/wal.html>).
final class CatalogueCheckpoints: Sendable {
    private let path: FilePath
    private let dueChanges = Locked(0)
    private let thread = DispatchQueue(label: "archiver.checkpoint", qos: .utility)
    private let connection = Locked<DatabaseQueue?>(nil)

    /// Changed rows between two checkpoints; in the worst case each is in its own page, and the log then has a
    /// thousand pages.
    private static let changesBetween = 512

    init(_ path: FilePath) {
        self.path = path
    }

    /// Records changed rows, and starts a checkpoint if one is due.
    func record(changes: Int) {
        let isDue = dueChanges.withLock { due in
            due += changes
            guard due >= CatalogueCheckpoints.changesBetween else { return false }
            due = 0
            return true
        }
        guard isDue else { return }
        thread.async { [self] in checkpoint() }
    }

    /// Waits for running checkpoints, and closes the connection.
    ///
    /// If many processes change little each, none reaches a checkpoint, so each checks the log's length at its end.
    func end() {
        thread.sync {
            if dueChanges.withLock({ $0 > 0 }), logBytes > CatalogueCheckpoints.leftBytes { checkpoint() }
            connection.withLock { $0 = nil }
        }
    }

    /// A log up to this length is left to other processes.
    private static let leftBytes = 1 << 20

    private var logBytes: Int {
        var status = stat()
        return (path.string + "-wal").withCString { stat($0, &status) } == 0 ? Int(status.st_size) : 0
    }

    private func checkpoint() {
        // A failure only leaves the log longer until the next checkpoint.
        guard let connection = try? opened() else { return }
        _ = try? connection.writeWithoutTransaction { try $0.checkpoint(.passive) }
    }

    private func opened() throws -> DatabaseQueue {
        try connection.withLock { connection in
            if let connection { return connection }
            let opened = try DatabaseQueue(path: path.string)
            connection = opened
            return opened
        }
    }
}
