// The face of the module: watch roots, take batches.

package import Exclusions
package import FileIO
internal import Mementos
internal import Synchronization
package import SystemPackage

/// Watches any number of roots with one queue of events a backend and one thread.
package final class TreeWatcher: Sendable {
    private let mailbox: Mailbox
    private let lastID = Atomic(0)

    /// Opens the backend and starts the thread.
    ///
    /// - Throws: `FileError` where `backend` is `.inotify` or `.fanotify` and that one is not available: EMFILE where the
    ///   user's instances or groups are used up. `.auto` and `.poll` always find a way.
    package init(backend: WatchBackend = .auto, hooks: WatcherHooks = WatcherHooks()) throws(FileError) {
        let mailbox = try Mailbox()
        let sources = try EventSources(backend, hooks: hooks)
        self.mailbox = mailbox
        try DetachedThread.start(for: "watching") { WatchLoop(sources, mailbox, hooks).run() }
    }

    deinit {
        mailbox.post(.stop(nil))
    }

    /// A root to be watched; nothing happens before `TreeWatch.arm`.
    ///
    /// - Parameters:
    ///   - path: the directory; links on the way to it are followed.
    ///   - excluding: directories below the root that are neither watched nor reported, wherever they are moved.
    ///   - rules: what else is left out; a directory that is gets no watch and is not listed, and of names that are
    ///     nothing is reported. Files are not left out because of their size: that is for those who look at them.
    package func watch(
        _ path: FilePath, excluding: Set<FileIdentity> = [], rules: ExclusionRules = ExclusionRules(),
        timing: WatchTiming = WatchTiming()
    ) -> TreeWatch {
        let settings = RootSettings(
            path: path, excluded: excluding, rules: rules, timing: timing, events: Subject())
        let id = lastID.add(1, ordering: .relaxed).newValue
        return TreeWatch(id: id, settings: settings, watcher: self, mailbox: mailbox)
    }

    /// Ends the thread; whoever waits for a batch of any root gets nil.
    package func stop() async {
        await withCheckedContinuation { mailbox.post(.stop($0)) }
    }
}
