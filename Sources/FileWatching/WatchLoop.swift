// The watcher's thread: waits for the kernel and for requests, and does everything else in between.

internal import FileIO
internal import Glibc

/// Owns the inotify instance and all roots; runs on one thread and sleeps while nothing happens.
final class WatchLoop {
    /// Directories crawled between two looks at the queue.
    private static let crawlSlice = 64
    /// How long to wait after a wake-up so that a burst arrives in one read.
    private static let burstPauseMicroseconds: UInt32 = 1_000

    private let inotify: Inotify
    private let mailbox: Mailbox
    private let hooks: WatcherHooks
    private var roots: [RootID: WatchedRoot] = [:]
    private var lastRead = Timestamp.now

    init(_ inotify: Inotify, _ mailbox: Mailbox, _ hooks: WatcherHooks) {
        self.inotify = inotify
        self.mailbox = mailbox
        self.hooks = hooks
    }

    /// Runs until it is asked to stop.
    func run() {
        while true {
            for request in mailbox.take() {
                if case .stop(let continuation) = request { return stop(continuation) }
                handle(request)
            }
            for root in roots.values {
                root.checkRoot()
                root.pollUnwatched()
                root.crawl(atMost: WatchLoop.crawlSlice)
                root.checkRoot()
                root.finishCrawls()
            }
            removeRetired()
            for root in roots.values { root.serve() }
            if waitForEvents() { readEvents(atLeast: 1) }
        }
    }

    private func handle(_ request: Request) {
        switch request {
        case .arm(let id, let settings, let continuation):
            roots[id]?.stop()
            let root = WatchedRoot(settings, inotify: inotify, hooks: hooks)
            roots[id] = root
            root.arm(continuation)
        case .nextBatch(let id, let ticket):
            if let root = roots[id] { root.enqueue(ticket) } else { request.refuse() }
        case .markDirty(let id, let ranges):
            roots[id]?.putBack(ranges)
        case .flush(let id, let continuation):
            // Events are queued inside the system call that causes them: what is waiting now is all there is so far.
            readEvents(atLeast: inotify.bytesWaiting)
            if let root = roots[id] { root.flush(continuation) } else { request.refuse() }
        case .forget(let id):
            roots.removeValue(forKey: id)?.stop()
        case .stop:
            break
        }
    }

    private func stop(_ continuation: CheckedContinuation<Void, Never>?) {
        for root in roots.values { root.stop() }
        mailbox.close()
        continuation?.resume()
    }

    /// Sleeps until there is something to do.
    ///
    /// - Returns: whether events wait to be read.
    private func waitForEvents() -> Bool {
        let isBusy = roots.values.contains { $0.hasPendingCrawls }
        var timeout: CInt = isBusy ? 0 : -1
        if !isBusy, let deadline = roots.values.compactMap(\.nextDeadline).min() {
            timeout = milliseconds(until: deadline)
        }
        var waits = [
            pollfd(fd: inotify.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: mailbox.wakeNumber, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&waits, nfds_t(waits.count), timeout)
        let hasEvents = waits[0].revents != 0
        if hasEvents && !isBusy && waits[1].revents == 0 { usleep(WatchLoop.burstPauseMicroseconds) }
        return hasEvents
    }

    private func milliseconds(until deadline: ContinuousClock.Instant) -> CInt {
        let (seconds, attoseconds) = hooks.now().duration(to: deadline).components
        if seconds < 0 || attoseconds < 0 { return 0 }
        // Rounded up, so that the deadline has passed when the sleep ends.
        return CInt(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1)
    }

    private func readEvents(atLeast count: Int) {
        hooks.beforeReading()
        var consumed = 0
        while consumed < count {
            let length = inotify.read(dispatch)
            if length == 0 { break }
            consumed += length
        }
        lastRead = .now
    }

    private func dispatch(_ event: InotifyEvent) {
        if event.mask.contains(.overflow) { return rescan() }
        var isKnown = false
        for root in roots.values where root.knows(watch: event.watch) {
            isKnown = true
            root.apply(event)
        }
        if event.mask.contains(.ignored) {
            inotify.forget(event.watch)
        } else if !isKnown && !inotify.isRetired(event.watch) {
            rescan()
        }
    }

    private func rescan() {
        for root in roots.values { root.rescan(missedSince: lastRead) }
    }

    private func removeRetired() {
        for root in roots.values { inotify.retire(root.tracker.takeRetired()) }
        inotify.removeRetired { watch in roots.values.contains { $0.knows(watch: watch) } }
    }
}
