// One watched root, as callers use it.

package import Exclusions
package import FileIO
package import Mementos
internal import Synchronization
package import SystemPackage

/// The watch on one root.
package final class TreeWatch: Sendable {
    /// The watched directory.
    package let path: FilePath
    /// Events of the watch itself, sent on the watcher's thread; observers must return quickly.
    package let events: Subject<WatchEvent>

    private let id: RootID
    private let settings: RootSettings
    /// Held so that the thread lives as long as its roots.
    private let watcher: TreeWatcher
    private let mailbox: Mailbox
    private let isStopped = Atomic(false)

    init(id: RootID, settings: RootSettings, watcher: TreeWatcher, mailbox: Mailbox) {
        path = settings.path
        events = settings.events
        self.id = id
        self.settings = settings
        self.watcher = watcher
        self.mailbox = mailbox
    }

    deinit {
        mailbox.post(.forget(id))
    }

    /// Watches every directory of the root; once it returns, every later change will be reported.
    ///
    /// - Parameter waiting: whether to wait for a missing root until it appears.
    /// - Throws: `FileError` if the root is not a readable directory or is on a pseudo file system (`/proc`, `/sys`);
    ///   with the code `.canceled` if the watch was stopped in the meantime.
    package func arm(waiting: Bool = false) async throws(FileError) -> WatchStats {
        try await withCheckedContinuation { continuation in
            mailbox.post(.arm(id, settings, waiting: waiting, continuation))
            // A stop before the request was posted had no effect, so stop again.
            if isStopped.load(ordering: .sequentiallyConsistent) { mailbox.post(.forget(id)) }
        }.get()
    }

    /// Changes how long changes are collected for a batch, from now on.
    package func retime(_ timing: WatchTiming) { mailbox.post(.retime(id, timing)) }

    /// Restarts the watch with other rules, and waits until every change will be reported again.
    ///
    /// Pending waits for a batch or a flush continue with the new watch, whose first batch covers the entire root. If
    /// the root is missing, this waits for it; the root must then be scanned completely.
    ///
    /// - Throws: as `arm`; after an error nothing is watched and the caller must retry.
    package func restart(rules: ExclusionRules, timing: WatchTiming) async throws(FileError) -> WatchStats {
        let settings = RootSettings(
            path: settings.path, excluded: settings.excluded, rules: rules, timing: timing, events: settings.events)
        return try await withCheckedContinuation { continuation in
            mailbox.post(.arm(id, settings, waiting: true, continuation))
            if isStopped.load(ordering: .sequentiallyConsistent) { mailbox.post(.forget(id)) }
        }.get()
    }

    /// Waits until a batch is due and returns it.
    ///
    /// - Returns: nil if the watch was stopped or the task cancelled.
    package func nextBatch() async -> ChangeBatch? {
        let cancellation = BatchTicket.Cancellation()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { mailbox.post(.nextBatch(id, BatchTicket($0, cancellation))) }
        } onCancel: {
            cancellation.set()
            mailbox.post(.look(id))
        }
    }

    /// Puts ranges back that could not be scanned completely, for example because a file kept changing.
    package func markDirty(_ ranges: [PathRange]) {
        mailbox.post(.markDirty(id, ranges))
    }

    /// Reports the result of scanning a batch with polled ranges, which determines the time to the next poll.
    ///
    /// - Parameters:
    ///   - found: whether a polled range contained a change.
    ///   - took: how long the scan took.
    package func polled(found: Bool, took: Duration) {
        mailbox.post(.polled(id, found: found, took: took))
    }

    /// Waits until every change made before the call is in the next batch, which `nextBatch` then returns immediately.
    ///
    /// That batch includes all polled directories, and is empty if nothing changed.
    ///
    /// - Returns: the number of this flush, counted from 1; nil if the watch was stopped.
    @discardableResult
    package func flush() async -> Int? {
        await withCheckedContinuation { mailbox.post(.flush(id, $0)) }
    }

    /// Compares the watches with the file system; afterwards every directory has its watch.
    ///
    /// Repaired directories are part of the next batch; polled ones are skipped. Changes have priority: the audit runs
    /// while there is nothing else to do.
    ///
    /// - Returns: nil if the root is away or the watch was stopped.
    package func audit() async -> WatchAudit? {
        await withCheckedContinuation { mailbox.post(.audit(id, $0)) }
    }

    /// The status of the watch, from the watcher's thread after it has processed all events so far.
    ///
    /// - Returns: nil if the root was never armed or the watch was stopped.
    package func status() async -> TreeWatchStatus? {
        await withCheckedContinuation { mailbox.post(.status(id, $0)) }
    }

    /// Ends the watch on this root; pending calls of `nextBatch` return nil.
    package func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        mailbox.post(.forget(id))
    }
}
