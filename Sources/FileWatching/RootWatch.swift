// One watched root as its user sees it.

package import FileIO
package import Mementos
package import SystemPackage

/// The watching of one root.
package final class RootWatch: Sendable {
    /// The watched directory.
    package let path: FilePath
    /// Tells about the watching itself, on the watcher's thread: observers must return quickly.
    package let events: Subject<WatchEvent>

    private let id: RootID
    private let settings: RootSettings
    /// Kept so that the thread lives as long as its roots.
    private let watcher: TreeWatcher
    private let mailbox: Mailbox

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

    /// Watches every directory of the root; when it returns, every change from now on is going to be reported.
    ///
    /// - Throws: `FileError` where the root is not a readable directory or not one of files (`/proc`, `/sys`).
    package func arm() async throws(FileError) -> WatchStats {
        try await withCheckedContinuation { mailbox.post(.arm(id, settings, $0)) }.get()
    }

    /// Waits until a batch is due and takes it.
    ///
    /// - Returns: nil when the watch was stopped or the task cancelled.
    package func nextBatch() async -> ChangeBatch? {
        let cancellation = BatchTicket.Cancellation()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { mailbox.post(.nextBatch(id, BatchTicket($0, cancellation))) }
        } onCancel: {
            cancellation.set()
            mailbox.wake()
        }
    }

    /// Puts ranges back that could not be looked at to the end: files that kept changing, say.
    package func markDirty(_ ranges: [PathRange]) {
        mailbox.post(.markDirty(id, ranges))
    }

    /// Returns once everything that changed before the call is in the batch that `nextBatch` then gives at once.
    ///
    /// That batch is empty where nothing changed. What is polled is part of it.
    ///
    /// - Returns: the number of this flush, counted from 1; nil where the watch was stopped.
    @discardableResult
    package func flush() async -> Int? {
        await withCheckedContinuation { mailbox.post(.flush(id, $0)) }
    }

    /// Ends the watching of this root; whoever waits for its batch gets nil.
    package func stop() {
        mailbox.post(.forget(id))
    }
}
