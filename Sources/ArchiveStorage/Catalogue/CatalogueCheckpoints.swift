// Keeps the catalogue's log short without anybody having to wait for it.

internal import Dispatch
internal import GRDB
internal import Glibc
internal import SystemPackage
internal import Threading

/// Moves what SQLite's write-ahead log holds into the database, over a connection of its own.
///
/// SQLite would do it within the transaction that makes the log too long: one save in 75 took three times as long. A passive
/// checkpoint holds up neither readers nor writers (<https://www.sqlite.org/wal.html>).
final class CatalogueCheckpoints: Sendable {
    private let path: FilePath
    private let dueChanges = Locked(0)
    private let thread = DispatchQueue(label: "archiver.checkpoint", qos: .utility)
    private let connection = Locked<DatabaseQueue?>(nil)

    /// Rows changed between two checkpoints; each is in a page of its own at worst, and the log has a thousand then.
    private static let changesBetween = 512

    init(_ path: FilePath) {
        self.path = path
    }

    /// Records that rows were changed, and begins a checkpoint where one is due.
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

    /// Waits for what has begun, and gives up the connection.
    ///
    /// Where many processes change little each, none has enough for a checkpoint: the one that ends makes it.
    func end() {
        thread.sync {
            if dueChanges.withLock({ $0 > 0 }), logBytes > CatalogueCheckpoints.leftBytes { checkpoint() }
            connection.withLock { $0 = nil }
        }
    }

    /// A log of this length is left to others.
    private static let leftBytes = 1 << 20

    private var logBytes: Int {
        var status = stat()
        return (path.string + "-wal").withCString { stat($0, &status) } == 0 ? Int(status.st_size) : 0
    }

    private func checkpoint() {
        // One that fails costs nothing but a longer log: the next has it to do.
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
