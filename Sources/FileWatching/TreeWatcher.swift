// The module's entry point: watches roots and returns change batches.

package import Exclusions
package import FileIO
internal import Mementos
internal import Synchronization
package import SystemPackage

/// Watches any number of roots with one thread and one event queue per backend.
package final class TreeWatcher: Sendable {
    private let mailbox: Mailbox
    private let lastID = Atomic(0)

    /// Opens the backend and starts the thread.
    ///
    /// - Throws: `FileError` if `backend` is `.inotify` or `.fanotify` and is not available, for example EMFILE if the
    ///   user's limit on instances or groups is reached. `.auto` and `.poll` are always available.
    package init(backend: WatchBackend = .auto, hooks: WatcherHooks = WatcherHooks()) throws(FileError) {
        let mailbox = try Mailbox()
        let sources = try EventSources(backend, hooks: hooks)
        self.mailbox = mailbox
        try DetachedThread.start(for: "watching") { WatchLoop(sources, mailbox, hooks).run() }
    }

    deinit {
        mailbox.post(.stop(nil))
    }

    /// Creates the watch on a root; it starts with `TreeWatch.arm`.
    ///
    /// - Parameters:
    ///   - path: the directory; symbolic links in the path are followed.
    ///   - excluding: directories below the root that are neither watched nor reported, wherever they are moved.
    ///   - rules: further exclusions. An excluded directory is neither watched nor listed, and excluded names are not
    ///     reported. The size limit is not applied: the caller must apply it.
    package func watch(
        _ path: FilePath, excluding: Set<FileIdentity> = [], rules: ExclusionRules = ExclusionRules(),
        timing: WatchTiming = WatchTiming()
    ) -> TreeWatch {
        let settings = RootSettings(
            path: path, excluded: excluding, rules: rules, timing: timing, events: Subject())
        let id = lastID.add(1, ordering: .relaxed).newValue
        return TreeWatch(id: id, settings: settings, watcher: self, mailbox: mailbox)
    }

    /// Returns when the thread has come round to it, which proves that it is not stuck.
    ///
    /// - Returns: false if the thread has ended.
    package func pulse() async -> Bool {
        await withCheckedContinuation { mailbox.post(.pulse($0)) }
    }

    /// Ends the thread; pending calls of `nextBatch` return nil for all roots.
    package func stop() async {
        await withCheckedContinuation { mailbox.post(.stop($0)) }
    }
}
