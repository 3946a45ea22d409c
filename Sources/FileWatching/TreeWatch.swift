// One watched root as its user sees it.

package import Exclusions
package import FileIO
package import Mementos
internal import Synchronization
package import SystemPackage

/// The watching of one root.
package final class TreeWatch: Sendable {
    /// The watched directory.
    package let path: FilePath
    /// Tells about the watching itself, on the watcher's thread: observers must return quickly.
    package let events: Subject<WatchEvent>

    private let id: RootID
    private let settings: RootSettings
    /// Kept so that the thread lives as long as its roots.
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

    /// Watches every directory of the root; when it returns, every change from now on is going to be reported.
    ///
    /// - Parameter waiting: whether to wait for a root that is not there until it appears.
    /// - Throws: `FileError` where the root is not a readable directory or not one of files (`/proc`, `/sys`);
    ///   `.canceled` where the watch was stopped meanwhile.
    package func arm(waiting: Bool = false) async throws(FileError) -> WatchStats {
        try await withCheckedContinuation { continuation in
            mailbox.post(.arm(id, settings, waiting: waiting, continuation))
            // Whoever stopped it before the request was posted stopped nothing.
            if isStopped.load(ordering: .sequentiallyConsistent) { mailbox.post(.forget(id)) }
        }.get()
    }

    /// Gathers changes otherwise from now on.
    package func retime(_ timing: WatchTiming) { mailbox.post(.retime(id, timing)) }

    /// Begins anew with other rules, and waits until every change is going to be reported again.
    ///
    /// Who waits for a batch or a flush gets that of the new beginning, which covers all of the root. A root that is not
    /// there is waited for; what it then holds is to be looked at whole.
    ///
    /// - Throws: as `arm`; then nothing is watched, and it is to be tried again.
    package func begin(
        anew rules: ExclusionRules, timing: WatchTiming
    ) async throws(FileError) -> WatchStats {
        let settings = RootSettings(
            path: settings.path, excluded: settings.excluded, rules: rules, timing: timing, events: settings.events)
        return try await withCheckedContinuation { continuation in
            mailbox.post(.arm(id, settings, waiting: true, continuation))
            if isStopped.load(ordering: .sequentiallyConsistent) { mailbox.post(.forget(id)) }
        }.get()
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
            mailbox.post(.look(id))
        }
    }

    /// Puts ranges back that could not be looked at to the end: files that kept changing, say.
    package func markDirty(_ ranges: [PathRange]) {
        mailbox.post(.markDirty(id, ranges))
    }

    /// Says how the look at a batch with polled ranges went; the time to the next poll depends on it.
    ///
    /// - Parameters:
    ///   - found: whether a polled range held a change.
    ///   - took: how long the look took.
    package func polled(found: Bool, took: Duration) {
        mailbox.post(.polled(id, found: found, took: took))
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

    /// Compares the watching with what is there: every directory is looked at, and has its watch afterwards.
    ///
    /// What was wrong is part of the next batch; what is polled is passed over. Changes go before: the audit runs
    /// while nothing else is to be done.
    ///
    /// - Returns: nil where the root is away or the watch was stopped.
    package func audit() async -> WatchAudit? {
        await withCheckedContinuation { mailbox.post(.audit(id, $0)) }
    }

    /// How the watching stands: the answer of the thread that does it, after it took in all events so far.
    ///
    /// - Returns: nil where the root was never armed or the watch was stopped.
    package func status() async -> TreeWatchStatus? {
        await withCheckedContinuation { mailbox.post(.status(id, $0)) }
    }

    /// Ends the watching of this root; whoever waits for its batch gets nil.
    package func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        mailbox.post(.forget(id))
    }
}
