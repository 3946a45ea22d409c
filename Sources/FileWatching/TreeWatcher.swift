// The face of the module: watch roots, take batches.

package import FileIO
internal import Glibc
internal import Mementos
internal import Synchronization
package import SystemPackage

/// Watches any number of roots with one inotify instance and one thread.
package final class TreeWatcher: Sendable {
    private let mailbox: Mailbox
    private let lastID = Atomic(0)

    /// Opens the inotify instance and starts the thread.
    ///
    /// - Throws: `FileError`: EMFILE where the user's instances are used up (`fs.inotify.max_user_instances`).
    package init(hooks: WatcherHooks = WatcherHooks()) throws(FileError) {
        let mailbox = try Mailbox()
        let inotify = try Inotify()
        hooks.opened(inotify.number)
        self.mailbox = mailbox
        try LoopStart(inotify: inotify, mailbox: mailbox, hooks: hooks).launch()
    }

    deinit {
        mailbox.post(.stop(nil))
    }

    /// A root to be watched; nothing happens before `RootWatch.arm`.
    ///
    /// - Parameters:
    ///   - path: the directory; links on the way to it are followed.
    ///   - excluding: directories below the root that are neither watched nor reported, wherever they are moved.
    package func watch(
        _ path: FilePath, excluding: Set<FileIdentity> = [], timing: WatchTiming = WatchTiming()
    ) -> RootWatch {
        let settings = RootSettings(path: path, excluded: excluding, timing: timing, events: Subject())
        let id = lastID.add(1, ordering: .relaxed).newValue
        return RootWatch(id: id, settings: settings, watcher: self, mailbox: mailbox)
    }

    /// Ends the thread; whoever waits for a batch of any root gets nil.
    package func stop() async {
        await withCheckedContinuation { mailbox.post(.stop($0)) }
    }
}

/// What the new thread takes over: its creator lets go of the inotify instance, so that only one thread has it.
private final class LoopStart {
    private let inotify: Inotify
    private let mailbox: Mailbox
    private let hooks: WatcherHooks

    init(inotify: Inotify, mailbox: Mailbox, hooks: WatcherHooks) {
        self.inotify = inotify
        self.mailbox = mailbox
        self.hooks = hooks
    }

    func launch() throws(FileError) {
        var thread = pthread_t()
        let box = Unmanaged.passRetained(self)
        let result = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let start = Unmanaged<LoopStart>.fromOpaque(context).takeRetainedValue()
                WatchLoop(start.inotify, start.mailbox, start.hooks).run()
                return nil
            }, box.toOpaque())
        if result != 0 {
            box.release()
            throw FileError("watch", FilePath("thread"), Errno(rawValue: result))
        }
        pthread_detach(thread)
    }
}
